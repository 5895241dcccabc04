//! The objects around pods, and what they tell about a pod.
//!
//! Input: objects of the API, one by one, in any order. Output: pods as decisions want them. Nothing is looked up elsewhere:
//! the same objects give the same pods.

use std::collections::BTreeMap;

use joiner_core::snapshot::{Owner, Pod, PodTerm, VolumeNeed, Workload};
use joiner_core::text::{Labels, Text};
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::StorageClass;

use crate::devices::DeviceObjects;
use crate::open::{NamespaceRef, Open, TermList, VolumeRef};
use crate::volumes::{self, Claim, Class, Volume};
use crate::workload::{ServiceObject, WorkloadKey, WorkloadObject, default_selector};

/// Namespace and name.
type Key = (Text, Text);

/// What is known of the objects around pods.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    namespaces: BTreeMap<Text, Labels>,
    claims: BTreeMap<Key, Claim>,
    volumes: BTreeMap<Text, Volume>,
    classes: BTreeMap<Text, Class>,
    priorities: BTreeMap<Text, (i32, bool)>,
    workloads: BTreeMap<WorkloadKey, WorkloadObject>,
    services: BTreeMap<Key, ServiceObject>,
    /// Claims, templates and classes of devices.
    pub devices: DeviceObjects,
}

/// The priorities that every cluster has.
const SYSTEM: [(&str, i32); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

impl Surroundings {
    /// A Namespace was made or has changed.
    pub fn namespace(&mut self, object: &k8s::Namespace) {
        let name = crate::text(object.metadata.name.as_ref());
        self.namespaces
            .insert(name, crate::labels(object.metadata.labels.as_ref()));
    }

    /// A PersistentVolumeClaim was made or has changed.
    pub fn volume_claim(&mut self, object: &k8s::PersistentVolumeClaim) {
        let key = key(
            object.metadata.namespace.as_deref(),
            object.metadata.name.as_deref(),
        );
        self.claims.insert(key, volumes::claim(object));
    }

    /// A PersistentVolume was made or has changed.
    pub fn volume(&mut self, object: &k8s::PersistentVolume) {
        let name = crate::text(object.metadata.name.as_ref());
        self.volumes.insert(name, volumes::volume(object));
    }

    /// A StorageClass was made or has changed.
    pub fn storage_class(&mut self, object: &StorageClass) {
        let name = crate::text(object.metadata.name.as_ref());
        self.classes.insert(name, volumes::class(object));
    }

    /// A PriorityClass was made or has changed.
    pub fn priority_class(&mut self, object: &PriorityClass) {
        let name = crate::text(object.metadata.name.as_ref());
        self.priorities
            .insert(name, (object.value, object.global_default == Some(true)));
    }

    /// A ReplicaSet, StatefulSet or Job was made or has changed.
    pub fn workload(&mut self, object: WorkloadObject) {
        self.workloads.insert(object.key.clone(), object);
    }

    /// A Service was made or has changed.
    pub fn service(&mut self, object: ServiceObject) {
        self.services
            .insert((object.namespace.clone(), object.name.clone()), object);
    }

    /// A Namespace is gone.
    pub fn namespace_gone(&mut self, name: &str) {
        self.namespaces.remove(name);
    }

    /// A PersistentVolumeClaim is gone.
    pub fn volume_claim_gone(&mut self, namespace: &str, name: &str) {
        self.claims.remove(&(namespace.into(), name.into()));
    }

    /// A PersistentVolume is gone.
    pub fn volume_gone(&mut self, name: &str) {
        self.volumes.remove(name);
    }

    /// A StorageClass is gone.
    pub fn storage_class_gone(&mut self, name: &str) {
        self.classes.remove(name);
    }

    /// A workload is gone.
    pub fn workload_gone(&mut self, kind: &str, namespace: &str, name: &str) {
        self.workloads
            .remove(&(kind.into(), namespace.into(), name.into()));
    }

    /// A Service is gone.
    pub fn service_gone(&mut self, namespace: &str, name: &str) {
        self.services.remove(&(namespace.into(), name.into()));
    }

    /// A namespace that is known by its name alone: it has the label that every namespace has.
    pub fn namespace_named(&mut self, name: &Text) {
        if !self.namespaces.contains_key(name) {
            let label = (Text::from("kubernetes.io/metadata.name"), name.clone());
            self.namespaces.insert(name.clone(), Labels::from([label]));
        }
    }

    /// Closes what a pod leaves open.
    pub fn complete(&self, pod: &mut Pod, open: &Open) {
        for volume in &open.volumes {
            match self.volume_need(&pod.key.namespace, volume) {
                Ok(need) => pod.placement.volumes.push(need),
                Err(why) => pod.placement.unsupported.push(why),
            }
        }
        for reference in &open.namespaces {
            if let Some(term) = term(pod, reference) {
                term.namespaces = Some(self.namespaces_of(reference));
            }
        }
        for reference in &open.devices {
            match self.devices.claim(&pod.key.namespace, reference, &pod.state) {
                Ok(claim) => pod.placement.devices.push(claim),
                Err(why) => pod.placement.unsupported.push(why),
            }
        }
        if !open.has_priority {
            pod.priority = self.priority(open.priority_class.as_ref());
        }
        pod.workload = self.workload_of(pod, open);
    }

    fn volume_need(&self, namespace: &Text, reference: &VolumeRef) -> Result<VolumeNeed, Text> {
        let volume_of = |name: &Text| self.volumes.get(name).cloned();
        let class_of = |name: Option<&Text>| match name {
            Some(name) => self.classes.get(name).cloned(),
            None => self.default_class().cloned(),
        };
        match reference {
            VolumeRef::Attached { volume, attach } => Ok(VolumeNeed {
                claim: volume.clone(),
                alternatives: Vec::new(),
                attach: Some(attach.clone()),
            }),
            VolumeRef::Claim(name) => match self.claims.get(&(namespace.clone(), name.clone())) {
                Some(claim) => volumes::need(name, namespace, claim, volume_of, class_of),
                None => Err(format!("its volume claim {namespace}/{name} does not exist").into()),
            },
            VolumeRef::Ephemeral { claim: name, class } => {
                let made = Claim {
                    class: class.clone(),
                    volume: None,
                    deleting: false,
                    lost: false,
                    binding: false,
                };
                let claim = self
                    .claims
                    .get(&(namespace.clone(), name.clone()))
                    .unwrap_or(&made);
                volumes::need(name, namespace, claim, volume_of, class_of)
            }
        }
    }

    /// Of several default classes the one that was made last, as the API server chooses.
    fn default_class(&self) -> Option<&Class> {
        self.classes
            .values()
            .filter(|class| class.default)
            .max_by_key(|class| class.created)
    }

    fn namespaces_of(&self, reference: &NamespaceRef) -> Vec<Text> {
        let chosen = self
            .namespaces
            .iter()
            .filter(|(_, labels)| reference.selector.allow_labels(labels))
            .map(|(name, _)| name.clone());
        let mut all: Vec<Text> = reference.named.iter().cloned().chain(chosen).collect();
        all.sort();
        all.dedup();
        all
    }

    fn priority(&self, class: Option<&Text>) -> i32 {
        match class {
            Some(name) => self
                .priorities
                .get(name)
                .map(|(value, _)| *value)
                .or_else(|| {
                    SYSTEM
                        .iter()
                        .find(|(system, _)| **system == **name)
                        .map(|(_, value)| *value)
                })
                .unwrap_or(0),
            None => self
                .priorities
                .values()
                .filter(|(_, default)| *default)
                .map(|(value, _)| *value)
                .min()
                .unwrap_or(0),
        }
    }

    fn workload_of(&self, pod: &Pod, open: &Open) -> Option<Workload> {
        if matches!(pod.owner, Owner::DaemonSet | Owner::Node) {
            return None;
        }
        let namespace = &pod.key.namespace;
        let own = open.owner.as_ref().and_then(|(kind, name)| {
            self.workloads
                .get(&(kind.clone(), namespace.clone(), name.clone()))
        });
        let selector = default_selector(
            namespace,
            &pod.labels,
            &self.services,
            own.and_then(|own| own.selector.as_ref()),
        );
        match &open.owner {
            Some((kind, name)) => Some(Workload {
                name: format!("{kind}/{namespace}/{name}").into(),
                selector,
                replicas: own.map_or(0, |own| own.replicas),
            }),
            None => selector.map(|selector| Workload {
                name: format!("Pod/{}", pod.key).into(),
                selector: Some(selector),
                replicas: 0,
            }),
        }
    }
}

fn key(namespace: Option<&str>, name: Option<&str>) -> Key {
    (
        namespace.unwrap_or("default").into(),
        name.unwrap_or_default().into(),
    )
}

fn term<'a>(pod: &'a mut Pod, reference: &NamespaceRef) -> Option<&'a mut PodTerm> {
    let placement = &mut pod.placement;
    let index = reference.index;
    match reference.list {
        TermList::Affinity => placement.affinity.get_mut(index),
        TermList::AntiAffinity => placement.anti_affinity.get_mut(index),
        TermList::PreferredAffinity => placement
            .preferred_affinity
            .get_mut(index)
            .map(|wish| &mut wish.term),
        TermList::PreferredAntiAffinity => placement
            .preferred_anti_affinity
            .get_mut(index)
            .map(|wish| &mut wish.term),
    }
}
