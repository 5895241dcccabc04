//! Drifted nodes are replaced: each is tainted, its successors are launched, and once they are complete its claim is deleted.
//!
//! What is remembered between rounds is [`Replacing`] alone. A process that starts finds the taints of the one before, takes them away and
//! decides anew: successors that were launched are then places that are there already.

mod marks;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use joiner_core::conditions::DRIFTED;
use joiner_core::disrupt::drift::{Place, Progress, Roll, Rolling, Why, orphans, progress, roll};
use joiner_core::disrupt::{Blocker, Doomed};
use joiner_core::snapshot::{Node, PodKey, Snapshot};
use joiner_core::text::Text;
use tracing::{error, info, warn};

use self::marks::{release, say_reason, taint_surely};
use super::super::nodepool::StaticCapacity;
use super::super::provision::{Purpose, order_for};
use super::{count, tell};
use crate::act::{Act, Failed};
use crate::observe::map;

/// How soon a node is chosen again after it had to stay. Karpenter looks as often.
const REST: SignedDuration = SignedDuration::from_secs(10);
/// The reason, as metrics write it.
const REASON: &str = "drifted";

/// The nodes that are being replaced.
#[derive(Debug, Default)]
pub(super) struct Replacing {
    /// Without it nobody makes the successors of a static pool's nodes.
    static_capacity: StaticCapacity,
    /// By claim.
    rolling: BTreeMap<Text, Rolling>,
    /// Claims that had to stay, and until when they are left alone.
    resting: BTreeMap<Text, Timestamp>,
}

impl Replacing {
    pub(super) fn new(static_capacity: StaticCapacity) -> Replacing {
        Replacing {
            static_capacity,
            ..Replacing::default()
        }
    }

    /// Whether no node is being replaced.
    pub(super) fn is_idle(&self) -> bool {
        self.rolling.is_empty()
    }
}

/// One round. Returns when to look again, if nothing happens before.
pub(super) async fn round(
    act: &Act,
    replacing: &mut Replacing,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Option<Timestamp> {
    replacing.resting.retain(|_, until| *until > now);
    let under_way: BTreeSet<Text> = replacing.rolling.keys().cloned().collect();
    for orphan in orphans(snapshot, &under_way) {
        info!(Node = %orphan.node, NodeClaim = %orphan.claim, "disruption of an earlier process is undone");
        release(act, &orphan).await;
    }
    let soon = carry_on(act, replacing, snapshot, now).await;
    let drifted = |node: &Node| {
        let claim = node.claim.as_ref();
        claim.is_some_and(|claim| claim.conditions.is_true(DRIFTED) && claim.deletion.is_none())
    };
    let later = match snapshot.nodes.iter().any(drifted) {
        true => begin(act, replacing).await,
        false => {
            act.metrics.eligible(REASON, 0);
            None
        }
    };
    [soon, later].into_iter().flatten().min()
}

/// Moves on what is under way.
async fn carry_on(
    act: &Act,
    replacing: &mut Replacing,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Option<Timestamp> {
    let (mut over, mut soon) = (Vec::new(), None);
    for (claim, rolling) in &replacing.rolling {
        match progress(rolling, snapshot, now) {
            Progress::Wait { starting } if starting.is_empty() => soon = Some(now),
            Progress::Wait { starting } => {
                keep_places(act, rolling);
                words::waiting(act, &starting);
            }
            Progress::Go => {
                keep_places(act, rolling);
                give_back(act, &rolling.doomed).await;
            }
            Progress::Leaving => keep_places(act, rolling),
            Progress::Gone => over.push((claim.clone(), None)),
            Progress::Stay(why) => over.push((claim.clone(), Some(why))),
        }
    }
    for (claim, why) in over {
        let Some(rolling) = replacing.rolling.remove(&claim) else {
            continue;
        };
        if let Some(why) = why {
            stay(act, &rolling.doomed, &why).await;
            replacing.resting.insert(claim, after(now, REST));
        }
    }
    soon
}

/// Chooses nodes and begins to replace them.
async fn begin(act: &Act, replacing: &mut Replacing) -> Option<Timestamp> {
    // Observe.
    let now = Timestamp::now();
    if !act.cloud.knows_types() {
        return None;
    }
    let mut snapshot = act.index.snapshot(now);
    let drifted = leave_out(act, replacing, &mut snapshot);
    act.metrics.eligible(REASON, drifted);
    if drifted == 0 {
        return None;
    }
    let catalogue = act.cloud.catalogue(&act.index, now);
    // Decide, beside the threads that serve the watches.
    let started = Instant::now();
    let decision = tokio::task::spawn_blocking(move || {
        let roll = roll(&snapshot, &catalogue, now);
        (snapshot, roll)
    });
    let Ok((snapshot, roll)) = decision.await else {
        return None;
    };
    act.metrics.disruption(REASON, started.elapsed());
    for violation in &roll.violations {
        act.metrics.violation();
        error!(violation = %violation, "the places for the pods of drifted nodes break a rule, and none of them is replaced");
    }
    tell(act, &roll.blocked);
    let busy = replacing.rolling.values().map(|it| &it.doomed.pool);
    words::closed(act, busy, &roll);
    for blocked in &roll.blocked {
        // Each of these costs a search for places.
        if let (Blocker::Unplaceable { .. }, Some(claim)) = (&blocked.blocker, &blocked.claim) {
            replacing.resting.insert(claim.clone(), after(now, REST));
        }
    }
    // Act.
    let wake = roll.wake;
    if roll.nodes.is_empty() {
        return wake;
    }
    start(act, replacing, &snapshot, roll, now).await;
    // Empty ones need not wait for anything but pods on their way.
    Some(Timestamp::now())
}

/// Takes the mark off those that are not to be looked at now: who had to stay a moment ago, nodes of static pools where those are switched
/// off, and nodes of classes that are being resolved, as a successor would be launched with what the class was. Returns how many drifted nodes are left.
fn leave_out(act: &Act, replacing: &Replacing, snapshot: &mut Snapshot) -> usize {
    let unsettled: BTreeSet<Text> = act
        .index
        .class_entries()
        .into_iter()
        .filter(|class| !map::drift::is_settled(class))
        .filter_map(|class| Some(class.metadata.name.as_deref()?.into()))
        .collect();
    let mut left = 0;
    for node in &mut snapshot.nodes {
        let pool = node.pool().cloned();
        let Some(claim) = node.claim.as_mut().filter(|it| it.conditions.is_true(DRIFTED)) else {
            continue;
        };
        let of_pool = pool.and_then(|pool| act.index.pool_entry(&pool));
        let of_pool = of_pool.as_ref().map(|entry| &entry.pool);
        let class = of_pool.map_or(&claim.class.name, |pool| &pool.class.name);
        let is_static = of_pool.is_some_and(|pool| pool.replicas.is_some());
        let nobody = is_static && replacing.static_capacity == StaticCapacity::Off;
        if nobody || replacing.resting.contains_key(&claim.name) || unsettled.contains(class) {
            std::sync::Arc::make_mut(claim).conditions.remove(DRIFTED);
        } else if !replacing.rolling.contains_key(&claim.name) {
            left += 1;
        }
    }
    left
}

/// Taints the nodes, makes the claims of their successors, and hands their pods over.
async fn start(act: &Act, replacing: &mut Replacing, snapshot: &Snapshot, roll: Roll, now: Timestamp) {
    let taints = roll.nodes.iter().map(|it| taint_surely(act, &it.doomed.node));
    let refused: Vec<Failed> = join_all(taints)
        .await
        .into_iter()
        .filter_map(Result::err)
        .collect();
    if !refused.is_empty() {
        for failed in &refused {
            error!(error = %failed.chain(), "drifted node was not tainted, and nothing is replaced now");
        }
        for it in &roll.nodes {
            give_up(act, replacing, &it.doomed, now).await;
        }
        return;
    }
    let decision = if roll.claims.is_empty() {
        "delete"
    } else {
        "replace"
    };
    let nodes = roll.nodes.len();
    info!(nodes, nodeclaims = roll.claims.len(), "replacing drifted nodes");
    act.metrics.disruption_decided(decision, REASON, nodes);
    let made = order_for(act, roll.claims, Purpose::Drifted).await;
    words::launching(act, made.values());
    let (mut marked, mut moves) = (Vec::new(), Vec::new());
    for it in roll.nodes {
        let place = |to: &Place| match to {
            Place::New(index) => made.get(index).cloned(),
            Place::There(name) => Some(lasting_name(snapshot, name)),
        };
        let places: Option<BTreeMap<PodKey, Text>> = it
            .moves
            .iter()
            .map(|moved| Some((moved.pod.clone(), place(&moved.to)?)))
            .collect();
        let Some(places) = places else {
            warn!(Node = %it.doomed.node, "a replacement could not be made, node stays");
            give_up(act, replacing, &it.doomed, now).await;
            continue;
        };
        marked.push(it.doomed.claim.clone());
        moves.extend(places.iter().map(|(pod, place)| (pod.clone(), place.clone())));
        let rolling = Rolling {
            doomed: it.doomed,
            since: Timestamp::now(),
            places,
        };
        replacing.rolling.insert(rolling.doomed.claim.clone(), rolling);
    }
    act.index.hand_over(&marked, &moves);
    for rolling in marked.iter().filter_map(|claim| replacing.rolling.get(claim)) {
        // A static pool makes the successor itself.
        act.index.changes.pools.ring(&rolling.doomed.pool);
        say_reason(act, &rolling.doomed).await;
    }
    act.index.changes.provision.ring_plain();
}

/// The name by which a place is known from the order of its claim to its end.
fn lasting_name(snapshot: &Snapshot, name: &Text) -> Text {
    let claim = snapshot.node(name).and_then(|node| node.claim.as_ref());
    claim.map_or_else(|| name.clone(), |claim| claim.name.clone())
}

/// The pods of a node that goes keep their places until they are there; whoever was given another one meanwhile keeps that.
fn keep_places(act: &Act, rolling: &Rolling) {
    act.index.nominate_again(&rolling.places);
}

/// Lets the node go: what is to take its place is complete.
async fn give_back(act: &Act, doomed: &Doomed) {
    let Some(entry) = act.index.claim_entry(&doomed.claim) else {
        return;
    };
    words::terminating(act, doomed, &entry.claim);
    match act.delete_claim(&entry.claim).await {
        Ok(()) => {
            let drifted = entry.claim.conditions.get(DRIFTED);
            info!(
                NodeClaim = %doomed.claim, Node = %doomed.node, NodePool = %doomed.pool, reason = REASON,
                drift = drifted.map_or("", |it| &*it.reason), "disrupting node"
            );
            count(act, &doomed.claim, REASON);
        }
        // The next round tries again.
        Err(failed) => {
            error!(NodeClaim = %doomed.claim, error = %failed.chain(), "drifted nodeclaim was not deleted")
        }
    }
}

/// The node stays after all.
async fn stay(act: &Act, doomed: &Doomed, why: &Why) {
    info!(Node = %doomed.node, NodeClaim = %doomed.claim, why = %why, "node is not replaced now and stays");
    if *why != Why::NotDrifted {
        act.metrics.disruption_failed(REASON);
        words::staying(act, doomed, why);
    }
    release(act, doomed).await;
}

async fn give_up(act: &Act, replacing: &mut Replacing, doomed: &Doomed, now: Timestamp) {
    act.metrics.disruption_failed(REASON);
    release(act, doomed).await;
    replacing.resting.insert(doomed.claim.clone(), after(now, REST));
}

fn after(now: Timestamp, length: SignedDuration) -> Timestamp {
    now.saturating_add(length).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
