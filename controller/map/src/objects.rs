//! All objects together: what a text held becomes the snapshot that decisions look at.

mod around;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_core::catalogue::Catalogue;
use joiner_core::conditions::{INITIALIZED, REGISTERED};
use joiner_core::eviction::needs_another_node;
use joiner_core::resources::Resources;
use joiner_core::snapshot::{
    self, Claim, DaemonSet, NodeObject, Nomination, Pdb, Pod, PodKey, PodState, Pool, Settings, Snapshot,
};
use joiner_core::text::{Labels, Text};
use joiner_core::well_known;

use crate::catalog::{self, CatalogDocument};
use crate::overlay::Overlay;
use crate::pod::PodObject;
use crate::read::{Fault, Item};
use crate::seen::{Key, Seen, Spot, title};
use around::Around;

/// Objects as they were read, each once: the same object may be read again, another one of its name is refused.
#[derive(Debug, Default)]
pub struct Objects {
    seen: Seen,
    pods: BTreeMap<PodKey, Box<PodObject>>,
    nodes: BTreeMap<Text, NodeObject>,
    claims: BTreeMap<Text, Claim>,
    pools: BTreeMap<Text, Pool>,
    classes: BTreeMap<Text, Arc<EC2NodeClass>>,
    overlays: BTreeMap<Text, Overlay>,
    daemon_sets: BTreeMap<Text, DaemonSet>,
    pdbs: BTreeMap<(Text, Text), Pdb>,
    attachments: BTreeSet<(Text, Text)>,
    /// All that stands around these.
    around: BTreeMap<Key, Item>,
    catalog: Option<CatalogDocument>,
    ignored: BTreeMap<String, usize>,
    generated: usize,
}

/// What objects come to.
#[derive(Debug)]
pub struct Parts {
    /// The cluster.
    pub snapshot: Snapshot,
    /// Instance types that came with the objects.
    pub catalog: Option<CatalogDocument>,
    /// Node classes by name.
    pub classes: BTreeMap<Text, Arc<EC2NodeClass>>,
    /// Corrections to the catalogue.
    pub overlays: Vec<Overlay>,
    /// Pods that wait for a gate to be opened, and so for nobody's decision, with the gates.
    pub gated: Vec<(PodKey, Vec<Text>)>,
    /// What was passed over, in words.
    pub notes: Vec<String>,
}

impl Objects {
    /// Takes one object in, which stands at `spot`.
    ///
    /// # Errors
    /// Another object of its name was read before.
    pub(crate) fn take(&mut self, mut item: Item, spot: Spot<'_>) -> Result<(), Fault> {
        if let Item::Pod(pod) = &mut item {
            self.name_pod(pod);
        }
        if let Some(key) = item.key() {
            if let Some(first) = self.seen.get(&key) {
                return match self.holds(&key, &item) {
                    true => Ok(()),
                    false => {
                        let message = format!(
                            "another {} of this name was read from {first}, and the two differ: leave one of them out",
                            key.0
                        );
                        Err(Fault::new("", message).of(title(&key)))
                    }
                };
            }
            self.seen.add(key, spot);
        }
        self.add(item);
        Ok(())
    }

    /// Whether what was read under the name of `item` is the same.
    fn holds(&self, key: &Key, item: &Item) -> bool {
        match item {
            Item::Pod(it) => self.pods.get(&it.pod.key) == Some(it),
            Item::Node(it) => self.nodes.get(&it.name) == Some(&**it),
            Item::Claim(it) => self.claims.get(&it.name) == Some(&**it),
            Item::Pool(it) => self.pools.get(&it.name) == Some(&**it),
            Item::Class(it) => self.classes.get(&key.2).is_some_and(|there| **there == **it),
            Item::Overlay(it) => self.overlays.get(&it.name) == Some(&**it),
            Item::DaemonSet(it) => self.daemon_sets.get(&it.name) == Some(&**it),
            Item::Pdb(it) => self.pdbs.get(&(it.namespace.clone(), it.name.clone())) == Some(&**it),
            around => self.around.get(key) == Some(around),
        }
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Pod(it) => drop(self.pods.insert(it.pod.key.clone(), it)),
            Item::Node(it) => drop(self.nodes.insert(it.name.clone(), *it)),
            Item::Claim(it) => drop(self.claims.insert(it.name.clone(), *it)),
            Item::Pool(it) => drop(self.pools.insert(it.name.clone(), *it)),
            Item::Class(it) => {
                self.classes
                    .insert(crate::text(it.metadata.name.as_ref()), Arc::new(*it));
            }
            Item::Overlay(it) => drop(self.overlays.insert(it.name.clone(), *it)),
            Item::DaemonSet(it) => drop(self.daemon_sets.insert(it.name.clone(), *it)),
            Item::Pdb(it) => drop(self.pdbs.insert((it.namespace.clone(), it.name.clone()), *it)),
            Item::Attachment(it) => {
                self.attachments.insert(it);
            }
            Item::Catalog(it) => match &mut self.catalog {
                Some(there) => there.add(*it),
                none => *none = Some(*it),
            },
            Item::Ignored(kind) => self.ignore(&kind),
            around => {
                if let Item::Workload("Deployment", ..) = around {
                    self.ignore("Deployment");
                }
                let key = around.key();
                self.around.extend(key.map(|key| (key, around)));
            }
        }
    }

    /// Several pods with a generated name have the same one until now.
    fn name_pod(&mut self, object: &mut PodObject) {
        if object.pod.key.name.ends_with('-') {
            self.generated += 1;
            object.pod.key.name = format!("{}{:05}", object.pod.key.name, self.generated).into();
        }
        if object.pod.uid.is_empty() {
            object.pod.uid = object.pod.key.to_string().into();
        }
    }

    fn ignore(&mut self, kind: &str) {
        *self.ignored.entry(kind.to_owned()).or_default() += 1;
    }

    /// Whether nothing at all was read, not even what does not matter.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
            && self.attachments.is_empty()
            && self.catalog.is_none()
            && self.ignored.is_empty()
    }

    /// How many pods, nodes and pools were read.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.pods.len(), self.nodes.len(), self.pools.len())
    }

    /// Takes the pools of `other`, in place of those of the same name; whatever else it holds is left.
    pub fn replace_pools(&mut self, other: Objects) -> usize {
        let count = other.pools.len();
        self.pools.extend(other.pools);
        count
    }

    /// Takes a node and its claim away, as if they were not there; the pods on it that would need another wait for one. False
    /// where there is no such node or claim.
    pub fn remove_node(&mut self, name: &str) -> bool {
        let node = self.nodes.remove(name);
        let provider = node.as_ref().and_then(|node| node.provider_id.clone());
        let before = self.claims.len();
        let mut others: Vec<Text> = Vec::new();
        self.claims.retain(|_, claim| {
            let same = &*claim.name == name
                || claim.node_name.as_deref() == Some(name)
                || (provider.is_some() && claim.provider_id == provider);
            if same {
                others.extend(claim.node_name.clone());
            }
            !same
        });
        for other in &others {
            self.nodes.remove(other);
        }
        let gone = node.is_some() || self.claims.len() < before;
        let on_it = |node: Option<&Text>| node.is_some_and(|it| &**it == name || others.contains(it));
        self.pods.retain(|_, object| {
            if !on_it(object.node.as_ref()) {
                return true;
            }
            // Who owns it is looked up only later.
            let owner = object.open.owner.as_ref();
            let stateful = owner.is_some_and(|(kind, _)| **kind == *"StatefulSet");
            let moves = needs_another_node(&object.pod) || (stateful && object.pod.is_running());
            object.node = None;
            object.pod.state = PodState::Unschedulable;
            object.pod.deletion = None;
            object.open.devices.iter_mut().for_each(|claim| claim.lost = true);
            moves
        });
        gone
    }

    /// Puts everything together. `now` is when pods that stand for capacity buffers are taken to be made.
    pub fn finish(mut self, mut settings: Settings, now: Timestamp) -> Parts {
        let mut around = Around::of(std::mem::take(&mut self.around));
        self.pods
            .keys()
            .for_each(|key| around.surroundings.namespace_named(&key.namespace));
        if !around.default_spread.is_empty() {
            settings.default_spread = std::mem::take(&mut around.default_spread);
        }
        let mut notes = self.notes();
        let mut parts = snapshot::Parts::default();
        let mut pending = Vec::new();
        let mut gated = Vec::new();
        let mut lost = 0;
        self.measure_daemons();
        let in_flight: BTreeSet<Text> = self.nodes.keys().chain(self.claims.keys()).cloned().collect();
        let objects = std::mem::take(&mut self.pods);
        let mut pods: Vec<(Box<PodObject>, Option<Text>)> = Vec::with_capacity(objects.len());
        for (_, mut object) in objects {
            if object.pod.state == PodState::Done {
                continue;
            }
            if !object.open.is_closed() {
                around.surroundings.complete(&mut object.pod, &object.open);
            }
            let node = object.node.take();
            pods.push((object, node));
        }
        count_replicas(&mut pods);
        for (object, node) in pods {
            let PodObject { mut pod, open, .. } = *object;
            if let Some(node) = node {
                if self.nodes.contains_key(&node) {
                    parts.bound.push((node, Arc::new(pod)));
                } else {
                    lost += 1;
                }
                continue;
            }
            let nominated = open.nominated_node.filter(|node| in_flight.contains(node));
            if !open.gates.is_empty() {
                pod.state = PodState::Waiting;
                gated.push((pod.key.clone(), open.gates));
            } else if let Some(place) = nominated {
                pod.state = PodState::Waiting;
                parts.nominations.push(Nomination {
                    place,
                    pod: pod.key.clone(),
                    until: Timestamp::MAX,
                });
            } else {
                pod.state = PodState::Unschedulable;
            }
            pending.push(Arc::new(pod));
        }
        if lost > 0 {
            notes.push(format!(
                "{lost} pods are bound to nodes that are not in the input; they are left out"
            ));
        }
        pending.extend(around.buffer_pods(now, &mut notes).into_iter().map(Arc::new));
        self.join_by_name();
        parts.claims = self.claims.into_values().map(Arc::new).collect();
        parts.nodes = self.nodes.into_values().map(Arc::new).collect();
        parts.attachments = self.attachments.into_iter().collect();
        let mut nodes = snapshot::join(parts);
        let mut devices = around.surroundings.devices.by_node();
        for node in &mut nodes {
            let Some(name) = node.object.as_ref().map(|object| object.name.clone()) else {
                continue;
            };
            node.attach_limits = around.attach_limits.remove(&name).unwrap_or_default();
            node.devices = devices.remove(&name).unwrap_or_default();
        }
        Parts {
            snapshot: Snapshot {
                pools: self.pools.into_values().map(Arc::new).collect(),
                nodes,
                daemon_sets: self.daemon_sets.into_values().map(Arc::new).collect(),
                pending,
                pdbs: self.pdbs.into_values().map(Arc::new).collect(),
                settings,
            },
            catalog: self.catalog,
            classes: self.classes,
            overlays: self.overlays.into_values().collect(),
            gated,
            notes,
        }
    }

    fn notes(&self) -> Vec<String> {
        let note = |(kind, count): (&String, &usize)| {
            let hint = match kind.as_str() {
                "Deployment" => ": pods are placed, not what would make them",
                "Provisioner" | "AWSNodeTemplate" => ": run `joiner migrate`, which converts it",
                _ => "",
            };
            format!("{count} x {kind} ignored{hint}")
        };
        self.ignored.iter().map(note).collect()
    }

    /// What a DaemonSet's newest pod asks for counts for those to come: defaults of the namespace may have been added to it.
    fn measure_daemons(&mut self) {
        let mut newest: BTreeMap<Text, &Pod> = BTreeMap::new();
        for object in self.pods.values() {
            let PodObject { pod, open, .. } = &**object;
            let Some(set) = &open.daemon_set else { continue };
            let name = Text::from(format!("{}/{set}", pod.key.namespace));
            let known = newest.entry(name).or_insert(pod);
            if (pod.created, &pod.key) > (known.created, &known.key) {
                *known = pod;
            }
        }
        for (name, pod) in newest {
            if let Some(set) = self.daemon_sets.get_mut(&name) {
                set.requests = pod.requests.clone();
            }
        }
    }

    /// A claim and a node written by hand may be one by name alone: gives both the same provider id. How far the node has come
    /// may be said by the claim's conditions alone: gives the node the labels that go with them.
    fn join_by_name(&mut self) {
        for claim in self.claims.values_mut() {
            let Some(node) = claim.node_name.as_ref().and_then(|name| self.nodes.get_mut(name)) else {
                continue;
            };
            let complete = claim.conditions.is_true(INITIALIZED);
            for (label, reached) in [
                (well_known::INITIALIZED, complete),
                (
                    well_known::REGISTERED,
                    complete || claim.conditions.is_true(REGISTERED),
                ),
            ] {
                if reached {
                    node.labels.entry(label.into()).or_insert_with(|| "true".into());
                }
            }
            match (&claim.provider_id, &node.provider_id) {
                (None, Some(id)) => claim.provider_id = Some(id.clone()),
                (Some(id), None) => node.provider_id = Some(id.clone()),
                (None, None) => {
                    let id: Text = format!("input:///{}", node.name).into();
                    claim.provider_id = Some(id.clone());
                    node.provider_id = Some(id);
                }
                (Some(_), Some(_)) => {}
            }
        }
    }
}

/// Workloads whose object is not in the input have as many replicas as they have pods there.
fn count_replicas(pods: &mut [(Box<PodObject>, Option<Text>)]) {
    let mut counts: BTreeMap<Text, u32> = BTreeMap::new();
    for (object, _) in pods.iter() {
        if let Some(workload) = object.pod.workload.as_ref().filter(|it| it.replicas == 0) {
            *counts.entry(workload.name.clone()).or_default() += 1;
        }
    }
    for (object, _) in pods {
        if let Some(workload) = object.pod.workload.as_mut().filter(|it| it.replicas == 0) {
            workload.replicas = counts.get(&workload.name).copied().unwrap_or(0);
        }
    }
}

impl Parts {
    /// Gives nodes and launched claims that name their instance type and not their size the size of that type.
    pub fn fill_nodes(&mut self, catalogue: &Catalogue) {
        for node in &mut self.snapshot.nodes {
            if let Some(object) = node.object.as_ref().filter(|it| it.capacity.is_empty())
                && let Some((capacity, allocatable)) = size(&object.labels, catalogue)
            {
                node.object = Some(Arc::new(NodeObject {
                    capacity,
                    allocatable,
                    ..NodeObject::clone(object)
                }));
            }
            if let Some(claim) = node.claim.as_ref().filter(|it| it.capacity.is_empty())
                && claim.provider_id.is_some()
                && let Some((capacity, allocatable)) = size(&claim.labels, catalogue)
            {
                node.claim = Some(Arc::new(Claim {
                    capacity,
                    allocatable,
                    ..Claim::clone(claim)
                }));
            }
        }
    }
}

/// Capacity, and what is left of it for pods, of the instance type that labels name.
fn size(labels: &Labels, catalogue: &Catalogue) -> Option<(Resources, Resources)> {
    let (capacity, allocatable) = catalog::find(catalogue, labels.get(well_known::INSTANCE_TYPE)?)?;
    Some((capacity.clone(), allocatable))
}
