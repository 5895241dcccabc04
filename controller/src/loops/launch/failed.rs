//! Claims that get no instance: marks of what is short, words on the claim, and its end.

use jiff::Timestamp;
use joiner_aws::launch::LaunchError;
use joiner_aws::unavailable::Shortage;
use joiner_core::conditions::{LAUNCHED, Wanted};
use joiner_core::well_known;
use tracing::{debug, error, warn};

use crate::act::{Act, ClaimStatus, Event, Object, chain};
use crate::observe::ClaimEntry;

/// Karpenter's limit for a condition's message.
const LIMIT: usize = 300;

/// Why claims cannot have instances.
pub(super) enum Why {
    InsufficientCapacity(String),
    NodeClassNotReady(String),
}

/// Deletes the claims, with an event that says why.
pub(super) async fn give_up(act: &Act, entries: &[ClaimEntry], why: &Why) {
    let (reason, metric, detail) = match why {
        Why::InsufficientCapacity(detail) => ("InsufficientCapacityError", "insufficient_capacity", detail),
        Why::NodeClassNotReady(detail) => ("NodeClassNotReady", "nodeclass_not_ready", detail),
    };
    for entry in entries {
        let claim = &entry.claim;
        warn!(NodeClaim = %claim.name, reason = reason, detail = %detail, "failed launching nodeclaim");
        let message = format!("NodeClaim {} event: {}", claim.name, shorten(detail));
        act.events
            .publish(Event::warning(Object::claim(claim), reason, message));
        if let Err(failed) = act.delete_claim(claim).await {
            error!(NodeClaim = %claim.name, error = %failed.chain(), "nodeclaim was not deleted");
            continue;
        }
        let label = |key: &str| claim.labels.get(key).map_or("", |value| value);
        act.metrics.nodeclaim_disrupted(
            label(well_known::NODE_POOL),
            metric,
            label(well_known::CAPACITY_TYPE),
        );
        act.stages.forget(&claim.name);
    }
}

/// Says on the claims why they have no instance yet.
pub(super) async fn not_yet(act: &Act, entries: &[ClaimEntry], cause: &LaunchError, now: Timestamp) {
    let wanted = Wanted::unknown(LAUNCHED, cause.reason(), shorten(&chain(cause)));
    for entry in entries
        .iter()
        .filter(|entry| entry.claim.conditions.differs(&wanted))
    {
        let status = ClaimStatus {
            conditions: vec![wanted.clone()],
            ..ClaimStatus::default()
        };
        if let Err(failed) = act.set_claim_status(entry, &status, now).await {
            debug!(NodeClaim = %entry.claim.name, error = %failed.chain(), "condition was not written");
        }
    }
}

/// Remembers what EC2 has run out of.
pub(super) fn mark(act: &Act, shortages: &[(Shortage, String)], now: Timestamp) {
    for (shortage, reason) in shortages {
        if let Shortage::Offering {
            capacity_type, zone, ..
        } = shortage
        {
            act.metrics.launch_failure(zone, "", capacity_type, reason);
        }
        act.cloud.mark(shortage.clone(), reason, now);
    }
}

fn shorten(message: &str) -> String {
    let mut cut: String = message.chars().take(LIMIT).collect();
    if cut.len() < message.len() {
        cut.push_str("...");
    }
    cut
}
