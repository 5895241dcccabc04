//! Which pods are to be decided on, and which only count.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::eviction::{guards, needs_another_node};
use crate::snapshot::{Pod, PodKey, Snapshot};

/// The pods to decide on: pending ones that no earlier decision has sent somewhere, and the movable ones of nodes that
/// go.
pub(super) fn to_decide(snapshot: &Snapshot, now: Timestamp) -> Vec<&Pod> {
    let nominated: BTreeSet<&PodKey> = snapshot
        .nodes
        .iter()
        .filter(|node| !node.is_going())
        .flat_map(|node| &node.nominated)
        .collect();
    let pending = snapshot
        .pending
        .iter()
        .map(|pod| &**pod)
        .filter(|pod| pod.is_provisionable());
    let moving = snapshot
        .nodes
        .iter()
        .filter(|node| node.is_going())
        .flat_map(|node| &node.pods)
        .map(|pod| &**pod)
        .filter(|pod| moves(pod, snapshot, now));
    let mut all: Vec<&Pod> = pending.chain(moving).collect();
    if !nominated.is_empty() {
        all.retain(|pod| !nominated.contains(&pod.key));
    }
    all
}

/// Whether a pod of a node that goes will look for another node.
pub(super) fn moves(pod: &Pod, snapshot: &Snapshot, now: Timestamp) -> bool {
    needs_another_node(pod)
        && !pod.refuses_disruption(now)
        && guards(pod, snapshot).all(|pdb| pdb.disruptions_allowed > 0)
}
