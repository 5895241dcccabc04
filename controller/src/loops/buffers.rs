//! What became of CapacityBuffers: each says how many units it comes to, and whether there is room for them. That there is, is the
//! provisioner's doing, for which they are pods like others.

use std::time::Duration;

use jiff::Timestamp;
use joiner_core::buffers::{Asked, conditions};
use tracing::{debug, error};

use crate::act::{Act, Failed};

/// Changes come in swarms.
const PAUSE: Duration = Duration::from_millis(500);
/// How often it is looked where units are, which changes with every pod.
const AGAIN: Duration = Duration::from_secs(5);

/// Runs for ever.
pub(super) async fn run(act: Act) {
    loop {
        tokio::select! {
            _ = act.index.changes.buffers.heard() => tokio::time::sleep(PAUSE).await,
            () = tokio::time::sleep(AGAIN) => {}
        }
        round(&act).await;
    }
}

async fn round(act: &Act) {
    // Observe.
    let now = Timestamp::now();
    let Some((resource, states)) = act.index.buffer_states() else {
        return;
    };
    for state in states {
        // Decide.
        let entry = &state.entry;
        let wanted = conditions(&entry.conditions, &state.asked, state.placed);
        let counted = match state.asked {
            Asked::Units(units) => entry.replicas() == Some(u64::from(units)),
            Asked::NotFound { .. } | Asked::Invalid(_) => true,
        };
        if wanted.is_empty() && counted {
            continue;
        }
        // Act.
        let name = entry.object.metadata.name.as_deref().unwrap_or_default();
        match act
            .set_buffer_status(&resource, entry, &state.asked, &wanted, now)
            .await
        {
            Ok(()) => {}
            Err(Failed::Conflict { .. } | Failed::NotFound { .. }) => {
                debug!(CapacityBuffer = name, "buffer has changed, deciding again");
            }
            Err(failed) => {
                error!(CapacityBuffer = name, error = %failed.chain(), "status of buffer was not written")
            }
        }
    }
}
