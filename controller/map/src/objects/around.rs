//! What the objects around pods and nodes tell: volumes, namespaces, workloads, buffers and the rest, put together once all are read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use joiner_core::snapshot::{DefaultSpread, Pod};
use joiner_core::text::Text;

use crate::buffers::{Buffer, Scalable, virtual_pods};
use crate::read::Item;
use crate::seen::Key;
use crate::surroundings::Surroundings;

/// Kind, namespace and name.
type ScalableKey = (Text, Text, Text);

/// What the objects around pods and nodes tell.
#[derive(Default)]
pub(super) struct Around {
    /// How many volumes each driver can attach, by node.
    pub(super) attach_limits: BTreeMap<Text, BTreeMap<Text, u32>>,
    pub(super) surroundings: Surroundings,
    buffers: Vec<Buffer>,
    scalables: BTreeMap<ScalableKey, Scalable>,
    pub(super) default_spread: Vec<DefaultSpread>,
}

impl Around {
    /// What these tell.
    pub(super) fn of(items: BTreeMap<Key, Item>) -> Self {
        let mut all = Self::default();
        for item in items.into_values() {
            all.add(item);
        }
        all
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Namespace(it) => self.surroundings.namespace(&it),
            Item::VolumeClaim(it) => self.surroundings.volume_claim(&it),
            Item::Volume(it) => self.surroundings.volume(&it),
            Item::StorageClass(it) => self.surroundings.storage_class(&it),
            Item::CsiNode(it) => {
                self.attach_limits
                    .insert(crate::text(it.metadata.name.as_ref()), crate::attach_limits(&it));
            }
            Item::PriorityClass(it) => self.surroundings.priority_class(&it),
            Item::Workload(_, workload, scalable) => {
                if let Some(workload) = workload {
                    self.surroundings.workload(*workload);
                }
                self.scalables.insert(scalable.0, scalable.1);
            }
            Item::Job(it) => self.surroundings.workload(*it),
            Item::Service(it) => self.surroundings.service(*it),
            Item::Buffer(it) => self.buffers.push(*it),
            Item::ResourceClaim(it) => self.surroundings.devices.resource_claim(*it),
            Item::ResourceClaimTemplate(it) => self.surroundings.devices.template(*it),
            Item::DeviceClass(it) => self.surroundings.devices.class(*it),
            Item::ResourceSlice(it) => self.surroundings.devices.slice(*it),
            Item::DefaultSpread(it) => self.default_spread = it,
            Item::Pod(_)
            | Item::Node(_)
            | Item::Claim(_)
            | Item::Pool(_)
            | Item::Class(_)
            | Item::Overlay(_)
            | Item::DaemonSet(_)
            | Item::Pdb(_)
            | Item::Attachment(_)
            | Item::Catalog(_)
            | Item::Ignored(_) => {}
        }
    }

    /// The pods that stand for capacity buffers, made at `now`.
    pub(super) fn buffer_pods(&self, now: Timestamp, notes: &mut Vec<String>) -> Vec<Pod> {
        let mut pods = Vec::new();
        for buffer in &self.buffers {
            let (kind, name) = match (&buffer.template, &buffer.scalable) {
                (Some(template), _) => (Text::from("PodTemplate"), template.clone()),
                (None, Some((kind, name))) => (kind.clone(), name.clone()),
                (None, None) => {
                    notes.push(format!(
                        "CapacityBuffer {} names no template and no workload",
                        buffer.name
                    ));
                    continue;
                }
            };
            match self
                .scalables
                .get(&(kind.clone(), buffer.namespace.clone(), name.clone()))
            {
                Some(scalable) => pods.extend(virtual_pods(buffer, scalable, now)),
                None => notes.push(format!(
                    "CapacityBuffer {}: {kind} {}/{name} is not in the input",
                    buffer.name, buffer.namespace
                )),
            }
        }
        pods
    }
}
