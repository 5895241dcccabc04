//! What became of NodeOverlays: each says whether it is in effect. That they are is the catalogue's doing
//! ([`crate::cloud::Cloud::catalogue`]).

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use joiner_core::overlays::{Refused, conditions};
use joiner_core::text::Text;
use tracing::{debug, error};

use crate::act::{Act, Failed};
use crate::observe::{OverlayEntry, map};

/// Changes come in swarms.
const PAUSE: Duration = Duration::from_millis(200);
/// How soon it is tried again when a status was not written.
const AGAIN: Duration = Duration::from_secs(5);

/// Runs for ever.
pub(super) async fn run(act: Act) {
    let bell = &act.index.changes.overlays;
    loop {
        bell.heard().await;
        tokio::time::sleep(PAUSE).await;
        while !round(&act).await {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// False where something has to be tried again.
async fn round(act: &Act) -> bool {
    // Observe.
    let now = Timestamp::now();
    let entries = act.index.overlay_entries();
    if entries.is_empty() || !act.cloud.knows_types() {
        return true;
    }
    let (_, left_out) = act.cloud.overlaid(&act.index, now);
    let left_out: BTreeMap<Text, Text> = left_out.into_iter().collect();
    let mut done = true;
    for entry in entries {
        // Decide.
        let refused = refused(&entry, &left_out);
        let wanted = conditions(&map::overlay_conditions(&entry.object), refused.as_ref(), now);
        // Act.
        if wanted.is_empty() {
            continue;
        }
        let name = entry.object.metadata.name.as_deref().unwrap_or_default();
        match act.set_overlay_conditions(&entry, &wanted, now).await {
            Ok(()) => {}
            Err(Failed::Conflict { .. } | Failed::NotFound { .. }) => {
                debug!(NodeOverlay = name, "overlay has changed, deciding again");
                done = false;
            }
            Err(failed) => {
                error!(NodeOverlay = name, error = %failed.chain(), "conditions of overlay were not written");
                done = false;
            }
        }
    }
    done
}

fn refused(entry: &OverlayEntry, left_out: &BTreeMap<Text, Text>) -> Option<Refused> {
    match &entry.overlay {
        Err(why) => Some(Refused::Invalid(why.clone())),
        Ok(overlay) => left_out.get(&overlay.name).cloned().map(Refused::Conflict),
    }
}
