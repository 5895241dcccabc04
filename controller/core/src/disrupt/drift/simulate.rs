//! Where the pods of nodes that are to go would find a place: the scheduler's own answer on a snapshot in which they go.
//!
//! Pods that wait for other reasons are left out, since the provisioner decides on them; those that are promised a place keep it. What a
//! budget or an annotation forbids to move counts as moving: it will, at the latest when the grace of its node ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::roll::{Move, Place};
use crate::catalogue::Catalogue;
use crate::check::{self, Violation};
use crate::conditions::DRIFTED;
use crate::eviction::{disrupted_taint, needs_another_node};
use crate::explain;
use crate::schedule::{NewClaim, Schedule, schedule};
use crate::snapshot::{DoNotDisrupt, Node, PodKey, Snapshot};
use crate::text::Text;

/// What becomes of the other nodes that have drifted and stay for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others<'a> {
    /// They take no pods: whoever moves there moves again.
    Closed,
    /// They do, but for these, by claim, which go too.
    OpenBut(&'a BTreeSet<Text>),
}

/// Places for the pods of nodes that go.
#[derive(Debug, Default)]
pub(super) struct Simulation {
    /// Claims to make for them.
    pub(super) claims: Vec<NewClaim>,
    /// By the claim of each node that goes: where its pods go, or the first that finds no place and why.
    pub(super) places: BTreeMap<Text, Result<Vec<Move>, (PodKey, String)>>,
    /// What the audit has against the answer.
    pub(super) violations: Vec<Violation>,
}

/// Has the nodes behind `going`, by the names of their claims, go.
pub(super) fn simulate(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    going: &BTreeSet<Text>,
    others: Others<'_>,
    now: Timestamp,
) -> Simulation {
    let world = without(snapshot, going, others);
    let plan = schedule(&world, catalogue, now);
    let violations = check::schedule(&world, catalogue, &plan, now);
    let mut simulation = read(&world, &plan, going);
    simulation.violations = violations;
    simulation
}

fn is_chosen(node: &Node, going: &BTreeSet<Text>) -> bool {
    node.claim
        .as_ref()
        .is_some_and(|claim| going.contains(&claim.name))
}

/// The snapshot in which they go.
fn without(snapshot: &Snapshot, going: &BTreeSet<Text>, others: Others<'_>) -> Snapshot {
    let mut world = snapshot.clone();
    world.pdbs.clear();
    let promised: BTreeSet<PodKey> = world
        .nodes
        .iter()
        .flat_map(|node| node.nominated.iter().cloned())
        .collect();
    world.pending.retain(|pod| promised.contains(&pod.key));
    for node in &mut world.nodes {
        if is_chosen(node, going) {
            node.marked_for_deletion = true;
        }
        if node.is_going() {
            for pod in &mut node.pods {
                if pod.do_not_disrupt != DoNotDisrupt::No {
                    Arc::make_mut(pod).do_not_disrupt = DoNotDisrupt::No;
                }
            }
            continue;
        }
        let closed = node.claim.as_ref().is_some_and(|claim| match others {
            Others::Closed => claim.conditions.is_true(DRIFTED),
            Others::OpenBut(these) => these.contains(&claim.name),
        });
        if let (true, Some(object)) = (closed, &mut node.object) {
            Arc::make_mut(object).taints.push(disrupted_taint());
        }
    }
    world
}

/// The answer by node; claims that serve none of these nodes are for somebody else to make.
fn read(world: &Snapshot, plan: &Schedule, going: &BTreeSet<Text>) -> Simulation {
    let mut at: BTreeMap<&PodKey, Place> = BTreeMap::new();
    for (name, pods) in &plan.existing {
        at.extend(pods.iter().map(|pod| (pod, Place::There(name.clone()))));
    }
    let chosen = || world.nodes.iter().filter(|node| is_chosen(node, going));
    let moving: BTreeSet<&PodKey> = chosen()
        .flat_map(|node| &node.pods)
        .filter(|pod| needs_another_node(pod))
        .map(|pod| &pod.key)
        .collect();
    let mut simulation = Simulation::default();
    for claim in &plan.new_claims {
        if claim.pods.iter().any(|pod| moving.contains(pod)) {
            let index = simulation.claims.len();
            at.extend(claim.pods.iter().map(|pod| (pod, Place::New(index))));
            simulation.claims.push(claim.clone());
        }
    }
    for node in chosen() {
        let Some(claim) = &node.claim else { continue };
        let leaving = node.pods.iter().filter(|pod| needs_another_node(pod));
        let place =
            |pod: &Arc<crate::snapshot::Pod>| match (at.get(&pod.key), plan.unschedulable.get(&pod.key)) {
                (Some(to), _) => Ok(Move {
                    pod: pod.key.clone(),
                    to: to.clone(),
                }),
                (None, Some(refusal)) => Err((pod.key.clone(), explain::refusal(refusal))),
                (None, None) => Err((pod.key.clone(), "it was not decided on".to_owned())),
            };
        let places = leaving.map(place).collect();
        simulation.places.insert(claim.name.clone(), places);
    }
    simulation
}
