//! How a claim and its node go: no new pods, pods out in order, volumes off, instance terminated, objects released.

use std::sync::Arc;

use futures::StreamExt as _;
use jiff::Timestamp;
use joiner_core::conditions::{DRAINED, INSTANCE_TERMINATING, Wanted};
use joiner_core::register::TERMINATION_FINALIZER;
use joiner_core::snapshot::{Node, NodeObject, Pod, Snapshot};
use joiner_core::terminate::{ClaimNext, Drain, Instance, NodeNext, finalize_claim, finalize_node};
use joiner_core::text::{Labels, Text};
use joiner_core::well_known;
use tracing::info;

use super::keyed::Done;
use crate::act::{Act, ClaimStatus, Event, Evicted, Failed, NodeChange, Object};
use crate::observe::{ClaimEntry, NodeEntry};

/// How many pods of a node are asked to leave at the same time.
const WIDTH: usize = 20;

/// Moves one claim that is to go on, or one node: `name` is the claim's, or the node's where no claim stands behind it.
pub(super) async fn step(act: Act, name: Text) -> Done {
    let Some(entry) = act.index.claim_entry(&name) else {
        let Some(node) = act
            .index
            .node_entry(&name)
            .filter(|node| node.node.deletion.is_some())
        else {
            return Ok(None);
        };
        return step_node(&act, None, &node).await;
    };
    let nodes = entry
        .claim
        .provider_id
        .as_ref()
        .map(|id| act.index.nodes_of(id))
        .unwrap_or_default();
    let mut wake = None;
    for node in nodes.iter().filter(|node| node.node.deletion.is_some()) {
        wake = earliest(wake, step_node(&act, Some(&entry), node).await?);
    }
    // The claim may have changed with its node's step.
    let Some(entry) = act.index.claim_entry(&name) else {
        return Ok(None);
    };
    if entry.claim.deletion.is_none() {
        return Ok(wake);
    }
    Ok(earliest(wake, step_claim(&act, entry).await?))
}

async fn step_claim(act: &Act, mut entry: ClaimEntry) -> Done {
    // Its node's end has terminated the instance; look before asking again.
    let mut instance = match entry.claim.conditions.is_true(INSTANCE_TERMINATING) {
        true => ask(act, &entry).await?,
        false => Instance::NotAsked,
    };
    loop {
        // Observe.
        let now = Timestamp::now();
        let nodes = entry
            .claim
            .provider_id
            .as_ref()
            .map(|id| act.index.nodes_of(id))
            .unwrap_or_default();
        let objects: Vec<Arc<NodeObject>> = nodes.iter().map(|node| node.node.clone()).collect();
        // Decide.
        let step = finalize_claim(&entry.claim, &objects, instance, now);
        // Act.
        if let Some((key, value)) = step.annotation {
            let annotations = [(Text::from(key), value.clone())].into();
            entry = act
                .label_claim(&entry.claim.name, &Labels::new(), &annotations)
                .await?;
            let message = format!("All pods will be deleted by {value}");
            act.events.publish(Event::warning(
                Object::claim(&entry.claim),
                "TerminationGracePeriodExpiring",
                message,
            ));
        }
        for node in nodes
            .iter()
            .filter(|node| step.delete_nodes.contains(&node.node.name))
        {
            act.delete_node(&node.node).await?;
        }
        if !step.conditions.is_empty() {
            let status = ClaimStatus {
                conditions: step.conditions,
                ..ClaimStatus::default()
            };
            entry = act.set_claim_status(&entry, &status, now).await?;
        }
        match step.next {
            ClaimNext::Nothing | ClaimNext::AwaitNodes => return Ok(None),
            ClaimNext::Wait(until) => match instance {
                // Asked in this very step already.
                Instance::Exists => return Ok(Some(until)),
                Instance::NotAsked | Instance::Gone => instance = ask(act, &entry).await?,
            },
            ClaimNext::TerminateInstance => instance = end_instance(act, &entry).await?,
            ClaimNext::Release => return release_claim(act, &entry, now).await,
        }
    }
}

async fn release_claim(act: &Act, entry: &ClaimEntry, now: Timestamp) -> Done {
    let claim = &entry.claim;
    let rest: Vec<Text> = claim
        .finalizers
        .iter()
        .filter(|it| &***it != TERMINATION_FINALIZER)
        .cloned()
        .collect();
    // One that is gone already was counted when it went.
    act.set_claim_finalizers(entry, &rest).await?;
    let since = |time: Timestamp| now.duration_since(time).unsigned_abs();
    let took = claim.deletion.map(since).unwrap_or_default();
    let label = |key: &str| claim.labels.get(key).map_or("", |value| value);
    if let Some(ending) = claim.conditions.get(INSTANCE_TERMINATING) {
        act.metrics
            .instance_terminated(label(well_known::NODE_POOL), since(ending.since));
    }
    act.metrics.nodeclaim_terminated(
        label(well_known::NODE_POOL),
        label(well_known::CAPACITY_TYPE),
        label(well_known::ZONE),
        took,
    );
    act.stages.forget(&claim.name);
    info!(NodeClaim = %claim.name, seconds = took.as_secs_f64(), "deleted nodeclaim");
    Ok(None)
}

async fn step_node(act: &Act, claim: Option<&ClaimEntry>, entry: &NodeEntry) -> Done {
    let mut claim = claim.cloned();
    let mut entry = entry.clone();
    // A node that is not ready may have lost its instance already.
    let mut instance = match &claim {
        Some(claim) if !entry.node.ready => ask(act, claim).await?,
        _ => Instance::NotAsked,
    };
    loop {
        // Observe.
        let now = Timestamp::now();
        let snapshot = act.index.snapshot(now);
        let Some(node) = place(&snapshot, &entry) else {
            return Ok(None);
        };
        // Decide.
        let step = finalize_node(&node, &snapshot, instance, now);
        // Act.
        let change = NodeChange {
            labels: step.labels,
            taints: step.taints,
            ..NodeChange::default()
        };
        act.change_node(&entry, &change).await?;
        if let Some(claim) = claim.as_ref().filter(|_| step.delete_claim) {
            act.delete_claim(&claim.claim).await?;
        }
        if let Some(current) = claim
            .as_ref()
            .and_then(|claim| act.index.claim_entry(&claim.claim.name))
        {
            let drained = step.conditions.iter().any(|it| *it == Wanted::yes(DRAINED));
            claim = Some(if step.conditions.is_empty() {
                current
            } else {
                let status = ClaimStatus {
                    conditions: step.conditions,
                    ..ClaimStatus::default()
                };
                act.set_claim_status(&current, &status, now).await?
            });
            if drained {
                act.metrics.node_drained(pool_of(&entry));
            }
        }
        empty(act, &node, &step.drain).await?;
        if !step.volumes.is_empty() {
            let names: Vec<&str> = step.volumes.iter().map(|it| &**it).collect();
            let message = format!(
                "Awaiting deletion of bound volumeattachments ({})",
                names.join(", ")
            );
            act.events.publish(Event::normal(
                Object::node(&entry.node.name),
                "AwaitingVolumeDetachment",
                message,
            ));
        }
        match (step.next, &claim) {
            (NodeNext::Nothing, _) => return Ok(None),
            (NodeNext::Wait(until), claim) => {
                let ending = claim
                    .as_ref()
                    .is_some_and(|it| it.claim.conditions.is_true(INSTANCE_TERMINATING));
                match (instance, claim) {
                    (Instance::NotAsked, Some(claim)) if ending => instance = ask(act, claim).await?,
                    _ => return Ok(Some(until)),
                }
            }
            (NodeNext::TerminateInstance, Some(claim)) => instance = end_instance(act, claim).await?,
            (NodeNext::TerminateInstance, None) | (NodeNext::Release, _) => {
                return release_node(act, &entry, now).await;
            }
        }
        match act.index.node_entry(&entry.node.name) {
            Some(current) => entry = current,
            None => return Ok(None),
        }
    }
}

async fn release_node(act: &Act, entry: &NodeEntry, now: Timestamp) -> Done {
    let change = NodeChange {
        remove_finalizer: Some(TERMINATION_FINALIZER),
        ..NodeChange::default()
    };
    // One that is gone already was counted when it went.
    act.change_node(entry, &change).await?;
    let node = &entry.node;
    let since = |time: Timestamp| now.duration_since(time).unsigned_abs();
    let took = node.deletion.map(since).unwrap_or_default();
    let zone = node.labels.get(well_known::ZONE).map_or("", |zone| zone);
    act.metrics
        .node_terminated(pool_of(entry), zone, since(node.created), took);
    info!(Node = %node.name, seconds = took.as_secs_f64(), "deleted node");
    Ok(None)
}

/// Evicts and deletes the pods that are to leave now, and says what holds the others.
async fn empty(act: &Act, node: &Node, drain: &Drain) -> Result<(), Failed> {
    let find = |uid: &Text| node.pods.iter().find(|pod| pod.uid == *uid);
    let mut why: Vec<String> = drain
        .held
        .iter()
        .map(|held| format!("pod {}: {}", held.pod, held.why))
        .collect();
    let mut leaving: Vec<Arc<Pod>> = Vec::new();
    for eviction in &drain.evict {
        leaving.extend(find(&eviction.uid).cloned());
    }
    let mut answers = futures::stream::iter(leaving)
        .map(|pod| {
            let act = act.clone();
            async move {
                let answer = act.evict(&pod).await;
                (pod, answer)
            }
        })
        .buffer_unordered(WIDTH);
    while let Some((pod, answer)) = answers.next().await {
        match answer? {
            Evicted::Going => {
                act.metrics.pod_drained("");
                act.events.publish(Event::normal(
                    Object::pod(&pod),
                    "Evicted",
                    "Evicted pod: its node is terminating",
                ));
            }
            Evicted::Blocked => why.push(format!(
                "pod {}: evicting it would violate a PodDisruptionBudget",
                pod.key
            )),
            Evicted::Misguarded => why.push(format!(
                "pod {}: eviction does not support multiple PDBs",
                pod.key
            )),
        }
    }
    for delete in &drain.delete {
        let Some(pod) = find(&delete.uid) else { continue };
        let grace = u32::try_from(delete.grace_seconds).unwrap_or(1);
        act.delete_pod(pod, grace).await?;
        let message = format!(
            "Deleting the pod to accommodate the termination time of its node. The pod was granted {grace} seconds of grace-period of its {} terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.",
            pod.grace_period.as_secs()
        );
        act.events
            .publish(Event::normal(Object::pod(pod), "Disrupted", message));
    }
    if !why.is_empty() {
        let message = format!(
            "Failed to drain node, {} pods are waiting to be evicted: {}",
            drain.waiting,
            why.join("; ")
        );
        act.events.publish(Event::warning(
            Object::node(node.name()),
            "FailedDraining",
            message,
        ));
    }
    Ok(())
}

/// The node's place in the snapshot: with its claim and its pods.
fn place(snapshot: &Snapshot, entry: &NodeEntry) -> Option<Node> {
    snapshot
        .nodes
        .iter()
        .find(|node| {
            node.object
                .as_ref()
                .is_some_and(|object| object.uid == entry.node.uid)
        })
        .cloned()
}

async fn ask(act: &Act, entry: &ClaimEntry) -> Result<Instance, Failed> {
    match &entry.claim.provider_id {
        Some(id) => act.look_at_instance(id).await,
        None => Ok(Instance::Gone),
    }
}

async fn end_instance(act: &Act, entry: &ClaimEntry) -> Result<Instance, Failed> {
    match &entry.claim.provider_id {
        Some(id) => act.terminate_instance(id).await,
        None => Ok(Instance::Gone),
    }
}

fn pool_of(entry: &NodeEntry) -> &str {
    entry
        .node
        .labels
        .get(well_known::NODE_POOL)
        .map_or("", |pool| pool)
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().min()
}
