//! CapacityBuffers: room that is kept free, as pods that are never bound ([`map::virtual_pods`]). The room is held like that of a
//! pod that a decision has sent somewhere, for as long as the node is there and no real pod has taken it.

use std::sync::Arc;

use jiff::Timestamp;
use joiner_core::buffers::{Asked, Placed};
use joiner_core::conditions::{Conditions, INITIALIZED};
use joiner_core::snapshot::Pod;
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::{PodTemplate, PodTemplateSpec};
use kube::api::{ApiResource, DynamicObject};

use super::super::entry::{path, version};
use super::super::map::{self, Scalable};
use super::super::store::Store;
use super::list::Kind;
use super::{Index, State};

/// A CapacityBuffer.
#[derive(Clone, Debug)]
pub(crate) struct BufferEntry {
    /// The buffer, or why it cannot be read.
    pub buffer: Result<map::Buffer, Text>,
    pub object: Arc<DynamicObject>,
    pub conditions: Conditions,
}

/// A buffer, what it asks for, and where that is.
#[derive(Clone, Debug)]
pub(crate) struct BufferState {
    pub entry: BufferEntry,
    pub asked: Asked,
    pub placed: Placed,
}

/// Buffers, and what they may name.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// As what they are served; none while they are not.
    served: Option<ApiResource>,
    buffers: Store<Text, BufferEntry>,
    deployments: Store<Text, Scalable>,
    replica_sets: Store<Text, Scalable>,
    stateful_sets: Store<Text, Scalable>,
    templates: Store<Text, Scalable>,
}

impl Buffers {
    pub(super) fn begin(&mut self, kind: Kind) {
        match kind {
            Kind::Buffer => self.buffers.begin(),
            Kind::Deployment => self.deployments.begin(),
            Kind::ReplicaSet => self.replica_sets.begin(),
            Kind::StatefulSet => self.stateful_sets.begin(),
            Kind::PodTemplate => self.templates.begin(),
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, kind: Kind) {
        match kind {
            Kind::Buffer => drop(self.buffers.finish()),
            Kind::Deployment => drop(self.deployments.finish()),
            Kind::ReplicaSet => drop(self.replica_sets.finish()),
            Kind::StatefulSet => drop(self.stateful_sets.finish()),
            Kind::PodTemplate => drop(self.templates.finish()),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffers.len() == 0
    }

    /// The pods of all buffers.
    pub(super) fn pods(&self) -> Vec<Arc<Pod>> {
        let all = self.buffers.values().filter_map(|entry| self.units(entry).ok());
        all.flatten().map(Arc::new).collect()
    }

    fn units(&self, entry: &BufferEntry) -> Result<Vec<Pod>, Asked> {
        let buffer = entry.buffer.as_ref().map_err(|why| Asked::Invalid(why.clone()))?;
        let (reason, kind, name) = match (&buffer.template, &buffer.scalable) {
            (Some(template), _) => ("PodTemplateNotFound", "PodTemplate", template),
            (None, Some((kind, name))) => ("ScalableRefNotFound", &**kind, name),
            (None, None) => {
                return Err(Asked::Invalid(
                    "neither spec.podTemplateRef nor spec.scalableRef is set; set one of them".into(),
                ));
            }
        };
        let store = match kind {
            "PodTemplate" => &self.templates,
            "Deployment" => &self.deployments,
            "ReplicaSet" => &self.replica_sets,
            "StatefulSet" => &self.stateful_sets,
            other => {
                return Err(Asked::Invalid(
                    format!(
                        "spec.scalableRef.kind: {other:?} is not one of Deployment, ReplicaSet, StatefulSet"
                    )
                    .into(),
                ));
            }
        };
        let key = Text::from(format!("{}/{name}", buffer.namespace));
        match store.get(&key) {
            // Always the same time: the same buffer gives the same pods.
            Some(scalable) => Ok(map::virtual_pods(buffer, scalable, Timestamp::UNIX_EPOCH)),
            None => Err(Asked::NotFound {
                reason,
                what: format!("{kind} {key} does not exist").into(),
            }),
        }
    }
}

impl State {
    /// Where a buffer's units are.
    fn placed(&self, units: &[Pod]) -> Placed {
        let mut placed = Placed::default();
        for unit in units {
            let claim = self
                .nominations
                .place(&unit.key)
                .map(|place| self.claims.get(place));
            match claim {
                None => placed.nowhere += 1,
                Some(Some(entry)) if !entry.claim.conditions.is_true(INITIALIZED) => placed.coming += 1,
                Some(_) => placed.there += 1,
            }
        }
        placed
    }
}

impl Index {
    /// CapacityBuffers are served as `resource`.
    pub(crate) fn buffers_served(&self, resource: ApiResource) {
        self.state().buffers.served = Some(resource);
    }

    /// As what CapacityBuffers are served, and how each stands.
    pub(crate) fn buffer_states(&self) -> Option<(ApiResource, Vec<BufferState>)> {
        let state = self.state();
        let served = state.buffers.served.clone()?;
        let of = |entry: &BufferEntry| {
            let (asked, placed) = match state.buffers.units(entry) {
                Ok(units) => {
                    let count = u32::try_from(units.len()).unwrap_or(u32::MAX);
                    (Asked::Units(count), state.placed(&units))
                }
                Err(asked) => (asked, Placed::default()),
            };
            BufferState {
                entry: entry.clone(),
                asked,
                placed,
            }
        };
        Some((served, state.buffers.buffers.values().map(of).collect()))
    }

    pub(crate) fn buffer(&self, object: &DynamicObject) {
        let entry = BufferEntry::new(object);
        let generation = |entry: &BufferEntry| entry.object.metadata.generation;
        let mut state = self.state();
        let known = state.buffers.buffers.get(&path(object)).map(generation);
        let news = known != Some(generation(&entry));
        state.buffers.buffers.apply(path(object), version(object), entry);
        drop(state);
        self.changes.buffers.ring_plain();
        if news {
            self.changes.provision.ring_plain();
        }
    }

    pub(crate) fn buffer_gone(&self, key: &Text, version: u64) {
        self.state().buffers.buffers.delete(key, version);
        self.changes.buffers.ring_plain();
    }

    pub(crate) fn deployment(&self, object: &Deployment) {
        let spec = object.spec.as_ref();
        let it = scalable(
            spec.map(|spec| &spec.template),
            spec.and_then(|spec| spec.replicas),
        );
        self.state()
            .buffers
            .deployments
            .apply(path(object), version(object), it);
    }

    pub(crate) fn deployment_gone(&self, key: &Text, version: u64) {
        self.state().buffers.deployments.delete(key, version);
    }

    pub(crate) fn pod_template(&self, object: &PodTemplate) {
        let it = scalable(object.template.as_ref(), Some(0));
        self.state()
            .buffers
            .templates
            .apply(path(object), version(object), it);
    }

    pub(crate) fn pod_template_gone(&self, key: &Text, version: u64) {
        self.state().buffers.templates.delete(key, version);
    }

    /// What buffers may take of a ReplicaSet.
    pub(super) fn replica_set_to_buffer(&self, object: &ReplicaSet) {
        let spec = object.spec.as_ref();
        let template = spec.and_then(|spec| spec.template.as_ref());
        let it = scalable(template, spec.and_then(|spec| spec.replicas));
        self.state()
            .buffers
            .replica_sets
            .apply(path(object), version(object), it);
    }

    pub(super) fn replica_set_to_buffer_gone(&self, key: &Text, version: u64) {
        self.state().buffers.replica_sets.delete(key, version);
    }

    /// What buffers may take of a StatefulSet.
    pub(super) fn stateful_set_to_buffer(&self, object: &StatefulSet) {
        let spec = object.spec.as_ref();
        let it = scalable(
            spec.map(|spec| &spec.template),
            spec.and_then(|spec| spec.replicas),
        );
        self.state()
            .buffers
            .stateful_sets
            .apply(path(object), version(object), it);
    }

    pub(super) fn stateful_set_to_buffer_gone(&self, key: &Text, version: u64) {
        self.state().buffers.stateful_sets.delete(key, version);
    }
}

impl BufferEntry {
    fn new(object: &DynamicObject) -> BufferEntry {
        let mut object = object.clone();
        object.metadata.managed_fields = None;
        let value = serde_json::to_value(&object).unwrap_or_default();
        BufferEntry {
            buffer: map::buffer(&value)
                .map_err(|error| format!("{}: {}", error.path(), error.inner()).into()),
            conditions: map::conditions_of(&value["status"]["conditions"]),
            object: Arc::new(object),
        }
    }

    /// `status.replicas`.
    pub(crate) fn replicas(&self) -> Option<u64> {
        self.object.data.pointer("/status/replicas")?.as_u64()
    }
}

fn scalable(template: Option<&PodTemplateSpec>, replicas: Option<i32>) -> Scalable {
    Scalable {
        template: template.cloned().unwrap_or_default(),
        replicas: replicas.map_or(1, |count| u32::try_from(count).unwrap_or(0)),
    }
}
