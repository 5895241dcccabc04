//! How fast nodes are replaced: what the cluster's own nodes took so far, and what their pods ask for.

use jiff::SignedDuration;

use crate::conditions::{DRIFTED, INITIALIZED};
use crate::disrupt::drift::Pace;
use crate::eviction::needs_another_node;
use crate::snapshot::{Claim, Snapshot};

/// How long a node takes where none is there to tell.
const BOOT: SignedDuration = SignedDuration::from_secs(60);

/// From launch to a complete node: the median of the nodes that are there. From eviction to the end: the longest grace that a pod of a
/// drifted node has, as far as its node's own grace lets it have it.
pub(super) fn pace(snapshot: &Snapshot, most: usize) -> Pace {
    let claims = || snapshot.nodes.iter().filter_map(|node| node.claim.as_deref());
    let mut boots: Vec<SignedDuration> = claims().filter_map(boot).collect();
    boots.sort_unstable();
    let drifted = snapshot.nodes.iter().filter_map(|node| {
        let claim = node.claim.as_deref()?;
        claim.conditions.is_true(DRIFTED).then_some((node, claim))
    });
    let drain = drifted
        .filter_map(|(node, claim)| {
            let pods = node.pods.iter().filter(|pod| needs_another_node(pod));
            let longest = pods.map(|pod| pod.grace_period).max()?;
            Some(
                claim
                    .termination_grace_period
                    .map_or(longest, |most| longest.min(most)),
            )
        })
        .max();
    Pace {
        boot: boots.get(boots.len() / 2).copied().unwrap_or(BOOT),
        drain: drain.unwrap_or(SignedDuration::ZERO),
        most,
    }
}

fn boot(claim: &Claim) -> Option<SignedDuration> {
    let complete = claim.conditions.get(INITIALIZED)?;
    let took = complete.since.duration_since(claim.created);
    (claim.conditions.is_true(INITIALIZED) && took.is_positive()).then_some(took)
}
