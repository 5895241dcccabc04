//! The objects around pods: namespaces, volume claims, volumes, storage classes, CSI nodes. Pods that ask about them are looked
//! up anew when one has changed and a snapshot is wanted, and not for each change.

use std::collections::BTreeMap;

use joiner_core::text::Text;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use kube::{Resource, ResourceExt as _};

use super::super::entry::version;
use super::super::map::{Surroundings, attach_limits};
use super::super::store::Store;
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
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, kind: Kind) {
        match kind {
            Kind::Namespace => drop(self.namespaces.finish()),
            Kind::VolumeClaim => drop(self.claims.finish()),
            Kind::Volume => drop(self.volumes.finish()),
            Kind::StorageClass => drop(self.classes.finish()),
            Kind::CsiNode => drop(self.limits.finish()),
            _ => {}
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
        self.surroundings = all;
        true
    }
}

impl State {
    /// Looks up what pods ask about, where it may have changed.
    pub(super) fn look_up(&mut self) {
        if self.around.renew() {
            let surroundings = self.around.surroundings();
            let open = self.pods.values_mut().filter(|entry| entry.unresolved.is_some());
            open.for_each(|entry| entry.resolve(surroundings));
        }
    }
}

impl Index {
    pub(crate) fn namespace(&self, object: Namespace) {
        self.around(|around| {
            around
                .namespaces
                .apply(path(&object), version(&object), bare(object))
        });
    }

    pub(crate) fn namespace_gone(&self, object: &Namespace) {
        self.around(|around| around.namespaces.delete(&path(object), version(object)).is_some());
    }

    pub(crate) fn volume_claim(&self, object: PersistentVolumeClaim) {
        self.around(|around| around.claims.apply(path(&object), version(&object), bare(object)));
        self.changes.provision.ring_plain();
    }

    pub(crate) fn volume_claim_gone(&self, object: &PersistentVolumeClaim) {
        self.around(|around| around.claims.delete(&path(object), version(object)).is_some());
    }

    pub(crate) fn volume(&self, object: PersistentVolume) {
        self.around(|around| {
            around
                .volumes
                .apply(path(&object), version(&object), bare(object))
        });
    }

    pub(crate) fn volume_gone(&self, object: &PersistentVolume) {
        self.around(|around| around.volumes.delete(&path(object), version(object)).is_some());
    }

    pub(crate) fn storage_class(&self, object: StorageClass) {
        self.around(|around| {
            around
                .classes
                .apply(path(&object), version(&object), bare(object))
        });
        self.changes.provision.ring_plain();
    }

    pub(crate) fn storage_class_gone(&self, object: &StorageClass) {
        self.around(|around| around.classes.delete(&path(object), version(object)).is_some());
    }

    pub(crate) fn csi_node(&self, object: &CSINode) {
        let limits = attach_limits(object);
        self.around(|around| around.limits.apply(path(object), version(object), limits));
    }

    pub(crate) fn csi_node_gone(&self, object: &CSINode) {
        self.around(|around| around.limits.delete(&path(object), version(object)).is_some());
    }

    fn around(&self, change: impl FnOnce(&mut Around) -> bool) {
        let mut state = self.state();
        if change(&mut state.around) {
            state.around.stale = true;
        }
    }
}

/// Namespace and name, the former where it has one.
fn path<K: Resource>(object: &K) -> Text {
    let name = object.meta().name.as_deref().unwrap_or_default();
    match object.meta().namespace.as_deref() {
        Some(namespace) => format!("{namespace}/{name}").into(),
        None => name.into(),
    }
}

/// The object without the record of who wrote what.
fn bare<K: Resource>(mut object: K) -> K {
    object.managed_fields_mut().clear();
    object
}
