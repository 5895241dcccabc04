//! The smallest change that would give a pod a node. Every change that is told was tried: the scheduler places the pod with it.

mod changes;

use std::sync::Arc;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::schedule::{Refusal, schedule};
use crate::snapshot::{Pod, PodState, Pool, Settings, Snapshot};

use changes::{Change, Target, changes};

/// A change that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to change, in words.
    pub change: String,
    /// The path of the field: in the pod, or after `NodePool NAME:` in a pool.
    pub field: String,
}

/// What would become of a pod if it were the only one that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It would have a place: whoever else waits takes what it needs.
    Placed,
    /// It would have none.
    Refused(Box<Refusal>),
}

/// What would become of `pod` if no other pod waited.
pub fn alone(snapshot: &Snapshot, catalogue: &Catalogue, pod: &Pod, now: Timestamp) -> Alone {
    let outcome = schedule(&only(snapshot, pod.clone(), &[]), catalogue, now);
    match outcome.unschedulable.get(&pod.key) {
        Some(refusal) => Alone::Refused(Box::new(Refusal::clone(refusal))),
        None => Alone::Placed,
    }
}

/// The single changes of the pod or of a pool after which the pod would have a place, the smallest first.
pub fn advice(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    pod: &Pod,
    refusal: &Refusal,
    now: Timestamp,
) -> Vec<Advice> {
    let mut helping: Vec<(u32, Advice)> = Vec::new();
    for Change {
        size,
        target,
        change,
        field,
    } in changes(snapshot, catalogue, pod, refusal)
    {
        let trial = match target {
            Target::Pod(changed) => only(snapshot, *changed, &[]),
            Target::Pool(changed) => only(snapshot, pod.clone(), &[*changed]),
        };
        let outcome = schedule(&trial, catalogue, now);
        if outcome.placed().any(|key| *key == pod.key) {
            helping.push((size, Advice { change, field }));
        }
    }
    helping.sort_by_key(|(size, _)| *size);
    helping.dedup_by(|a, b| a.1 == b.1);
    helping.into_iter().map(|(_, advice)| advice).collect()
}

/// The snapshot with `pod` as the only one that waits, and with `pools` in place of those of the same name.
fn only(snapshot: &Snapshot, mut pod: Pod, pools: &[Pool]) -> Snapshot {
    pod.state = PodState::Unschedulable;
    let mut nodes = snapshot.nodes.clone();
    for node in &mut nodes {
        node.pods.retain(|there| there.key != pod.key);
        node.nominated.retain(|there| *there != pod.key);
    }
    // Pods of nodes that go wait like others, and are not asked about.
    let leaving = |node: &crate::snapshot::Node| node.is_going();
    nodes
        .iter_mut()
        .filter(|node| leaving(node))
        .for_each(|node| node.pods.clear());
    let replaced = |pool: &Arc<Pool>| match pools.iter().find(|it| it.name == pool.name) {
        Some(changed) => Arc::new(changed.clone()),
        None => Arc::clone(pool),
    };
    Snapshot {
        pools: snapshot.pools.iter().map(replaced).collect(),
        nodes,
        daemon_sets: snapshot.daemon_sets.clone(),
        pending: vec![Arc::new(pod)],
        pdbs: Vec::new(),
        settings: Settings {
            effort: 0,
            bound: false,
            ..snapshot.settings.clone()
        },
    }
}
