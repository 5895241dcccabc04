//! A whole roll-out, played on paper: what goes first, what is launched for it, what goes when that is there, until nothing is left.
//!
//! Input: a snapshot whose claims carry the condition Drifted, the catalogue, the time, and how long a node takes to start and to drain.
//! Output: the waves in order. In life waves overlap, as each node goes as soon as its own successor is there; the order and the number
//! at a time are the same.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::super::budget::next_change;
use super::super::candidate::{Blocked, Blocker};
use super::roll::{Place, Roll, roll};
use crate::catalogue::{Catalogue, InstanceType, Offering};
use crate::conditions::{Condition, Conditions, INITIALIZED, LAUNCHED, REGISTERED, Status};
use crate::launch;
use crate::schedule::NewClaim;
use crate::snapshot::{Claim, Node, NodeObject, Pod, PodKey, Snapshot};
use crate::static_pools;
use crate::text::{Labels, Text};
use crate::well_known;

/// How fast a roll-out goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From the order of a node to its being complete.
    pub boot: SignedDuration,
    /// From the first eviction to the end of the node.
    pub drain: SignedDuration,
    /// The most waves to look ahead.
    pub most: usize,
}

/// A roll-out.
#[derive(Clone, Debug)]
pub struct Waves {
    /// In order.
    pub waves: Vec<Wave>,
    /// Drifted nodes that do not go, as far as can be seen, and why.
    pub left: Vec<Blocked>,
    /// The cluster afterwards.
    pub after: Snapshot,
}

impl Waves {
    /// When the last node is gone; none where none goes.
    pub fn ends(&self) -> Option<Timestamp> {
        self.waves.last().map(|wave| wave.ends)
    }
}

/// Nodes that go at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Wave {
    /// When their successors are ordered.
    pub starts: Timestamp,
    /// When they are gone.
    pub ends: Timestamp,
    /// Which, and what for.
    pub roll: Roll,
}

/// How often budgets are waited for in a row.
const OPENINGS: usize = 100;

/// Plays the roll-out of every drifted node of `snapshot`.
pub fn waves(snapshot: &Snapshot, catalogue: &Catalogue, now: Timestamp, pace: Pace) -> Waves {
    let mut played = Waves {
        waves: Vec::new(),
        left: Vec::new(),
        after: snapshot.clone(),
    };
    let (mut at, mut waits) = (now, 0);
    loop {
        let mut roll = roll(&played.after, catalogue, at);
        let blocked = std::mem::take(&mut roll.blocked);
        if roll.nodes.is_empty() {
            match opening(&played.after, &blocked, at) {
                Some(next) if waits < OPENINGS => {
                    (at, waits) = (next, waits + 1);
                    continue;
                }
                _ => {
                    played.left = blocked;
                    return played;
                }
            }
        }
        if played.waves.len() >= pace.most {
            played.left = blocked;
            return played;
        }
        waits = 0;
        let ends = after(at, &roll, &played.after, pace);
        carry_out(&mut played.after, catalogue, &roll, ends);
        played.waves.push(Wave {
            starts: at,
            ends,
            roll,
        });
        at = ends;
    }
}

/// When the budgets of a pool change whose nodes wait for it.
fn opening(snapshot: &Snapshot, blocked: &[Blocked], at: Timestamp) -> Option<Timestamp> {
    let waited = blocked.iter().filter_map(|it| match &it.blocker {
        Blocker::Budget { pool } => snapshot.pool(pool),
        _ => None,
    });
    waited.filter_map(|pool| next_change(pool, at)).min()
}

fn after(at: Timestamp, roll: &Roll, snapshot: &Snapshot, pace: Pace) -> Timestamp {
    let moves = roll.nodes.iter().any(|it| !it.moves.is_empty());
    let fixed = roll.nodes.iter().any(|it| {
        snapshot
            .pool(&it.doomed.pool)
            .is_some_and(|pool| pool.replicas.is_some())
    });
    let boot = match !roll.claims.is_empty() || fixed {
        true => pace.boot,
        false => SignedDuration::ZERO,
    };
    let drain = match moves || fixed {
        true => pace.drain,
        false => SignedDuration::ZERO,
    };
    at.saturating_add(boot.saturating_add(drain))
        .unwrap_or(Timestamp::MAX)
}

/// The nodes of `roll` are gone, its claims are complete nodes, and the pods are where they were to go.
fn carry_out(world: &mut Snapshot, catalogue: &Catalogue, roll: &Roll, now: Timestamp) {
    let mut made: Vec<Option<Node>> = roll
        .claims
        .iter()
        .enumerate()
        .map(|(index, claim)| complete(catalogue, claim, &name(&claim.pool, now, index), now))
        .collect();
    let mut successors = Vec::new();
    for (index, replace) in roll.nodes.iter().enumerate() {
        let claim = &replace.doomed.claim;
        let Some(gone) = world
            .nodes
            .iter()
            .position(|node| node.claim.as_ref().is_some_and(|it| it.name == *claim))
            .map(|at| world.nodes.remove(at))
        else {
            continue;
        };
        for moved in &replace.moves {
            let Some(pod) = find(&gone, &moved.pod) else {
                continue;
            };
            match &moved.to {
                Place::New(index) => {
                    if let Some(Some(node)) = made.get_mut(*index) {
                        node.pods.push(pod);
                    }
                }
                Place::There(name) => {
                    if let Some(node) = world.nodes.iter_mut().find(|node| node.name() == name) {
                        node.pods.push(pod);
                    }
                }
            }
        }
        let pool = world
            .pool(&replace.doomed.pool)
            .filter(|pool| pool.replicas.is_some())
            .cloned();
        if let Some(pool) = pool {
            let like = static_pools::claim(world, catalogue, &pool, now);
            let name = name(&pool.name, now, roll.claims.len() + index);
            let mut node = like.and_then(|claim| complete(catalogue, &claim, &name, now));
            if let Some(node) = &mut node {
                // Where else its pods would go nobody has decided.
                node.pods.extend(
                    gone.pods
                        .iter()
                        .filter(|pod| crate::eviction::needs_another_node(pod))
                        .cloned(),
                );
            }
            successors.extend(node);
        }
    }
    world.nodes.extend(made.into_iter().flatten().chain(successors));
    world.nodes.sort_by(|a, b| a.name().cmp(b.name()));
}

fn find(node: &Node, key: &PodKey) -> Option<Arc<Pod>> {
    node.pods.iter().find(|pod| pod.key == *key).cloned()
}

/// A name that no claim of the cluster has.
fn name(pool: &Text, now: Timestamp, index: usize) -> Text {
    format!("{pool}~{}~{index}", now.as_second()).into()
}

/// The claim as a complete node: the cheapest of what it may become. None where nothing of it is on sale.
fn complete(catalogue: &Catalogue, wanted: &NewClaim, name: &Text, now: Timestamp) -> Option<Node> {
    let (it, offering) = cheapest(catalogue, wanted)?;
    let mut labels: Labels = launch::labels(it, offering);
    labels.extend(
        wanted
            .labels
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    let holds = Condition {
        status: Status::True,
        reason: "Foreseen".into(),
        message: "".into(),
        since: now,
    };
    let conditions: Conditions = [LAUNCHED, REGISTERED, INITIALIZED]
        .map(|kind| (kind, holds.clone()))
        .into_iter()
        .collect();
    let provider_id: Text = format!("foreseen:///{name}").into();
    let claim = Claim {
        name: name.clone(),
        uid: name.clone(),
        created: now,
        deletion: None,
        labels: labels.clone(),
        annotations: wanted.annotations.clone(),
        finalizers: Vec::new(),
        class: wanted.class.clone(),
        requirements: wanted.requirements.clone(),
        requests: wanted.requests.clone(),
        taints: wanted.taints.clone(),
        startup_taints: wanted.startup_taints.clone(),
        expire_after: wanted.expire_after,
        termination_grace_period: wanted.termination_grace_period,
        provider_id: Some(provider_id.clone()),
        node_name: Some(name.clone()),
        capacity: it.capacity.clone(),
        allocatable: it.allocatable(),
        last_pod_event: Some(now),
        conditions,
    };
    labels.insert(well_known::REGISTERED.into(), "true".into());
    labels.insert(well_known::INITIALIZED.into(), "true".into());
    labels.insert(well_known::HOSTNAME.into(), name.clone());
    let object = NodeObject {
        name: name.clone(),
        uid: name.clone(),
        created: now,
        deletion: None,
        provider_id: Some(provider_id),
        labels,
        annotations: Labels::new(),
        finalizers: Vec::new(),
        taints: wanted.taints.clone(),
        ready: true,
        capacity: it.capacity.clone(),
        allocatable: it.allocatable(),
    };
    Node::new(Some(Arc::new(claim)), Some(Arc::new(object)))
}

fn cheapest<'a>(catalogue: &'a Catalogue, wanted: &'a NewClaim) -> Option<(&'a InstanceType, &'a Offering)> {
    let types = wanted
        .instance_types
        .iter()
        .filter_map(|name| catalogue.find(&wanted.pool, name));
    types
        .flat_map(|it| {
            it.offerings_for(&wanted.requirements)
                .map(move |offering| (it, offering))
        })
        .min_by(|(a, x), (b, y)| (x.price, &a.name, &x.zone).cmp(&(y.price, &b.name, &y.zone)))
}
