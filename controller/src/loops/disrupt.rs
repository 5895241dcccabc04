//! Nodes that are not worth their price are given back, and those that are not what they should be replaced: what has expired, what has
//! drifted ([`replace`]), and what is empty.

mod replace;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use joiner_core::disrupt::{Blocked, Blocker, Command, Emptiness, emptiness, expiration, still_empty};
use joiner_core::eviction::disrupted_taint;
use joiner_core::taints::Taint;
use joiner_core::text::Text;
use joiner_core::well_known;
use tracing::{error, info};

use super::nodepool::StaticCapacity;
use crate::act::{Act, Event, Failed, NodeChange, Object};
use crate::observe::NodeEntry;

/// Shortest pause between two looks: changes come in swarms.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause: budgets open and close by the clock.
const LONGEST: Duration = Duration::from_secs(10);
/// After the taint, how long pods that were already on their way may still show up.
const SETTLE: Duration = Duration::from_secs(1);

/// Runs for ever.
pub(super) async fn run(act: Act, static_capacity: StaticCapacity) {
    let mut replacing = replace::Replacing::new(static_capacity);
    loop {
        let wake = round(&act, &mut replacing).await;
        let due = wake.map_or(LONGEST, |wake| {
            wake.duration_since(Timestamp::now())
                .max(jiff::SignedDuration::ZERO)
                .unsigned_abs()
        });
        tokio::time::sleep(PAUSE).await;
        tokio::select! {
            _ = act.index.changes.disrupt.heard() => {}
            () = tokio::time::sleep(due.min(LONGEST).saturating_sub(PAUSE)) => {}
        }
    }
}

async fn round(act: &Act, replacing: &mut replace::Replacing) -> Option<Timestamp> {
    if !act.index.unsynced().is_empty() {
        return None;
    }
    // Observe.
    let mut now = Timestamp::now();
    let mut snapshot = act.index.snapshot(now);
    // First, since a successor that no pod has reached yet looks empty until it is promised.
    let replaced = replace::round(act, replacing, &snapshot, now).await;
    if !replacing.is_idle() {
        now = Timestamp::now();
        snapshot = act.index.snapshot(now);
    }
    let started = Instant::now();
    // Decide.
    let old = expiration(&snapshot, now);
    // Before EC2's types are known nobody knows what is empty because pods are about to move there.
    let empty = match act.cloud.knows_types() {
        true => emptiness(&snapshot, now),
        false => Emptiness::default(),
    };
    act.metrics.disruption("empty", started.elapsed());
    // Act.
    for name in &old.expired {
        expire(act, name).await;
    }
    tell(act, &empty.blocked);
    if let Some(command) = empty.command {
        act.metrics.disruption_decided("delete", "empty", 1);
        give_back(act, command).await;
    }
    [old.wake, replaced, empty.wake].into_iter().flatten().min()
}

async fn expire(act: &Act, name: &Text) {
    let Some(entry) = act.index.claim_entry(name) else {
        return;
    };
    info!(NodeClaim = %name, "nodeclaim has reached its age and is deleted");
    match act.delete_claim(&entry.claim).await {
        Ok(()) => count(act, name, "expired"),
        Err(failed) => {
            error!(NodeClaim = %name, error = %failed.chain(), "expired nodeclaim was not deleted")
        }
    }
}

/// Taints the nodes, looks again whether they are still empty, and lets go those that are.
async fn give_back(act: &Act, command: Command) {
    for doomed in &command.nodes {
        act.index.mark(&doomed.claim);
        if let Err(failed) = taint(act, &doomed.node, Some(disrupted_taint())).await {
            error!(Node = %doomed.node, error = %failed.chain(), "node was not tainted");
        }
    }
    tokio::time::sleep(SETTLE).await;
    let now = Timestamp::now();
    let kept = still_empty(&command, &act.index.snapshot(now), now);
    for doomed in &command.nodes {
        if !kept.contains(doomed) {
            info!(Node = %doomed.node, "node is not empty any more and stays");
            undo(act, &doomed.claim, &doomed.node).await;
            continue;
        }
        let Some(entry) = act.index.claim_entry(&doomed.claim) else {
            continue;
        };
        let message = format!("Disrupting Node: {}", command.reason.as_str());
        act.events.publish(Event::normal(
            Object::node(&doomed.node),
            "DisruptionTerminating",
            message.clone(),
        ));
        act.events.publish(Event::normal(
            Object::claim(&entry.claim),
            "DisruptionTerminating",
            message,
        ));
        match act.delete_claim(&entry.claim).await {
            Ok(()) => {
                info!(
                    NodeClaim = %doomed.claim, Node = %doomed.node, NodePool = %doomed.pool,
                    reason = command.reason.as_str(), "disrupting node"
                );
                count(act, &doomed.claim, "empty");
            }
            Err(failed) => {
                error!(NodeClaim = %doomed.claim, error = %failed.chain(), "empty nodeclaim was not deleted");
                undo(act, &doomed.claim, &doomed.node).await;
            }
        }
    }
}

async fn undo(act: &Act, claim: &Text, node: &Text) {
    act.index.unmark(claim);
    if let Err(failed) = taint(act, node, None).await {
        error!(Node = %node, error = %failed.chain(), "taint was not removed");
    }
}

/// Puts the taint of a node that is about to go on it, or takes it away.
async fn taint(act: &Act, node: &Text, taint: Option<Taint>) -> Result<(), Failed> {
    let Some(entry) = act.index.node_entry(node) else {
        return Ok(());
    };
    let change = NodeChange {
        taints: Some(with(&entry, taint)),
        ..NodeChange::default()
    };
    act.change_node(&entry, &change).await
}

fn with(entry: &NodeEntry, taint: Option<Taint>) -> Vec<Taint> {
    let ours = disrupted_taint();
    let others = entry
        .node
        .taints
        .iter()
        .filter(|there| !there.is_same(&ours))
        .cloned();
    others.chain(taint).collect()
}

fn tell(act: &Act, blocked: &[Blocked]) {
    for Blocked { node, claim, blocker } in blocked {
        if matches!(
            blocker,
            Blocker::Unmanaged | Blocker::Nominated | Blocker::Budget { .. }
        ) {
            continue;
        }
        let message = format!("Cannot disrupt Node: {blocker}");
        act.events.publish(Event::normal(
            Object::node(node),
            "DisruptionBlocked",
            message.clone(),
        ));
        if let Some(entry) = claim.as_ref().and_then(|claim| act.index.claim_entry(claim)) {
            let message = format!("Cannot disrupt NodeClaim: {blocker}");
            act.events.publish(Event::normal(
                Object::claim(&entry.claim),
                "DisruptionBlocked",
                message,
            ));
        }
    }
}

fn count(act: &Act, claim: &Text, reason: &str) {
    let Some(entry) = act.index.claim_entry(claim) else {
        return;
    };
    let label = |key: &str| entry.claim.labels.get(key).map_or("", |value| value);
    act.metrics.nodeclaim_disrupted(
        label(well_known::NODE_POOL),
        reason,
        label(well_known::CAPACITY_TYPE),
    );
}
