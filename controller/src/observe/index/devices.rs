//! Devices that pods claim dynamically: claims, templates, classes and what drivers publish (`resource.k8s.io/v1`), and what nodes
//! of each instance type were seen to publish. Kept only where the controller looks at devices (`IGNORE_DRA_REQUESTS=false`).

mod seen;

pub(crate) use seen::Seen;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use joiner_core::register::Published;
use joiner_core::snapshot::Device;
use joiner_core::text::Text;
use joiner_core::well_known;
use k8s_openapi::api::resource::v1::{
    DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice, ResourceSliceSpec,
};
use kube::Resource;

use self::seen::learn;
use super::super::entry::{path, version};
use super::super::map::DeviceObjects;
use super::super::store::Store;
use super::list::Kind;
use super::{Index, State};

/// Whether the cluster serves the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Served {
    /// It was not asked yet.
    #[default]
    Unknown,
    No,
    Yes,
}

/// What is known of devices.
#[derive(Debug, Default)]
pub(super) struct Devices {
    served: Served,
    claims: Store<Text, ResourceClaim>,
    templates: Store<Text, ResourceClaimTemplate>,
    classes: Store<Text, DeviceClass>,
    slices: Store<Text, ResourceSlice>,
    /// The devices of each node.
    by_node: BTreeMap<Text, Vec<Device>>,
    /// The drivers that have published all there is on each node.
    drivers: BTreeMap<Text, BTreeSet<Text>>,
    seen: Arc<Seen>,
    /// Whether nodes may publish something that was not seen.
    pub(super) unseen: bool,
}

impl Devices {
    pub(super) fn begin(&mut self, kind: Kind) {
        match kind {
            Kind::ResourceClaim => self.claims.begin(),
            Kind::ResourceClaimTemplate => self.templates.begin(),
            Kind::DeviceClass => self.classes.begin(),
            Kind::ResourceSlice => self.slices.begin(),
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, kind: Kind) {
        match kind {
            Kind::ResourceClaim => drop(self.claims.finish()),
            Kind::ResourceClaimTemplate => drop(self.templates.finish()),
            Kind::DeviceClass => drop(self.classes.finish()),
            Kind::ResourceSlice => drop(self.slices.finish()),
            _ => {}
        }
    }

    /// Whether all that the cluster serves was listed once.
    pub(super) fn synced(&self) -> bool {
        match self.served {
            Served::Unknown => false,
            Served::No => true,
            Served::Yes => {
                self.claims.synced()
                    && self.templates.synced()
                    && self.classes.synced()
                    && self.slices.synced()
            }
        }
    }

    /// Everything, as pods ask for it.
    pub(super) fn renew(&mut self) -> DeviceObjects {
        let mut all = DeviceObjects::default();
        self.claims.values().for_each(|it| all.resource_claim(it.clone()));
        self.templates.values().for_each(|it| all.template(it.clone()));
        self.classes.values().for_each(|it| all.class(it.clone()));
        self.slices.values().for_each(|it| all.slice(it.clone()));
        self.by_node = all.by_node();
        self.drivers = all.drivers_by_node();
        self.unseen = true;
        all
    }

    /// The devices of a node.
    pub(super) fn of_node(&self, node: &Text) -> Vec<Device> {
        self.by_node.get(node).cloned().unwrap_or_default()
    }

    /// What the drivers that have published all there is say of a node.
    fn complete(&self, node: &Text) -> Vec<Device> {
        let drivers = self.drivers.get(node);
        let is_complete = |device: &Device| drivers.is_some_and(|all| all.contains(&device.driver));
        let mut all = self.of_node(node);
        all.retain(is_complete);
        all
    }
}

impl State {
    /// Remembers what nodes publish, by their instance type.
    pub(super) fn learn_devices(&mut self) {
        if !std::mem::take(&mut self.around.devices.unseen) {
            return;
        }
        let devices = &self.around.devices;
        let of_type = |node: &Text| {
            let kind = self.nodes.get(node)?.node.labels.get(well_known::INSTANCE_TYPE)?;
            Some((kind.clone(), devices.complete(node)))
        };
        let news: Vec<(Text, Vec<Device>)> = devices.drivers.keys().filter_map(of_type).collect();
        let seen = learn(&devices.seen, &news);
        if let Some(seen) = seen {
            self.around.devices.seen = Arc::new(seen);
        }
    }
}

impl Index {
    /// The cluster does not serve the kinds, at least not now.
    pub(crate) fn devices_not_served(&self) {
        self.state().around.devices.served = Served::No;
    }

    /// The cluster serves the kinds.
    pub(crate) fn devices_served(&self) {
        self.state().around.devices.served = Served::Yes;
    }

    /// What nodes of each instance type were seen to publish; none where nobody looks at devices. The same as long as nothing
    /// new was seen.
    pub(crate) fn seen_devices(&self) -> Option<Arc<Seen>> {
        if !self.wanted.devices {
            return None;
        }
        let mut state = self.state();
        state.look_up(self.workloads());
        Some(state.around.devices.seen.clone())
    }

    /// What is known of the devices on a claim's node, where it has one.
    pub(crate) fn published(&self, node: Option<&Text>) -> Published {
        if !self.wanted.devices {
            return Published::Ignored;
        }
        let Some(node) = node else {
            return Published::By(BTreeSet::new());
        };
        let mut state = self.state();
        state.look_up(self.workloads());
        let drivers = state.around.devices.drivers.get(node);
        Published::By(drivers.cloned().unwrap_or_default())
    }

    pub(crate) fn resource_claim(&self, object: &ResourceClaim) {
        self.devices(object, |devices| &mut devices.claims);
    }

    pub(crate) fn resource_claim_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.devices.claims.delete(key, version).is_some());
        self.changes.provision.ring_plain();
    }

    pub(crate) fn resource_claim_template(&self, object: &ResourceClaimTemplate) {
        self.devices(object, |devices| &mut devices.templates);
    }

    pub(crate) fn resource_claim_template_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.devices.templates.delete(key, version).is_some());
    }

    pub(crate) fn device_class(&self, object: &DeviceClass) {
        self.devices(object, |devices| &mut devices.classes);
    }

    pub(crate) fn device_class_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.devices.classes.delete(key, version).is_some());
    }

    pub(crate) fn resource_slice(&self, object: &ResourceSlice) {
        self.devices(object, |devices| &mut devices.slices);
        let state = self.state();
        for node in nodes(&object.spec) {
            self.ring_for_node(&state, &node);
        }
    }

    pub(crate) fn resource_slice_gone(&self, key: &Text, version: u64) {
        self.around(|around| around.devices.slices.delete(key, version).is_some());
        self.changes.provision.ring_plain();
    }

    /// Takes an object in; pods that wait for it are decided on anew.
    fn devices<K: Resource<DynamicType = ()> + Clone>(
        &self,
        object: &K,
        of: impl FnOnce(&mut Devices) -> &mut Store<Text, K>,
    ) {
        let (key, version) = (path(object), version(object));
        self.around(|around| of(&mut around.devices).apply(key, version, super::around::bare(object)));
        self.changes.provision.ring_plain();
    }
}

/// The nodes that a slice speaks of.
fn nodes(slice: &ResourceSliceSpec) -> BTreeSet<Text> {
    let of_devices = slice
        .devices
        .iter()
        .flatten()
        .filter_map(|it| it.node_name.as_ref());
    let all = slice.node_name.iter().chain(of_devices);
    all.map(|node| node.as_str().into()).collect()
}

#[cfg(test)]
mod tests {
    use joiner_core::snapshot::Settings;
    use k8s_openapi::api::core::v1 as k8s;
    use serde_json::{Value, json};

    use super::*;
    use crate::observe::wanted::Wanted;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn index(wanted: bool) -> Index {
        let wanted = Wanted {
            devices: wanted,
            ..Wanted::default()
        };
        Index::new(Settings::default(), wanted)
    }

    fn slice(version: u32, count: u32) -> ResourceSlice {
        read(json!({
            "metadata": {"name": "s", "resourceVersion": version.to_string()},
            "spec": {"driver": "gpu.example.com", "nodeName": "n", "devices": [{"name": "g0"}],
                "pool": {"name": "n", "generation": 1, "resourceSliceCount": count}},
        }))
    }

    fn node() -> k8s::Node {
        read(json!({
            "metadata": {"name": "n", "resourceVersion": "1", "labels": {"node.kubernetes.io/instance-type": "a.large"}},
            "spec": {"providerID": "aws:///us-west-2a/i-1"},
        }))
    }

    #[test]
    fn what_a_node_publishes_is_seen() {
        let index = index(true);
        index.node(&node());
        index.resource_slice(&slice(2, 2));
        assert_eq!(index.published(Some(&"n".into())), Published::By(BTreeSet::new()));
        assert!(
            index.seen_devices().unwrap().is_empty(),
            "the pool is not complete"
        );
        index.resource_slice(&slice(3, 1));
        let by = Published::By(["gpu.example.com".into()].into());
        assert_eq!(index.published(Some(&"n".into())), by);
        let seen = index.seen_devices().unwrap();
        assert_eq!(seen["a.large"].len(), 1);
        assert!(
            Arc::ptr_eq(&seen, &index.seen_devices().unwrap()),
            "nothing is new"
        );
        let snapshot = index.snapshot(jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(snapshot.nodes[0].devices.len(), 1);
        index.resource_slice_gone(&"s".into(), 4);
        assert_eq!(index.published(Some(&"n".into())), Published::By(BTreeSet::new()));
        assert_eq!(
            index.seen_devices().unwrap()["a.large"].len(),
            1,
            "it is remembered"
        );
    }

    #[test]
    fn where_nobody_looks_nothing_is_waited_for() {
        let devices = "devices and claims of them";
        let off = index(false);
        assert!(!off.unsynced().contains(&devices));
        assert_eq!(off.published(Some(&"n".into())), Published::Ignored);
        assert!(off.seen_devices().is_none());
        let on = index(true);
        assert!(on.unsynced().contains(&devices), "the cluster was not asked yet");
        on.devices_not_served();
        assert!(!on.unsynced().contains(&devices));
        on.devices_served();
        assert!(on.unsynced().contains(&devices), "nothing was listed yet");
        for kind in [
            Kind::ResourceClaim,
            Kind::ResourceClaimTemplate,
            Kind::DeviceClass,
            Kind::ResourceSlice,
        ] {
            on.begin(kind);
            on.finish(kind, jiff::Timestamp::UNIX_EPOCH);
        }
        assert!(!on.unsynced().contains(&devices));
    }

    #[test]
    fn pods_that_claim_are_looked_up_anew() {
        let pod: k8s::Pod = read(json!({
            "metadata": {"name": "p", "namespace": "shop", "resourceVersion": "1"},
            "spec": {"containers": [], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "one"}]},
            "status": {"phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
        }));
        let template: ResourceClaimTemplate = read(json!({
            "metadata": {"name": "one", "namespace": "shop", "resourceVersion": "2"},
            "spec": {"spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu"}}]}}},
        }));
        let class: DeviceClass = read(json!({
            "metadata": {"name": "gpu", "resourceVersion": "3"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
        }));
        let now = jiff::Timestamp::UNIX_EPOCH;
        let told = |index: &Index| {
            let snapshot = index.snapshot(now);
            let placement = &snapshot.pending[0].placement;
            (placement.devices.len(), placement.unsupported.join("; "))
        };
        let on = index(true);
        on.pod(&pod, now);
        assert!(
            told(&on).1.contains("template shop/one does not exist"),
            "{:?}",
            told(&on)
        );
        on.resource_claim_template(&template);
        assert!(told(&on).1.contains("device class gpu"), "{:?}", told(&on));
        on.device_class(&class);
        assert_eq!(told(&on), (1, String::new()));
        let off = index(false);
        off.pod(&pod, now);
        assert!(told(&off).1.contains("ignoreDRARequests"), "{:?}", told(&off));
    }
}
