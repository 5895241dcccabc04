//! A node that is being deleted.

use jiff::{SignedDuration, Timestamp};

use super::Instance;
use super::drain::{Drain, drain};
use crate::conditions::{DRAINED, INSTANCE_TERMINATING, Status, VOLUMES_DETACHED, Wanted};
use crate::eviction::disrupted_taint;
use crate::register::TERMINATION_FINALIZER;
use crate::snapshot::{Node, Snapshot};
use crate::taints::Taint;
use crate::text::{Labels, Text, labels};

/// How long a node drains at least: a scheduler that has not seen the taint may still send a pod.
const MIN_DRAIN: SignedDuration = SignedDuration::from_secs(5);
/// How often a drain is looked at.
const DRAIN_POLL: SignedDuration = SignedDuration::from_secs(1);
/// How often a terminating instance is looked at.
const INSTANCE_POLL: SignedDuration = SignedDuration::from_secs(5);

/// What to do for a node that is being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStep {
    /// All its taints, where they change.
    pub taints: Option<Vec<Taint>>,
    /// Labels to set.
    pub labels: Labels,
    /// Whether its claim has to be deleted too.
    pub delete_claim: bool,
    /// Conditions of its claim that change.
    pub conditions: Vec<Wanted>,
    /// Pods that leave.
    pub drain: Drain,
    /// Volumes that are waited for.
    pub volumes: Vec<Text>,
    /// What comes next.
    pub next: NodeNext,
}

/// What comes next for a node that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeNext {
    /// Not ours, or not being deleted.
    Nothing,
    /// Look again then.
    Wait(Timestamp),
    /// Ask the cloud to terminate the instance, then decide again with its answer.
    TerminateInstance,
    /// Remove the finalizer.
    Release,
}

/// Moves a node that is being deleted on. `instance` is what the cloud says of its instance; ask it where the node is
/// not ready, and after [`NodeNext::TerminateInstance`].
pub fn finalize_node(node: &Node, snapshot: &Snapshot, instance: Instance, now: Timestamp) -> NodeStep {
    let mut step = NodeStep {
        taints: None,
        labels: Labels::new(),
        delete_claim: false,
        conditions: Vec::new(),
        drain: Drain::default(),
        volumes: Vec::new(),
        next: NodeNext::Nothing,
    };
    let Some(object) = &node.object else { return step };
    if object.deletion.is_none() || !object.finalizers.iter().any(|it| &**it == TERMINATION_FINALIZER) {
        return step;
    }
    step.delete_claim = node.claim.as_ref().is_some_and(|claim| claim.deletion.is_none());
    if !object.ready && instance == Instance::Gone {
        step.next = NodeNext::Release;
        return step;
    }
    let taint = disrupted_taint();
    if !object.taints.iter().any(|there| there.is_same(&taint)) {
        let mut taints = object.taints.clone();
        taints.retain(|there| there.key != taint.key);
        taints.push(taint);
        step.taints = Some(taints);
    }
    step.labels = labels([(
        "node.kubernetes.io/exclude-from-external-load-balancers",
        "karpenter",
    )]);
    step.labels
        .retain(|key, value| object.labels.get(key) != Some(value));

    let mut wanted = Vec::new();
    step.next = stages(
        node,
        snapshot,
        instance,
        now,
        &mut step.drain,
        &mut step.volumes,
        &mut wanted,
    );
    if let Some(claim) = &node.claim {
        step.conditions = wanted
            .into_iter()
            .filter(|wanted| claim.conditions.differs(wanted))
            .collect();
    }
    step
}

fn stages(
    node: &Node,
    snapshot: &Snapshot,
    instance: Instance,
    now: Timestamp,
    pods: &mut Drain,
    volumes: &mut Vec<Text>,
    wanted: &mut Vec<Wanted>,
) -> NodeNext {
    let deadline = node
        .claim
        .as_ref()
        .and_then(|claim| super::claim::deadline(claim));
    let poll = |after: SignedDuration| NodeNext::Wait(now.checked_add(after).unwrap_or(now));
    *pods = drain(node, snapshot, deadline, now);
    if pods.waiting > 0 {
        wanted.push(Wanted::unknown(DRAINED, "Draining", "Draining"));
        return poll(DRAIN_POLL);
    }
    if let Some(claim) = &node.claim {
        match claim.conditions.get(DRAINED) {
            Some(drained) if drained.status == Status::True => {}
            Some(drained) if now.duration_since(drained.since) >= MIN_DRAIN => {
                wanted.push(Wanted::yes(DRAINED))
            }
            _ => {
                wanted.push(Wanted::unknown(DRAINED, "Draining", "Draining"));
                return poll(DRAIN_POLL);
            }
        }
    }
    *volumes = node.attached_volumes.clone();
    if volumes.is_empty() {
        wanted.push(Wanted::yes(VOLUMES_DETACHED));
    } else if deadline.is_some_and(|deadline| now > deadline) {
        let elapsed = "TerminationGracePeriodElapsed";
        wanted.push(Wanted::no(VOLUMES_DETACHED, elapsed, elapsed));
    } else {
        let awaiting = "AwaitingVolumeDetachment";
        wanted.push(Wanted::unknown(VOLUMES_DETACHED, awaiting, awaiting));
        return poll(DRAIN_POLL);
    }
    match (instance, &node.claim) {
        (Instance::Gone, _) | (_, None) => {
            wanted.push(Wanted::yes(INSTANCE_TERMINATING));
            NodeNext::Release
        }
        (Instance::Exists, Some(claim)) if claim.conditions.is_true(INSTANCE_TERMINATING) => {
            poll(INSTANCE_POLL)
        }
        _ => {
            wanted.push(Wanted::yes(INSTANCE_TERMINATING));
            NodeNext::TerminateInstance
        }
    }
}
