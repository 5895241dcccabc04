//! Pods that are alike are decided on together: same requests, same wishes, one question.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::misfit::Misfit;
use crate::eviction::{guards, needs_another_node};
use crate::requirements::{Requirement, Requirements};
use crate::resources::{ResourceName, Resources};
use crate::snapshot::{Node, NodeTerm, Placement, Pod, PodKey, PodTerm, Snapshot, Strength};
use crate::text::{Labels, Text};

/// Pods that are alike, oldest first.
pub(super) struct Shape<'a> {
    pub(super) pods: Vec<&'a Pod>,
    pub(super) requests: &'a Resources,
    pub(super) placement: &'a Placement,
    /// What a node's labels must be: one of these must hold. The first that works is taken.
    pub(super) alternatives: Vec<Requirements>,
    /// Why no node can be found whatever there is; nothing where one may.
    pub(super) refusal: Vec<Misfit>,
    /// Wishes that are not looked at.
    pub(super) relaxed: Arc<[Text]>,
}

/// What pods are grouped by, in the order in which groups are decided on: most important first, then those that are
/// hardest to place.
type Key<'a> = (
    std::cmp::Reverse<(i32, i64, i64)>,
    &'a Resources,
    &'a Placement,
    Option<(&'a Text, &'a Labels)>,
);

/// A running pod that keeps others away from its place.
struct Repeller<'a> {
    term: &'a PodTerm,
    place: &'a Text,
}

/// The pods to decide on, grouped, in the order of decision. These are pending pods that no earlier decision has sent
/// somewhere, and the movable pods of nodes that go.
pub(super) fn shapes<'a>(snapshot: &'a Snapshot, now: Timestamp) -> Vec<Shape<'a>> {
    let nominated: BTreeSet<&PodKey> = snapshot
        .nodes
        .iter()
        .filter(|node| !node.is_going())
        .flat_map(|node| &node.nominated)
        .collect();
    let pending = snapshot
        .pending
        .iter()
        .map(|pod| &**pod)
        .filter(|pod| pod.is_provisionable());
    let moving = snapshot
        .nodes
        .iter()
        .filter(|node| node.is_going())
        .flat_map(|node| &node.pods)
        .map(|pod| &**pod)
        .filter(|pod| moves(pod, snapshot, now));
    let repellers = repellers(snapshot);

    let mut groups: BTreeMap<Key<'a>, Vec<&'a Pod>> = BTreeMap::new();
    for pod in pending.chain(moving).filter(|pod| !nominated.contains(&pod.key)) {
        let identity = (!repellers.is_empty()).then_some((&pod.key.namespace, &pod.labels));
        let size = (
            pod.priority,
            pod.requests.get(&ResourceName::Cpu),
            pod.requests.get(&ResourceName::Memory),
        );
        groups
            .entry((std::cmp::Reverse(size), &pod.requests, &pod.placement, identity))
            .or_default()
            .push(pod);
    }
    groups
        .into_values()
        .filter_map(|mut pods| {
            pods.sort_by(|a, b| (a.created, &a.key).cmp(&(b.created, &b.key)));
            pods.dedup_by(|a, b| a.key == b.key);
            shape(pods, &repellers)
        })
        .collect()
}

fn shape<'a>(pods: Vec<&'a Pod>, repellers: &[Repeller<'a>]) -> Option<Shape<'a>> {
    let first = *pods.first()?;
    let placement = &first.placement;
    let mut refusal = unsupported(placement);
    let mut alternatives = alternatives(placement);
    if alternatives.is_empty() {
        let what = match placement
            .node_affinity
            .iter()
            .flatten()
            .any(|term| !term.fields.is_empty())
        {
            true => "required node affinity by matchFields names a node that is there already",
            false => "required node affinity without a term that can match",
        };
        refusal.push(Misfit::Unsupported { what: what.into() });
    }
    let mut kept_away: BTreeMap<&Text, BTreeSet<&Text>> = BTreeMap::new();
    for repeller in repellers.iter().filter(|it| repels(it, first)) {
        kept_away
            .entry(&repeller.term.topology_key)
            .or_default()
            .insert(repeller.place);
    }
    for (key, places) in kept_away {
        let elsewhere = Requirement::is_not_in(key.clone(), places.into_iter().cloned());
        alternatives.iter_mut().for_each(|all| all.add(elsewhere.clone()));
    }
    let relaxed = relaxed(placement);
    Some(Shape {
        requests: &first.requests,
        placement,
        alternatives,
        refusal,
        relaxed,
        pods,
    })
}

/// Whether a pod of a node that goes will look for another node.
fn moves(pod: &Pod, snapshot: &Snapshot, now: Timestamp) -> bool {
    needs_another_node(pod)
        && !pod.refuses_disruption(now)
        && guards(pod, snapshot).all(|pdb| pdb.disruptions_allowed > 0)
}

/// The label requirements of a placement: its selector, with one term of its affinity and one alternative of each
/// volume.
fn alternatives(placement: &Placement) -> Vec<Requirements> {
    let selector = Requirements::from_labels(&placement.node_selector);
    let usable = |term: &&NodeTerm| term.fields.is_empty() && !term.expressions.is_empty();
    let mut all: Vec<Requirements> = match &placement.node_affinity {
        None => vec![selector],
        Some(terms) => terms
            .iter()
            .filter(usable)
            .map(|term| selector.and(&term.expressions))
            .collect(),
    };
    for volume in placement
        .volumes
        .iter()
        .filter(|volume| !volume.alternatives.is_empty())
    {
        all = all
            .iter()
            .flat_map(|one| volume.alternatives.iter().map(|place| one.and(place)))
            .collect();
    }
    all.dedup();
    all
}

/// What a placement asks for that is not decided on yet. Refusing is better than a node on which the scheduler will
/// not put the pod.
fn unsupported(placement: &Placement) -> Vec<Misfit> {
    let because = |what: String| Misfit::Unsupported { what: what.into() };
    let mut all: Vec<Misfit> = placement
        .unsupported
        .iter()
        .map(|what| because(what.to_string()))
        .collect();
    let required = placement
        .spread
        .iter()
        .filter(|spread| spread.strength == Strength::Required);
    all.extend(
        required.map(|spread| because(format!("required topology spread over {}", spread.topology_key))),
    );
    all.extend(
        placement
            .affinity
            .iter()
            .map(|term| because(format!("required pod affinity on {}", term.topology_key))),
    );
    all.extend(
        placement
            .anti_affinity
            .iter()
            .map(|term| because(format!("required pod anti-affinity on {}", term.topology_key))),
    );
    all
}

fn relaxed(placement: &Placement) -> Arc<[Text]> {
    let wishes = [
        (
            "preferred node affinity",
            !placement.preferred_node_affinity.is_empty(),
        ),
        ("preferred pod affinity", !placement.preferred_affinity.is_empty()),
        (
            "preferred pod anti-affinity",
            !placement.preferred_anti_affinity.is_empty(),
        ),
        (
            "topology spread with ScheduleAnyway",
            placement
                .spread
                .iter()
                .any(|it| it.strength == Strength::Preferred),
        ),
    ];
    wishes
        .into_iter()
        .filter(|(_, there)| *there)
        .map(|(wish, _)| Text::from(wish))
        .collect()
}

fn repellers(snapshot: &Snapshot) -> Vec<Repeller<'_>> {
    let of_node = |node: &'_ Node| node.labels().is_some() && !node.is_going();
    let mut all = Vec::new();
    for node in snapshot.nodes.iter().filter(|node| of_node(node)) {
        let Some(labels) = node.labels() else { continue };
        for pod in node.pods.iter().filter(|pod| pod.is_running()) {
            for term in &pod.placement.anti_affinity {
                let Some(place) = labels.get(&term.topology_key) else {
                    continue;
                };
                all.push(Repeller { term, place });
            }
        }
    }
    all
}

fn repels(repeller: &Repeller<'_>, pod: &Pod) -> bool {
    let namespaces = repeller.term.namespaces.as_ref();
    namespaces.is_none_or(|all| all.contains(&pod.key.namespace))
        && repeller.term.selector.selects(&pod.labels)
}
