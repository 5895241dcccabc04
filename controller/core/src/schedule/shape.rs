//! Pods that are alike are decided on together: same requests, same wishes, one question.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::misfit::Misfit;
use super::topology;
use crate::eviction::{guards, needs_another_node};
use crate::requirements::{Requirement, Requirements};
use crate::resources::{ResourceName, Resources};
use crate::snapshot::{NodeTerm, Placement, Pod, PodKey, PodTerm, Snapshot, Strength};
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
    /// Whether it is bound to other pods, or some pod wants to be apart from it; it then opens claims for itself.
    pub(super) alone: bool,
}

/// What pods are grouped by, in the order in which groups are decided on: most important first, then those that are
/// hardest to place.
type Key<'a> = (
    std::cmp::Reverse<(i32, i64, i64)>,
    &'a Resources,
    &'a Placement,
    Option<(&'a Text, &'a Labels)>,
);

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
    let to_decide = || pending.clone().chain(moving.clone());
    let running = snapshot
        .nodes
        .iter()
        .flat_map(|node| &node.pods)
        .map(|pod| &**pod);
    let apart: Vec<&PodTerm> = to_decide()
        .chain(running)
        .flat_map(|pod| &pod.placement.anti_affinity)
        .collect();
    let bound = !apart.is_empty() || to_decide().any(|pod| topology::is_bound(&pod.placement));

    let mut groups: BTreeMap<Key<'a>, Vec<&'a Pod>> = BTreeMap::new();
    for pod in to_decide().filter(|pod| !nominated.contains(&pod.key)) {
        let identity = bound.then_some((&pod.key.namespace, &pod.labels));
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
            shape(pods, &apart)
        })
        .collect()
}

fn shape<'a>(pods: Vec<&'a Pod>, apart: &[&PodTerm]) -> Option<Shape<'a>> {
    let first = *pods.first()?;
    let placement = &first.placement;
    let mut refusal = unsupported(placement);
    let alternatives = alternatives(placement);
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
    let alone = topology::is_bound(placement) || apart.iter().any(|term| topology::means(term, first));
    let relaxed = relaxed(placement);
    Some(Shape {
        requests: &first.requests,
        placement,
        alternatives,
        refusal,
        relaxed,
        alone,
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

/// What a placement asks for that no node can give.
fn unsupported(placement: &Placement) -> Vec<Misfit> {
    placement
        .unsupported
        .iter()
        .map(|what| Misfit::Unsupported { what: what.clone() })
        .collect()
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

impl<'a> Shape<'a> {
    /// Some of its pods, of whose node more is asked.
    pub(super) fn part(&self, pods: Vec<&'a Pod>, more: &[Requirement]) -> Shape<'a> {
        let narrowed = |all: &Requirements| {
            more.iter().fold(all.clone(), |mut all, one| {
                all.add(one.clone());
                all
            })
        };
        Shape {
            pods,
            requests: self.requests,
            placement: self.placement,
            alternatives: self.alternatives.iter().map(narrowed).collect(),
            refusal: Vec::new(),
            relaxed: [].into(),
            alone: true,
        }
    }
}
