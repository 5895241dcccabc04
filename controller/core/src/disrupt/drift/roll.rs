//! Which drifted nodes go now, and what is launched for their pods first.
//!
//! Input: a snapshot whose claims carry the condition Drifted, the catalogue, the time. Output: as many nodes as the budgets allow, empty
//! ones first, then those that drifted first; a place for every pod of theirs; the claims to make for those that find none on what is
//! there. A node one of whose pods would find no place stays, and the answer says why.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::budget::allowances;
use super::super::candidate::{Blocked, Blocker, eventual_blocker};
use super::super::{Doomed, earliest};
use super::simulate::{Others, Simulation, simulate};
use crate::catalogue::Catalogue;
use crate::check::Violation;
use crate::conditions::DRIFTED;
use crate::eviction::needs_another_node;
use crate::resources::ResourceName;
use crate::schedule::NewClaim;
use crate::snapshot::{DisruptionReason, Node, PodKey, Pool, Readiness, Snapshot};
use crate::text::Text;

/// What is to be done about drifted nodes now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roll {
    /// The nodes to replace, in the order in which they were chosen.
    pub nodes: Vec<Replace>,
    /// The claims to make first, for the pods of all of `nodes` together.
    pub claims: Vec<NewClaim>,
    /// Drifted nodes that stay for now, and why.
    pub blocked: Vec<Blocked>,
    /// When one that is kept by pods on their way to it may go.
    pub wake: Option<Timestamp>,
    /// What the audit has against the places that were found; then nothing goes.
    pub violations: Vec<Violation>,
}

/// A node to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replace {
    /// Which.
    pub doomed: Doomed,
    /// Where its pods go; none for an empty node and for one of a static pool, whose successor comes by itself.
    pub moves: Vec<Move>,
}

/// A pod and its next place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The pod.
    pub pod: PodKey,
    /// Where it goes.
    pub to: Place,
}

/// A place for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a claim to make: its index in [`Roll::claims`].
    New(usize),
    /// On a node, or a claim on its way, by the name that decisions know it by.
    There(Text),
}

/// Decides which drifted nodes go now.
pub fn roll(snapshot: &Snapshot, catalogue: &Catalogue, now: Timestamp) -> Roll {
    let mut roll = Roll::default();
    let mut left: BTreeMap<Text, u32> = allowances(snapshot, DisruptionReason::Drifted, now)
        .into_iter()
        .map(|(pool, allowance)| (pool, allowance.left()))
        .collect();
    let (fixed, moving): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) = candidates(snapshot, now, &mut roll)
        .into_iter()
        .partition(|it| it.pool.replicas.is_some());
    fixed_pools(snapshot, fixed, &mut left, &mut roll);
    let mut waiting = moving.into_iter().collect::<std::collections::VecDeque<_>>();
    let mut chosen: Vec<Candidate<'_>> = Vec::new();
    loop {
        // Fill up to the budgets; whoever finds them used up may still be asked when another stays.
        let mut later = std::collections::VecDeque::new();
        while let Some(next) = waiting.pop_front() {
            match left.get_mut(&next.pool.name) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    chosen.push(next);
                }
                _ => later.push_back(next),
            }
        }
        waiting = later;
        let fixed: BTreeSet<Text> = roll.nodes.iter().map(|it| it.doomed.claim.clone()).collect();
        let simulation = places(snapshot, catalogue, &chosen, &fixed, now);
        if !simulation.violations.is_empty() {
            roll.violations = simulation.violations;
            return roll;
        }
        let mut stays = Vec::new();
        for (index, it) in chosen.iter().enumerate() {
            if let Some(Err((pod, why))) = simulation.places.get(&it.doomed.claim) {
                let blocker = Blocker::Unplaceable {
                    pod: pod.clone(),
                    why: why.as_str().into(),
                };
                roll.blocked.push(it.blocked(blocker));
                stays.push(index);
            }
        }
        if stays.is_empty() {
            roll.claims = simulation.claims;
            roll.nodes.extend(chosen.into_iter().map(|it| Replace {
                moves: moves(&simulation.places, &it.doomed.claim),
                doomed: it.doomed,
            }));
            break;
        }
        for index in stays.into_iter().rev() {
            let it = chosen.remove(index);
            if let Some(left) = left.get_mut(&it.pool.name) {
                *left = left.saturating_add(1);
            }
        }
    }
    for it in waiting {
        let pool = it.pool.name.clone();
        roll.blocked.push(it.blocked(Blocker::Budget { pool }));
    }
    roll
}

type Places = BTreeMap<Text, Result<Vec<Move>, (PodKey, String)>>;

fn moves(places: &Places, claim: &Text) -> Vec<Move> {
    match places.get(claim) {
        Some(Ok(moves)) => moves.clone(),
        _ => Vec::new(),
    }
}

/// Places for the pods of those chosen: away from other drifted nodes where that is possible for all, and never on one that goes, the
/// `fixed` ones of static pools among them.
fn places(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    chosen: &[Candidate<'_>],
    fixed: &BTreeSet<Text>,
    now: Timestamp,
) -> Simulation {
    if chosen.iter().all(|it| it.empty) {
        return Simulation::default();
    }
    let going: BTreeSet<Text> = chosen.iter().map(|it| it.doomed.claim.clone()).collect();
    let apart = simulate(snapshot, catalogue, &going, Others::Closed, now);
    let settled = |simulation: &Simulation| {
        simulation.violations.is_empty() && simulation.places.values().all(Result::is_ok)
    };
    if settled(&apart) {
        return apart;
    }
    simulate(snapshot, catalogue, &going, Others::OpenBut(fixed), now)
}

/// A drifted node that nothing keeps.
struct Candidate<'a> {
    doomed: Doomed,
    pool: &'a Pool,
    empty: bool,
    since: Timestamp,
}

impl Candidate<'_> {
    fn blocked(&self, blocker: Blocker) -> Blocked {
        Blocked {
            node: self.doomed.node.clone(),
            claim: Some(self.doomed.claim.clone()),
            blocker,
        }
    }
}

/// The drifted nodes that nothing keeps, in the order in which they go; the others are noted with what keeps them.
fn candidates<'a>(snapshot: &'a Snapshot, now: Timestamp, roll: &mut Roll) -> Vec<Candidate<'a>> {
    let mut all: Vec<Candidate<'a>> = Vec::new();
    for node in &snapshot.nodes {
        let Some((claim, drifted)) = node
            .claim
            .as_ref()
            .and_then(|claim| Some((claim, claim.conditions.get(DRIFTED)?)))
            .filter(|(claim, _)| claim.conditions.is_true(DRIFTED))
        else {
            continue;
        };
        let blocked = |blocker| Blocked {
            node: node.name().clone(),
            claim: Some(claim.name.clone()),
            blocker,
        };
        match eventual_blocker(node, snapshot, now) {
            Some(Blocker::Going | Blocker::Uninitialized) => continue,
            Some(blocker) => {
                if blocker == Blocker::Nominated {
                    roll.wake = earliest(roll.wake, node.nominated_until);
                }
                roll.blocked.push(blocked(blocker));
                continue;
            }
            None => {}
        }
        let Some(pool) = node.pool().and_then(|name| snapshot.pool(name)) else {
            continue;
        };
        all.push(Candidate {
            doomed: Doomed {
                pool: pool.name.clone(),
                claim: claim.name.clone(),
                node: node.name().clone(),
            },
            pool,
            empty: is_empty(node),
            since: drifted.since,
        });
    }
    all.sort_by(|a, b| {
        let key = |it: &Candidate<'_>| (!it.empty, it.since);
        key(a)
            .cmp(&key(b))
            .then_with(|| a.doomed.node.cmp(&b.doomed.node))
    });
    all
}

pub(super) fn is_empty(node: &Node) -> bool {
    !node.pods.iter().any(|pod| needs_another_node(pod))
}

/// Nodes of static pools: their successors come by themselves, where the pool may buy and its limit has room for one node more.
fn fixed_pools(
    snapshot: &Snapshot,
    candidates: Vec<Candidate<'_>>,
    left: &mut BTreeMap<Text, u32>,
    roll: &mut Roll,
) {
    let mut room: BTreeMap<Text, i64> = BTreeMap::new();
    for it in candidates {
        let pool = it.pool.name.clone();
        let room = room
            .entry(pool.clone())
            .or_insert_with(|| nodes_left(snapshot, it.pool));
        let budget = left.get_mut(&pool).filter(|left| **left > 0);
        let blocker = match (&it.pool.readiness, budget) {
            (Readiness::NotReady { reason }, _) => Blocker::PoolNotReady {
                pool,
                reason: reason.clone(),
            },
            (Readiness::Ready, _) if *room <= 0 => Blocker::NodesLimit { pool },
            (Readiness::Ready, None) => Blocker::Budget { pool },
            (Readiness::Ready, Some(left)) => {
                *left -= 1;
                *room -= 1;
                roll.nodes.push(Replace {
                    doomed: it.doomed,
                    moves: Vec::new(),
                });
                continue;
            }
        };
        roll.blocked.push(it.blocked(blocker));
    }
}

/// How many more nodes the pool's limit allows.
fn nodes_left(snapshot: &Snapshot, pool: &Pool) -> i64 {
    let there = snapshot
        .nodes
        .iter()
        .filter(|node| node.claim.is_some() && node.pool() == Some(&pool.name))
        .count();
    pool.limits.get(&ResourceName::nodes()).map_or(i64::MAX, |limit| {
        limit.saturating_sub(i64::try_from(there).unwrap_or(i64::MAX))
    })
}
