//! What a node and its claim carry while they are being replaced: the taint, the mark in the index, the condition DisruptionReason.

use std::time::Duration;

use jiff::Timestamp;
use joiner_core::conditions::{DISRUPTION_REASON, Status, Wanted};
use joiner_core::disrupt::Doomed;
use joiner_core::eviction::disrupted_taint;
use joiner_core::snapshot::DisruptionReason;
use joiner_core::text::Text;
use tracing::warn;

use super::super::{taint, undo};
use crate::act::{Act, ClaimStatus, Failed};

/// How often a write is tried that somebody else's got ahead of, and the pause before.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// The kubelet writes to its node, too; whoever is overtaken tries again.
pub(super) async fn taint_surely(act: &Act, node: &Text) -> Result<(), Failed> {
    for _ in 1..TRIES {
        match taint(act, node, Some(disrupted_taint())).await {
            Err(Failed::Conflict { .. }) => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
    taint(act, node, Some(disrupted_taint())).await
}

/// The claim says why its node goes.
pub(super) async fn say_reason(act: &Act, doomed: &Doomed) {
    let reason = DisruptionReason::Drifted.as_str();
    let wanted = Wanted {
        kind: DISRUPTION_REASON,
        status: Status::True,
        reason: reason.into(),
        message: reason.into(),
    };
    let status = ClaimStatus {
        conditions: vec![wanted],
        ..ClaimStatus::default()
    };
    set_status(act, doomed, &status).await;
}

async fn set_status(act: &Act, doomed: &Doomed, status: &ClaimStatus) {
    for _ in 0..TRIES {
        let Some(entry) = act.index.claim_entry(&doomed.claim) else {
            return;
        };
        match act.set_claim_status(&entry, status, Timestamp::now()).await {
            Err(Failed::Conflict { .. }) => tokio::time::sleep(PAUSE).await,
            Err(Failed::NotFound { .. }) | Ok(_) => return,
            Err(failed) => {
                warn!(NodeClaim = %doomed.claim, error = %failed.chain(), "the reason of the disruption was not noted");
                return;
            }
        }
    }
}

/// Takes mark, taint and reason away; what cannot be taken away now is an orphan in the next round.
pub(super) async fn release(act: &Act, doomed: &Doomed) {
    undo(act, &doomed.claim, &doomed.node).await;
    let there = act
        .index
        .claim_entry(&doomed.claim)
        .is_some_and(|entry| entry.claim.conditions.get(DISRUPTION_REASON).is_some());
    if there {
        let status = ClaimStatus {
            drop_conditions: vec![DISRUPTION_REASON],
            ..ClaimStatus::default()
        };
        set_status(act, doomed, &status).await;
    }
}
