//! Workloads: how many pods they want, and so which pods are sure to come ([`joiner_core::foresee`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use joiner_core::foresee::{Member, Workload, foresee};
use joiner_core::snapshot::{Pod, PodKey};
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ResourceQuota;

use super::super::entry::{PodEntry, path, version};
use super::super::map;
use super::super::store::Store;
use super::list::Kind;
use super::{Index, State};

/// What is known of workloads.
#[derive(Debug, Default)]
pub(super) struct Wanting {
    /// How many pods each ReplicaSet wants, by its path in the API.
    replica_sets: Store<Text, Option<u32>>,
    jobs: Store<Text, Option<u32>>,
    /// Quotas, as `namespace/name`.
    quotas: Store<Text, ()>,
    /// Workloads whose waiting pods have woken the provisioner since it looked last.
    woken: BTreeSet<Text>,
    /// The pods that stand for room, as of the last snapshot: those that are not made yet, and the units of buffers.
    rooms: BTreeMap<PodKey, Arc<Pod>>,
}

impl Wanting {
    pub(super) fn begin(&mut self, kind: Kind) {
        match kind {
            Kind::ReplicaSet => self.replica_sets.begin(),
            Kind::Job => self.jobs.begin(),
            Kind::Quota => self.quotas.begin(),
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, kind: Kind) {
        match kind {
            Kind::ReplicaSet => drop(self.replica_sets.finish()),
            Kind::Job => drop(self.jobs.finish()),
            Kind::Quota => drop(self.quotas.finish()),
            _ => {}
        }
    }

    /// How many pods the workload wants; none where that is not known, or a quota may keep some from being made.
    fn wanted(&self, owner: &Text, namespace: &str) -> Option<u32> {
        let stated = self.replica_sets.get(owner).or_else(|| self.jobs.get(owner));
        let wanted = stated.copied().flatten()?;
        let here = |quota: &Text| quota.split_once('/').is_some_and(|(of, _)| of == namespace);
        let bounded = !self.quotas.synced() || self.quotas.iter().any(|(quota, ())| here(quota));
        (!bounded).then_some(wanted)
    }

    /// Whether the provisioner has to be told of one more waiting pod: of a workload of which it knows what it wants, the first
    /// tells it all.
    pub(super) fn is_news(&mut self, entry: &PodEntry) -> bool {
        let PodEntry { owner, pod, .. } = entry;
        if owner.is_empty() || self.wanted(owner, &pod.key.namespace).is_none() {
            return true;
        }
        self.woken.insert(owner.clone())
    }

    /// The provisioner looks, or there is nothing for it to do.
    pub(super) fn looked(&mut self) {
        self.woken.clear();
    }

    /// A pod that stands for room.
    pub(super) fn room(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.rooms.get(key)
    }
}

impl State {
    /// The pods that wait for a node: those that say so themselves, those that are sure to, and the units of buffers. Rooms held
    /// for pods that nobody speaks of any more are free again.
    pub(super) fn pending(&mut self, now: Timestamp) -> Vec<Arc<Pod>> {
        let mut early: BTreeMap<PodKey, Arc<Pod>> = BTreeMap::new();
        let mut rooms: BTreeMap<PodKey, Arc<Pod>> = self.buffers.pods().into_iter().map(by_key).collect();
        for workload in self.growing() {
            let foreseen = foresee(&workload, now);
            early.extend(foreseen.early.into_iter().map(by_key));
            rooms.extend(foreseen.announced.into_iter().map(by_key));
        }
        let (nominations, pods) = (&mut self.nominations, &self.pods);
        nominations.keep(|key| pods.get(key).is_some() || rooms.contains_key(key));
        let unbound = self.pods.iter().filter(|(_, entry)| entry.node.is_none());
        let pending = unbound
            .map(|(key, entry)| early.remove(key).unwrap_or_else(|| entry.pod.clone()))
            .chain(rooms.values().cloned())
            .collect();
        self.wanting.rooms = rooms;
        pending
    }

    /// The workloads that have a pod no node fits, with all their pods that stay.
    fn growing(&self) -> Vec<Workload> {
        let refused = self.pods.values().filter(|entry| entry.pending_since.is_some());
        let owners: BTreeSet<&Text> = refused
            .map(|entry| &entry.owner)
            .filter(|owner| !owner.is_empty())
            .collect();
        if owners.is_empty() {
            return Vec::new();
        }
        let mut workloads: BTreeMap<&Text, Workload> = BTreeMap::new();
        let staying = |entry: &&PodEntry| entry.pod.deletion.is_none() && owners.contains(&entry.owner);
        for entry in self.pods.values().filter(staying) {
            let namespace = &entry.pod.key.namespace;
            let workload = workloads.entry(&entry.owner).or_insert_with(|| Workload {
                namespace: namespace.clone(),
                name: name_of(&entry.owner),
                wanted: self.wanting.wanted(&entry.owner, namespace),
                members: Vec::new(),
            });
            workload.members.push(Member {
                pod: entry.pod.clone(),
                seen: entry.seen,
                verdict: entry.verdict(),
            });
        }
        workloads.into_values().collect()
    }
}

impl Index {
    pub(crate) fn replica_set(&self, object: &ReplicaSet) {
        let wanted = map::wanted_by_replica_set(object);
        let key = owner("apps/v1", "replicasets", &path(object));
        self.state()
            .wanting
            .replica_sets
            .apply(key, version(object), wanted);
        if self.wanted.services {
            self.replica_set_around(object);
        }
        if self.wanted.buffers {
            self.replica_set_to_buffer(object);
        }
    }

    pub(crate) fn replica_set_gone(&self, key: &Text, version: u64) {
        let owner = owner("apps/v1", "replicasets", key);
        self.state().wanting.replica_sets.delete(&owner, version);
        self.replica_set_around_gone(key, version);
        self.replica_set_to_buffer_gone(key, version);
    }

    pub(crate) fn job(&self, object: &Job) {
        let wanted = map::wanted_by_job(object);
        let key = owner("batch/v1", "jobs", &path(object));
        self.state().wanting.jobs.apply(key, version(object), wanted);
    }

    pub(crate) fn job_gone(&self, key: &Text, version: u64) {
        let owner = owner("batch/v1", "jobs", key);
        self.state().wanting.jobs.delete(&owner, version);
    }

    pub(crate) fn quota(&self, object: &ResourceQuota) {
        self.state()
            .wanting
            .quotas
            .apply(path(object), version(object), ());
    }

    pub(crate) fn quota_gone(&self, key: &Text, version: u64) {
        self.state().wanting.quotas.delete(key, version);
    }
}

/// A pod with its key.
fn by_key(pod: Arc<Pod>) -> (PodKey, Arc<Pod>) {
    (pod.key.clone(), pod)
}

/// A workload's path in the API, as [`PodEntry::owner`] has it.
fn owner(api: &str, kinds: &str, path: &Text) -> Text {
    let (namespace, name) = path.split_once('/').unwrap_or(("default", path));
    format!("/apis/{api}/namespaces/{namespace}/{kinds}/{name}").into()
}

/// Kind and name: two kinds of workload may have the same name.
fn name_of(owner: &Text) -> Text {
    let mut parts = owner.rsplitn(3, '/');
    match (parts.next(), parts.next()) {
        (Some(name), Some(kinds)) => format!("{kinds}.{name}").into(),
        _ => owner.clone(),
    }
}
