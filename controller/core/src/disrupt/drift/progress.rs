//! How far the replacement of one node is: its successors start, then it goes, unless something has changed.
//!
//! Input: what was decided about the node and the snapshot of now. Output: wait, let it go, or leave it. What is remembered between two
//! looks is [`Rolling`] alone; when it is lost, with the process, the same nodes are chosen again, and their pods' places are then the
//! claims that were made for them before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::super::Doomed;
use super::super::candidate::{Blocker, eventual_blocker};
use super::roll::is_empty;
use crate::conditions::{DISRUPTION_REASON, DRIFTED, INITIALIZED};
use crate::eviction::disrupted_taint;
use crate::snapshot::{Claim, Node, Phase, PodKey, Snapshot};
use crate::text::Text;

/// How long successors may take to start; Karpenter's shortest limit.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// After the taint, how long pods that were already on their way may still show up.
const SETTLE: SignedDuration = SignedDuration::from_secs(1);

/// A node that is being replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// Which.
    pub doomed: Doomed,
    /// When it was chosen.
    pub since: Timestamp,
    /// Where its pods go: the names of claims, or of nodes without one.
    pub places: BTreeMap<PodKey, Text>,
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its successors, by claim, start; or it was chosen a moment ago.
    Wait {
        /// The claims that are not complete.
        starting: Vec<Text>,
    },
    /// Delete its claim.
    Go,
    /// It is on its way out; keep the places of its pods until it is gone.
    Leaving,
    /// It is gone.
    Gone,
    /// Leave it as it is.
    Stay(Why),
}

/// Why a node that was chosen stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has not drifted any more.
    NotDrifted,
    /// Something keeps it.
    Blocked(Blocker),
    /// It was empty and is not any more.
    NotEmpty,
    /// A successor is gone.
    Lost {
        /// Its claim.
        claim: Text,
    },
    /// Successors did not start in time.
    Late {
        /// Their claims.
        starting: Vec<Text>,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotDrifted => write!(f, "it has not drifted any more"),
            Why::Blocked(blocker) => write!(f, "{blocker}"),
            Why::NotEmpty => write!(f, "pods have come to it meanwhile"),
            Why::Lost { claim } => write!(f, "its replacement, NodeClaim {claim}, is gone"),
            Why::Late { starting } => write!(
                f,
                "its replacement did not start within {PATIENCE:#}: NodeClaim {}",
                starting.join(", ")
            ),
        }
    }
}

/// Looks again at a node that is being replaced.
pub fn progress(rolling: &Rolling, snapshot: &Snapshot, now: Timestamp) -> Progress {
    let of = |claim: &Text| {
        snapshot
            .nodes
            .iter()
            .find(|node| node.claim.as_ref().is_some_and(|it| it.name == *claim))
    };
    let Some((node, claim)) = of(&rolling.doomed.claim).and_then(|node| Some((node, node.claim.as_deref()?)))
    else {
        return Progress::Gone;
    };
    if claim.deletion.is_some() {
        return Progress::Leaving;
    }
    if let Some(why) = stays(rolling, node, claim, snapshot, now) {
        return Progress::Stay(why);
    }
    let mut starting: BTreeSet<Text> = BTreeSet::new();
    for place in rolling.places.values() {
        match of(place).and_then(|node| node.claim.as_deref()) {
            Some(next) if next.is_going() => return Progress::Stay(Why::Lost { claim: place.clone() }),
            Some(next) if next.conditions.is_true(INITIALIZED) => {}
            Some(_) => drop(starting.insert(place.clone())),
            None if snapshot.node(place).is_some() => {}
            None => return Progress::Stay(Why::Lost { claim: place.clone() }),
        }
    }
    starting.extend(missing(rolling, snapshot));
    let waited = now.duration_since(rolling.since);
    let starting: Vec<Text> = starting.into_iter().collect();
    match (starting.is_empty(), waited) {
        (false, waited) if waited > PATIENCE => Progress::Stay(Why::Late { starting }),
        (true, waited) if waited >= SETTLE => Progress::Go,
        _ => Progress::Wait { starting },
    }
}

fn stays(rolling: &Rolling, node: &Node, claim: &Claim, snapshot: &Snapshot, now: Timestamp) -> Option<Why> {
    if !claim.conditions.is_true(DRIFTED) {
        return Some(Why::NotDrifted);
    }
    let mut unmarked = node.clone();
    unmarked.marked_for_deletion = false;
    match eventual_blocker(&unmarked, snapshot, now) {
        // A budget that is used up by the node before is waited for by the drain, and who was sent here meanwhile finds another place.
        None | Some(Blocker::Pdb { .. } | Blocker::Nominated) => {}
        Some(blocker) => return Some(Why::Blocked(blocker)),
    }
    let of_static_pool = is_static(rolling, snapshot);
    (rolling.places.is_empty() && !of_static_pool && !is_empty(node)).then_some(Why::NotEmpty)
}

fn is_static(rolling: &Rolling, snapshot: &Snapshot) -> bool {
    snapshot
        .pool(&rolling.doomed.pool)
        .is_some_and(|pool| pool.replicas.is_some())
}

/// For a node of a static pool: what of the pool is not complete, as long as it has fewer complete nodes than it wants.
fn missing(rolling: &Rolling, snapshot: &Snapshot) -> Vec<Text> {
    let Some(pool) = snapshot.pool(&rolling.doomed.pool) else {
        return Vec::new();
    };
    let Some(wanted) = pool.replicas else {
        return Vec::new();
    };
    let staying = || {
        snapshot
            .nodes
            .iter()
            .filter(|node| node.claim.is_some() && node.pool() == Some(&pool.name) && !node.is_going())
    };
    let complete = staying()
        .filter(|node| node.phase() == Phase::Initialized)
        .count();
    if u32::try_from(complete).unwrap_or(u32::MAX) >= wanted {
        return Vec::new();
    }
    let starting = staying().filter(|node| node.phase() < Phase::Initialized);
    let mut names: Vec<Text> = starting.map(|node| node.name().clone()).collect();
    if names.is_empty() {
        // It is not even made yet.
        names.push(format!("of NodePool {}", pool.name).into());
    }
    names
}

/// Nodes that carry the mark of a disruption that nobody carries out: whoever began it was killed. `rolling` are the claims whose
/// disruption is under way.
pub fn orphans(snapshot: &Snapshot, rolling: &BTreeSet<Text>) -> Vec<Doomed> {
    let ours = disrupted_taint();
    let orphan = |node: &Node| {
        let (claim, object) = (node.claim.as_ref()?, node.object.as_ref()?);
        let going = node.is_going() || object.deletion.is_some() || rolling.contains(&claim.name);
        let marked = object.taints.iter().any(|taint| taint.is_same(&ours))
            || claim.conditions.is_true(DISRUPTION_REASON);
        (marked && !going).then(|| Doomed {
            pool: node.pool().cloned().unwrap_or_else(|| "".into()),
            claim: claim.name.clone(),
            node: object.name.clone(),
        })
    };
    snapshot.nodes.iter().filter_map(orphan).collect()
}
