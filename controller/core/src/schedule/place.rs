//! Places that are there: nodes, and claims on their way.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::offer::{possible_types, suits};
use super::shape::Shape;
use super::topology::{self, Site};
use crate::catalogue::{Catalogue, InstanceType};
use crate::launch::values_of;
use crate::requirements::{Absence, Requirement, Requirements, Undefined, Values};
use crate::resources::Resources;
use crate::snapshot::{HostPort, Node, Owner, Phase, Pod, PodKey, Snapshot};
use crate::taints::{Taint, untolerated};
use crate::text::Text;
use crate::well_known;

/// A node or a claim, and what is left on it.
pub(super) struct Place<'a> {
    pub(super) name: &'a Text,
    pub(super) pods: Vec<PodKey>,
    phase: Phase,
    labels: Requirements,
    taints: Vec<Taint>,
    free: Resources,
    ports: Vec<HostPort>,
    /// The pods that are here, promised, or sent here in this round.
    there: Vec<&'a Pod>,
    /// For a claim without an instance: what it may become.
    types: Vec<&'a InstanceType>,
}

/// The places that may take pods, in the order in which they are asked: complete nodes first, then by how far they
/// have come, then by name.
pub(super) fn places<'a>(snapshot: &'a Snapshot, catalogue: &'a Catalogue) -> Vec<Place<'a>> {
    let leaving = snapshot
        .nodes
        .iter()
        .filter(|node| node.is_going())
        .flat_map(|node| &node.pods);
    let waiting: BTreeMap<&PodKey, &'a Pod> = leaving
        .chain(&snapshot.pending)
        .filter(|pod| pod.deletion.is_none())
        .map(|pod| (&pod.key, &**pod))
        .collect();
    let mut places: Vec<Place<'a>> = snapshot
        .nodes
        .iter()
        .filter(|node| !node.is_going())
        .filter_map(|node| Place::new(node, snapshot, catalogue, &waiting))
        .collect();
    places.sort_by(|a, b| (Reverse(a.phase), a.name).cmp(&(Reverse(b.phase), b.name)));
    places
}

impl<'a> Place<'a> {
    fn new(
        node: &'a Node,
        snapshot: &'a Snapshot,
        catalogue: &'a Catalogue,
        waiting: &BTreeMap<&PodKey, &'a Pod>,
    ) -> Option<Place<'a>> {
        let (phase, labels, taints) = (node.phase(), node.requirements(), node.taints());
        let undefined = if phase == Phase::Planned {
            Undefined::WellKnownOpen
        } else {
            Undefined::Missing
        };
        let daemons = snapshot
            .daemon_sets
            .iter()
            .filter(|daemon| suits(daemon, &labels, &taints, undefined));
        let (mut expected, mut ports) = (Resources::new(), Vec::new());
        for daemon in daemons {
            expected.add(&daemon.requests);
            ports.extend(daemon.placement.host_ports.iter().cloned());
        }
        let there: Resources = node
            .pods
            .iter()
            .filter(|pod| pod.is_running() && pod.owner == Owner::DaemonSet)
            .map(|pod| &pod.requests)
            .sum();
        let mut taken = node.used().plus(&expected.minus(&there).at_least_zero());
        let mut company: Vec<&'a Pod> = node
            .pods
            .iter()
            .map(|pod| &**pod)
            .filter(|pod| pod.is_running())
            .collect();
        // What earlier decisions sent here and has not come yet.
        let here = |key: &&PodKey| node.pods.iter().any(|pod| pod.key == **key);
        for pod in node
            .nominated
            .iter()
            .filter(|key| !here(key))
            .filter_map(|key| waiting.get(key).copied())
        {
            taken.add(&pod.requests);
            ports.extend(pod.placement.host_ports.iter().cloned());
            company.push(pod);
        }
        ports.extend(
            node.pods
                .iter()
                .flat_map(|pod| pod.placement.host_ports.iter().cloned()),
        );

        let types: Vec<&InstanceType> = if phase == Phase::Planned {
            possible_types(node, catalogue).collect()
        } else {
            Vec::new()
        };
        let allocatable = match (phase, &node.claim) {
            (Phase::Planned, Some(claim)) => {
                taken = taken.upper(&claim.requests);
                types
                    .iter()
                    .map(|it| it.allocatable())
                    .reduce(|all, it| all.lower(&it))?
            }
            _ => node.allocatable(),
        };
        let free = allocatable.minus(&taken);
        Some(Place {
            name: node.name(),
            pods: Vec::new(),
            phase,
            labels,
            taints,
            free,
            ports,
            there: company,
            types,
        })
    }

    /// Takes as many of `pods` as fit, which are alike; how many. For `lonely` see [`topology::room`].
    pub(super) fn take(&mut self, shape: &Shape<'_>, pods: &[&'a Pod], lonely: bool) -> usize {
        if !shape.requests.fits(&self.free) || !self.accepts(shape) {
            return 0;
        }
        let ports = &shape.placement.host_ports;
        let room = if shape.alone {
            topology::room(shape, &self.there, lonely)
        } else {
            usize::MAX
        };
        let mut taken = 0;
        for pod in pods.iter().take(room) {
            let collides = ports
                .iter()
                .any(|port| self.ports.iter().any(|there| there.conflicts(port)));
            if collides || !shape.requests.fits(&self.free) {
                break;
            }
            self.free = self.free.minus(shape.requests);
            self.ports.extend(ports.iter().cloned());
            self.pods.push(pod.key.clone());
            self.there.push(pod);
            taken += 1;
        }
        taken
    }

    /// The place as rules over the labels `keys` see it.
    pub(super) fn site(&self, shape: &Shape<'_>, keys: &BTreeSet<&'a Text>) -> Site<'a> {
        let values = |key: &Text| match (self.labels.get(key).map(Requirement::values), self.phase) {
            (Some(Values::Only(values)), _) => values.clone(),
            (_, Phase::Planned) => self
                .types
                .iter()
                .flat_map(|it| values_of(it, key))
                .cloned()
                .collect(),
            _ => BTreeSet::new(),
        };
        Site {
            pods: self.there.clone(),
            values: keys
                .iter()
                .map(|key| (*key, values(key)))
                .filter(|(_, values)| !values.is_empty())
                .collect(),
            suits: self.suits_labels(shape),
            borne: self.bears(shape),
        }
    }

    pub(super) fn there(&self) -> &[&'a Pod] {
        &self.there
    }

    /// Whether one pod of the shape could be here, room aside.
    pub(super) fn accepts(&self, shape: &Shape<'_>) -> bool {
        self.bears(shape) && self.suits_labels(shape)
    }

    fn bears(&self, shape: &Shape<'_>) -> bool {
        !untolerated(&self.taints, &shape.placement.tolerations).any(Taint::is_hard)
    }

    fn suits_labels(&self, shape: &Shape<'_>) -> bool {
        shape.alternatives.iter().any(|wanted| match self.phase {
            Phase::Planned => self.promises(wanted),
            _ => self.labels.is_compatible(wanted, Undefined::Missing),
        })
    }

    /// Whether whatever the claim becomes satisfies `wanted`.
    fn promises(&self, wanted: &Requirements) -> bool {
        wanted.iter().all(|wanted| match self.labels.get(wanted.key()) {
            Some(mine) if mine.single().is_some() => mine.implies(wanted),
            mine => self.types.iter().all(|it| {
                let Some(of_type) = it.requirements.get(wanted.key()) else {
                    return false;
                };
                let left = mine.map_or_else(|| of_type.clone(), |mine| of_type.intersect(mine));
                // Of a label with several values left an offering picks one; else it may stay away.
                let there = left.single().is_some() || well_known::is_said_by_offerings(wanted.key());
                (there || wanted.absence() == Absence::Allowed) && left.implies(wanted)
            }),
        })
    }
}
