//! A claim's way from bought instance to complete node: registration, initialisation, giving up, whether it is left alone, and whether
//! its node has drifted.

mod drifted;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use joiner_core::conditions::{CONSOLIDATABLE, INITIALIZED, LAUNCHED, REGISTERED, Wanted};
use joiner_core::disrupt::{Consolidatable, consolidatable};
use joiner_core::register::{NodePatch, Outcome, Step, TERMINATION_FINALIZER, advance};
use joiner_core::snapshot::NodeObject;
use joiner_core::text::Text;
use joiner_core::well_known;
use tracing::{info, warn};

use super::keyed::Done;
use super::launch;
use crate::act::{Act, ClaimStatus, Event, Failed, NodeChange, Object, PoolStatus};
use crate::observe::{ClaimEntry, NodeEntry};

/// A claim's status says when pods came and went, but not more often than this. Karpenter's value.
const POD_EVENTS: SignedDuration = SignedDuration::from_secs(10);

/// Moves one claim on.
pub(super) async fn step(act: Act, name: Text) -> Done {
    // Observe.
    let now = Timestamp::now();
    let Some(entry) = act.index.claim_entry(&name) else {
        return Ok(None);
    };
    let claim = &entry.claim;
    if claim.deletion.is_some() {
        return Ok(None);
    }
    if claim.provider_id.is_none() && !claim.conditions.is_true(LAUNCHED) {
        launch::resume(&act, &entry);
    }
    let nodes = claim
        .provider_id
        .as_ref()
        .map(|id| act.index.nodes_of(id))
        .unwrap_or_default();
    let objects: Vec<Arc<NodeObject>> = nodes.iter().map(|entry| entry.node.clone()).collect();
    // Decide.
    let promised = claim.annotations.contains_key(well_known::REQUESTED_DRA_DRIVERS);
    let node = objects.first().filter(|_| promised);
    let published = act.index.published(node.map(|node| &node.name));
    let step = advance(claim, &objects, &published, now);
    let being_bought = claim.provider_id.is_none() && act.launching.holds(&name);
    if being_bought && step.give_up.is_none() {
        // Whoever buys writes the status, and a second writer would only get into the way.
        return Ok(step.wake);
    }
    let pool = claim.pool().and_then(|pool| act.index.pool_entry(pool));
    let left_alone = pool.as_ref().map(|entry| consolidatable(claim, &entry.pool, now));
    let drifted = drifted::look(&act, &entry, pool.as_ref(), now);
    // Act.
    if step.unregistered_taint_missing {
        let message = "Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes";
        act.events.publish(Event::warning(
            Object::claim(claim),
            "UnregisteredTaintMissing",
            message,
        ));
    }
    if let Some(patch) = &step.node {
        change_node(&act, &entry, &nodes, patch).await?;
    }
    let (mut status, wake) = status(&entry, &step, left_alone, now);
    let recheck = drifted.note(&entry, &mut status, now);
    if status != ClaimStatus::default() {
        act.set_claim_status(&entry, &status, now).await?;
    }
    drifted.tell(&entry);
    tell(&act, &entry, &step);
    if let Some(outcome) = step.outcome {
        remember(&act, &entry, outcome, now).await;
    }
    if let Some(reason) = step.give_up {
        warn!(NodeClaim = %name, reason = reason.as_str(), "nodeclaim did not become a node in time and is deleted");
        act.delete_claim(claim).await?;
        act.metrics.nodeclaim_disrupted(
            label(&entry, well_known::NODE_POOL),
            reason.as_str(),
            label(&entry, well_known::CAPACITY_TYPE),
        );
    }
    Ok([step.wake, wake, recheck].into_iter().flatten().min())
}

async fn change_node(
    act: &Act,
    entry: &ClaimEntry,
    nodes: &[NodeEntry],
    patch: &NodePatch,
) -> Result<(), Failed> {
    let NodePatch {
        name,
        labels,
        annotations,
        taints,
        adopt,
    } = patch;
    let Some(node) = nodes.iter().find(|node| node.node.name == *name) else {
        return Ok(());
    };
    let change = NodeChange {
        labels: labels.clone(),
        annotations: annotations.clone(),
        taints: Some(taints.clone()),
        add_finalizer: adopt.then_some(TERMINATION_FINALIZER),
        owner: adopt.then(|| (entry.claim.name.clone(), entry.claim.uid.clone())),
        ..NodeChange::default()
    };
    act.change_node(node, &change).await
}

/// What the claim's status is to say, and when its time alone may be over.
fn status(
    entry: &ClaimEntry,
    step: &Step,
    left_alone: Option<Consolidatable>,
    now: Timestamp,
) -> (ClaimStatus, Option<Timestamp>) {
    let mut status = ClaimStatus {
        conditions: step.conditions.clone(),
        node_name: step.node_name.clone(),
        ..ClaimStatus::default()
    };
    let wake = match left_alone {
        None | Some(Consolidatable::Holds) => None,
        Some(Consolidatable::Set) => {
            status.conditions.push(Wanted::yes(CONSOLIDATABLE));
            None
        }
        Some(Consolidatable::Clear { wake }) => {
            status.drop_conditions.push(CONSOLIDATABLE);
            wake
        }
        Some(Consolidatable::Wait { wake }) => wake,
    };
    let overdue = match (entry.claim.last_pod_event, entry.recorded_pod_event) {
        (Some(seen), Some(recorded)) => seen.duration_since(recorded) >= POD_EVENTS,
        (Some(_), None) => true,
        (None, _) => false,
    };
    if overdue {
        status.last_pod_event = entry.claim.last_pod_event.map(|seen| seen.min(now));
    }
    (status, wake)
}

/// Log lines and metrics of what has just become true.
fn tell(act: &Act, entry: &ClaimEntry, step: &Step) {
    let claim = &entry.claim;
    let became = |kind: &str| {
        step.conditions
            .iter()
            .any(|it| it.kind == kind && *it == Wanted::yes(it.kind))
    };
    if became(REGISTERED) {
        let seconds = act.stages.registered(&claim.name, &act.metrics);
        act.metrics.node_created(
            label(entry, well_known::NODE_POOL),
            label(entry, well_known::ZONE),
        );
        info!(
            NodeClaim = %claim.name, Node = step.node_name.as_deref().unwrap_or_default(),
            seconds_since_launch = seconds, "registered nodeclaim"
        );
    }
    if became(INITIALIZED) {
        let told = act.stages.initialised(&claim.name, &act.metrics);
        info!(
            NodeClaim = %claim.name, Node = claim.node_name.as_deref().unwrap_or_default(), allocatable = %claim.allocatable,
            seconds_pending_to_decided = told.pending_to_decided, seconds_decided_to_created = told.decided_to_created,
            seconds_created_to_fleet = told.created_to_fleet, seconds_fleet = told.fleet,
            seconds_fleet_to_registered = told.fleet_to_registered,
            seconds_registered_to_initialized = told.registered_to_initialised, seconds_total = told.total,
            "initialized nodeclaim"
        );
        tag(act, entry);
    }
}

/// Names the instance, beside the work: people and lists want to know, nothing waits for it.
fn tag(act: &Act, entry: &ClaimEntry) {
    let claim = entry.claim.clone();
    let act = act.clone();
    tokio::spawn(async move {
        let Some((provider, node)) = claim.provider_id.as_ref().zip(claim.node_name.as_ref()) else {
            return;
        };
        if let Err(failed) = act.tag_instance(provider, &claim.name, node).await {
            warn!(NodeClaim = %claim.name, error = %failed.chain(), "instance was not tagged");
        }
    });
}

/// The pool's record of how starts went.
async fn remember(act: &Act, entry: &ClaimEntry, outcome: Outcome, now: Timestamp) {
    let Some(pool) = entry.claim.pool().and_then(|pool| act.index.pool_entry(pool)) else {
        return;
    };
    let wanted = act.health.remember(&pool, outcome, "Failed to register node");
    if crate::observe::map::pool_conditions(&pool.object).differs(&wanted) {
        let status = PoolStatus {
            conditions: vec![wanted],
            ..PoolStatus::default()
        };
        if let Err(failed) = act.set_pool_status(&pool, &status, now).await {
            tracing::debug!(NodePool = %pool.pool.name, error = %failed.chain(), "registration health was not written");
        }
    }
}

fn label<'a>(entry: &'a ClaimEntry, key: &str) -> &'a str {
    entry.claim.labels.get(key).map_or("", |value| value)
}
