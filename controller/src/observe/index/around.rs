//! The objects around pods: namespaces, volume claims, volumes, storage classes, CSI nodes, where cluster-wide spread constraints
//! are set workloads and services, and where somebody looks at devices those and claims of them. Pods that ask about them are
//! looked up anew when one has changed and a snapshot is wanted, and not for each change.

use std::collections::BTreeMap;

use joiner_core::text::Text;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume, PersistentVolumeClaim, Service};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use kube::{Resource, ResourceExt as _};

use super::super::entry::{Workloads, path, version};
use super::super::map::{self, ServiceObject, Surroundings, WorkloadObject, attach_limits};
use super::super::store::Store;
use super::devices::Devices;
use super::list::Kind;
use super::{Index, State};

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Around {
    namespaces: Store<Text, Namespace>,
    claims: Store<Text, PersistentVolumeClaim>,
    volumes: Store<Text, PersistentVolume>,
    classes: Store<Text, StorageClass>,
    limits: Store<Text, BTreeMap<Text, u32>>,
    replica_sets: Store<Text, WorkloadObject>,
    stateful_sets: Store<Text, WorkloadObject>,
    services: Store<Text, ServiceObject>,
    pub(super) devices: Devices,
    /// The same, as pods ask for it.
    surroundings: Surroundings,
    /// Whether something has changed since pods were looked up.
    stale: bool,
}

impl Around {
    pub(super) fn begin(&mut self, kind: Kind) {
        match kind {
            Kind::Namespace => self.namespaces.begin(),
            Kind::VolumeClaim => self.claims.begin(),
            Kind::Volume => self.volumes.begin(),
            Kind::StorageClass => self.classes.begin(),
            Kind::CsiNode => self.limits.begin(),
            Kind::ReplicaSet => self.replica_sets.begin(),
            Kind::StatefulSet => self.stateful_sets.begin(),
            Kind::Service => self.services.begin(),
            _ => self.devices.begin(kind),
        }
    }

    pub(super) fn finish(&mut self, kind: Kind) {
        match kind {
            Kind::Namespace => drop(self.namespaces.finish()),
            Kind::VolumeClaim => drop(self.claims.finish()),
            Kind::Volume => drop(self.volumes.finish()),
            Kind::StorageClass => drop(self.classes.finish()),
            Kind::CsiNode => drop(self.limits.finish()),
            Kind::ReplicaSet => drop(self.replica_sets.finish()),
            Kind::StatefulSet => drop(self.stateful_sets.finish()),
            Kind::Service => drop(self.services.finish()),
            _ => self.devices.finish(kind),
        }
        self.stale = true;
    }

    /// Whether every kind has been listed once.
    pub(super) fn synced(&self) -> bool {
        self.namespaces.synced()
            && self.claims.synced()
            && self.volumes.synced()
            && self.classes.synced()
            && self.limits.synced()
    }

    /// Whether workloads and services have been listed once.
    pub(super) fn knows_workloads(&self) -> bool {
        self.replica_sets.synced() && self.stateful_sets.synced() && self.services.synced()
    }

    pub(super) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// How many volumes each driver can attach to a node.
    pub(super) fn attach_limits(&self, node: &Text) -> BTreeMap<Text, u32> {
        self.limits.get(node).cloned().unwrap_or_default()
    }

    /// Makes the surroundings anew where something has changed; false where nothing has.
    fn renew(&mut self) -> bool {
        if !std::mem::take(&mut self.stale) {
            return false;
        }
        let mut all = Surroundings::default();
        self.namespaces.values().for_each(|it| all.namespace(it));
        self.claims.values().for_each(|it| all.volume_claim(it));
        self.volumes.values().for_each(|it| all.volume(it));
        self.classes.values().for_each(|it| all.storage_class(it));
        let sets = self.replica_sets.values().chain(self.stateful_sets.values());
        sets.for_each(|it| all.workload(it.clone()));
        self.services.values().for_each(|it| all.service(it.clone()));
        all.devices = self.devices.renew();
        self.surroundings = all;
        true
    }
}

impl State {
    /// Looks up what pods ask about, where it may have changed.
    pub(super) fn look_up(&mut self, workloads: Workloads) {
        if self.around.renew() {
            let surroundings = self.around.surroundings();
            let open = self.pods.values_mut().filter(|entry| entry.unresolved.is_some());
            open.for_each(|entry| entry.resolve(surroundings, workloads));
        }
        self.learn_devices();
    }
}

impl Index {
    pub(crate) fn namespace(&self, object: &Namespace) {
        self.around(|around| {
            around
                .namespaces
                .apply(path(object), version(object), bare(object))
        });
    }

    pub(crate) fn namespace_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.namespaces.delete(key, version).is_some());
    }

    pub(crate) fn volume_claim(&self, object: &PersistentVolumeClaim) {
        self.around(|around| around.claims.apply(path(object), version(object), bare(object)));
        self.changes.provision.ring_plain();
    }

    pub(crate) fn volume_claim_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.claims.delete(key, version).is_some());
    }

    pub(crate) fn volume(&self, object: &PersistentVolume) {
        self.around(|around| around.volumes.apply(path(object), version(object), bare(object)));
    }

    pub(crate) fn volume_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.volumes.delete(key, version).is_some());
    }

    pub(crate) fn storage_class(&self, object: &StorageClass) {
        self.around(|around| around.classes.apply(path(object), version(object), bare(object)));
        self.changes.provision.ring_plain();
    }

    pub(crate) fn storage_class_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.classes.delete(key, version).is_some());
    }

    pub(crate) fn csi_node(&self, object: &CSINode) {
        let limits = attach_limits(object);
        self.around(|around| around.limits.apply(path(object), version(object), limits));
    }

    pub(crate) fn csi_node_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.limits.delete(key, version).is_some());
    }

    /// What spread constraints ask of a ReplicaSet.
    pub(super) fn replica_set_around(&self, object: &k8s_openapi::api::apps::v1::ReplicaSet) {
        let (key, known) = (path(object), map::replica_set(object));
        self.around(|around| set_in(&mut around.replica_sets, key, version(object), known));
    }

    pub(super) fn replica_set_around_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.replica_sets.delete(key, version).is_some());
    }

    pub(crate) fn stateful_set(&self, object: &StatefulSet) {
        if self.wanted.services {
            let (key, known) = (path(object), map::stateful_set(object));
            self.around(|around| set_in(&mut around.stateful_sets, key, version(object), known));
        }
        if self.wanted.buffers {
            self.stateful_set_to_buffer(object);
        }
    }

    pub(crate) fn stateful_set_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.stateful_sets.delete(key, version).is_some());
        self.stateful_set_to_buffer_gone(key, version);
    }

    pub(crate) fn service(&self, object: &Service) {
        let (key, version) = (path(object), version(object));
        self.around(|around| match map::service(object) {
            Some(known) => set_in(&mut around.services, key, version, known),
            None => around.services.delete(&key, version).is_some(),
        });
    }

    pub(crate) fn service_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.services.delete(key, version).is_some());
    }

    pub(super) fn around(&self, change: impl FnOnce(&mut Around) -> bool) {
        let mut state = self.state();
        if change(&mut state.around) {
            state.around.stale = true;
        }
    }
}

/// Takes an object in; false where what matters of it is known already, as status changes often.
fn set_in<V: PartialEq>(store: &mut Store<Text, V>, key: Text, version: u64, value: V) -> bool {
    let news = store.get(&key) != Some(&value);
    store.apply(key, version, value) && news
}

/// The object without the record of who wrote what.
pub(super) fn bare<K: Resource + Clone>(object: &K) -> K {
    let mut object = object.clone();
    object.managed_fields_mut().clear();
    object
}
