//! What a change does to nodes that run, told before it is made.
//!
//! Input: the snapshot with the changed pool or class in it, the catalogue, and what claims are compared with. Output: which nodes are
//! replaced, why and in which wave, which pods move, which would find no node, and what the nodes cost an hour before and after. It is
//! [`super::drift`]'s own answer, played on paper; `pace` says how fast, `homeless` who is left over.

mod homeless;
mod pace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::candidate::Blocker;
use super::drift::{self, Drift, Facts, Waves};
use crate::catalogue::Catalogue;
use crate::conditions::DRIFTED;
use crate::money::Price;
use crate::schedule::existing_price;
use crate::snapshot::{Phase, PodKey, Snapshot};
use crate::text::Text;

pub use homeless::{Gone, Homeless, gone};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The types of every pool, those of the changed class included.
    pub catalogue: &'a Catalogue,
    /// What claims are compared with: the classes as they would be, and the instances.
    pub facts: &'a Facts,
    /// The pools whose nodes the change can reach. Drift of other pools' nodes is not its doing, and is left out.
    pub pools: &'a BTreeSet<Text>,
    /// How many waves are played at most.
    pub most_waves: usize,
}

/// What the change does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The nodes that are not what they should be then: first those that go, in the order in which they do, then those that stay.
    pub nodes: Vec<Outdated>,
    /// Pods that keep their nodes from going, since they would find no other.
    pub homeless: Vec<Homeless>,
    /// In how many waves the nodes go.
    pub waves: usize,
    /// How long it takes from now to the end of the last wave; none where no node goes.
    pub lasts: Option<SignedDuration>,
    /// What all nodes cost an hour now, as far as the catalogue knows their price.
    pub before: Price,
    /// What they cost when the last wave has ended.
    pub after: Price,
}

/// A node that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outdated {
    /// The node; its claim's name where it has not joined yet.
    pub node: Text,
    /// Its claim.
    pub claim: Text,
    /// Its pool.
    pub pool: Text,
    /// By what, in words and in one word.
    pub drift: Drift,
    /// Whether it was so before the change.
    pub already: bool,
    /// The pods that move to other nodes.
    pub pods: Vec<PodKey>,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is replaced.
    Goes {
        /// In which wave, from 1.
        wave: usize,
        /// When that begins.
        at: Timestamp,
    },
    /// It goes after the waves that were played.
    Later,
    /// It stays, as long as this does.
    Stays {
        /// What keeps it.
        why: Blocker,
    },
}

impl Forecast {
    /// The nodes that are replaced.
    pub fn replaced(&self) -> impl Iterator<Item = &Outdated> {
        self.nodes
            .iter()
            .filter(|node| !matches!(node.fate, Fate::Stays { .. }))
    }

    /// How many pods move to other nodes.
    pub fn moving(&self) -> usize {
        self.nodes.iter().map(|node| node.pods.len()).sum()
    }
}

/// Forecasts what becomes of `snapshot`, in which the change is made already.
pub fn forecast(mut snapshot: Snapshot, asked: &Asked<'_>, now: Timestamp) -> Forecast {
    let already = drifted(&snapshot);
    let mut drifts = drift::mark(&mut snapshot, asked.catalogue, asked.facts, now);
    set_others_aside(&mut snapshot, &mut drifts, asked.pools);
    let pace = pace::pace(&snapshot, asked.most_waves);
    let waves = drift::waves(&snapshot, asked.catalogue, now, pace);
    Forecast {
        nodes: nodes(&snapshot, &waves, &drifts, &already),
        homeless: homeless::of(&waves, asked.catalogue, now),
        waves: waves.waves.len(),
        lasts: waves.waves.last().map(|last| last.ends.duration_since(now)),
        before: existing_price(&snapshot, asked.catalogue),
        after: existing_price(&waves.after, asked.catalogue),
    }
}

/// The claims whose condition says that they have drifted.
fn drifted(snapshot: &Snapshot) -> BTreeSet<Text> {
    let claims = snapshot.nodes.iter().filter_map(|node| node.claim.as_ref());
    claims
        .filter(|claim| claim.conditions.is_true(DRIFTED))
        .map(|claim| claim.name.clone())
        .collect()
}

/// Nodes of other pools stay as they are, drifted or not: what becomes of them is not the change's doing.
fn set_others_aside(snapshot: &mut Snapshot, drifts: &mut BTreeMap<Text, Drift>, pools: &BTreeSet<Text>) {
    for node in &mut snapshot.nodes {
        if node.pool().is_some_and(|pool| pools.contains(pool)) {
            continue;
        }
        if let Some(claim) = &mut node.claim
            && claim.conditions.is_true(DRIFTED)
        {
            drifts.remove(&claim.name);
            Arc::make_mut(claim).conditions.remove(DRIFTED);
        }
    }
}

/// Every drifted node with what becomes of it.
fn nodes(
    snapshot: &Snapshot,
    waves: &Waves,
    drifts: &BTreeMap<Text, Drift>,
    already: &BTreeSet<Text>,
) -> Vec<Outdated> {
    let outdated = |claim: &Text, node: &Text, pool: &Text, pods, fate| {
        let drift = drifts.get(claim)?.clone();
        Some(Outdated {
            node: node.clone(),
            claim: claim.clone(),
            pool: pool.clone(),
            drift,
            already: already.contains(claim),
            pods,
            fate,
        })
    };
    let mut all: Vec<Outdated> = Vec::new();
    for (index, wave) in waves.waves.iter().enumerate() {
        all.extend(wave.roll.nodes.iter().filter_map(|replace| {
            let fate = Fate::Goes {
                wave: index + 1,
                at: wave.starts,
            };
            let pods = replace.moves.iter().map(|it| it.pod.clone()).collect();
            let doomed = &replace.doomed;
            outdated(&doomed.claim, &doomed.node, &doomed.pool, pods, fate)
        }));
    }
    let going: BTreeSet<Text> = all.iter().map(|it| it.claim.clone()).collect();
    let kept: BTreeMap<&Text, &Blocker> = waves
        .left
        .iter()
        .filter_map(|left| Some((left.claim.as_ref()?, &left.blocker)))
        .collect();
    let mut staying: Vec<Outdated> = snapshot
        .nodes
        .iter()
        .filter_map(|node| {
            let claim = &node.claim.as_ref()?.name;
            if going.contains(claim) {
                return None;
            }
            // A node that is on its way in, or out, is not spoken of by the roll-out.
            let fate = match kept.get(claim) {
                Some(blocker) => Fate::Stays {
                    why: (*blocker).clone(),
                },
                None if node.is_going() => Fate::Stays { why: Blocker::Going },
                None if node.phase() < Phase::Initialized => Fate::Stays {
                    why: Blocker::Uninitialized,
                },
                None => Fate::Later,
            };
            outdated(claim, node.name(), node.pool()?, Vec::new(), fate)
        })
        .collect();
    staying.sort_by(|a, b| a.node.cmp(&b.node));
    all.extend(staying);
    all
}
