//! What loops and metrics ask of the index.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_core::eviction::needs_another_node;
use joiner_core::snapshot::{Node, Nomination, Parts, PodKey, Snapshot, join};
use joiner_core::text::Text;

use super::super::entry::{ClaimEntry, NodeEntry, OverlayEntry, PodEntry, PoolEntry, Workloads};
use super::{Index, State};

impl Index {
    /// The cluster at this moment, as decisions want it.
    pub(crate) fn snapshot(&self, now: Timestamp) -> Snapshot {
        let mut state = self.state();
        state.look_up(self.workloads());
        // What is sure to come first: it says which rooms are still held.
        let pending = state.pending(now);
        let nodes = state.places(now);
        Snapshot {
            pools: state.pools.values().map(|entry| entry.pool.clone()).collect(),
            nodes,
            daemon_sets: state.daemon_sets.values().cloned().collect(),
            pending,
            pdbs: state.pdbs.values().cloned().collect(),
            settings: self.settings.clone(),
        }
    }

    /// As [`Index::snapshot`], for the one who decides on pods that wait: from here on the next of a workload is news again.
    pub(crate) fn snapshot_to_provision(&self, now: Timestamp) -> Snapshot {
        self.state().wanting.looked();
        self.snapshot(now)
    }

    /// Whether pods' workloads are looked at.
    pub(super) fn workloads(&self) -> Workloads {
        match self.settings.default_spread.is_empty() {
            true => Workloads::DoNotMatter,
            false => Workloads::Matter,
        }
    }

    /// Kinds whose first full list has not arrived. What only helps (how many pods workloads want) is not waited for.
    pub(crate) fn unsynced(&self) -> Vec<&'static str> {
        let state = self.state();
        let workloads = !self.wanted.services || state.around.knows_workloads();
        let devices = !self.wanted.devices || state.around.devices.synced();
        [
            ("pods", state.pods.synced()),
            ("nodes", state.nodes.synced()),
            ("nodeclaims", state.claims.synced()),
            ("nodepools", state.pools.synced()),
            ("ec2nodeclasses", state.classes.synced()),
            ("daemonsets", state.daemon_sets.synced()),
            ("poddisruptionbudgets", state.pdbs.synced()),
            ("volumeattachments", state.attachments.synced()),
            ("namespaces, volumes and CSI nodes", state.around.synced()),
            ("nodeoverlays", !self.wanted.overlays || state.overlays.synced()),
            ("workloads and services", workloads),
            ("devices and claims of them", devices),
        ]
        .into_iter()
        .filter(|(_, synced)| !synced)
        .map(|(kind, _)| kind)
        .collect()
    }

    pub(crate) fn claim_entry(&self, name: &str) -> Option<ClaimEntry> {
        let state = self.state();
        let entry = state.claims.get(name)?;
        Some(ClaimEntry {
            claim: state.with_pod_event(entry),
            ..entry.clone()
        })
    }

    pub(crate) fn node_entry(&self, name: &str) -> Option<NodeEntry> {
        self.state().nodes.get(name).cloned()
    }

    /// The nodes of an instance; more than one is an error somewhere.
    pub(crate) fn nodes_of(&self, provider_id: &Text) -> Vec<NodeEntry> {
        let state = self.state();
        state
            .nodes
            .values()
            .filter(|entry| entry.node.provider_id.as_ref() == Some(provider_id))
            .cloned()
            .collect()
    }

    pub(crate) fn pool_entry(&self, name: &str) -> Option<PoolEntry> {
        self.state().pools.get(name).cloned()
    }

    pub(crate) fn pool_entries(&self) -> Vec<PoolEntry> {
        self.state().pools.values().cloned().collect()
    }

    pub(crate) fn overlay_entries(&self) -> Vec<OverlayEntry> {
        self.state().overlays.values().cloned().collect()
    }

    pub(crate) fn class_entry(&self, name: &str) -> Option<Arc<EC2NodeClass>> {
        self.state().classes.get(name).cloned()
    }

    pub(crate) fn class_entries(&self) -> Vec<Arc<EC2NodeClass>> {
        self.state().classes.values().cloned().collect()
    }

    pub(crate) fn claim_entries(&self) -> Vec<ClaimEntry> {
        self.state().claims.values().cloned().collect()
    }

    pub(crate) fn pod_entries(&self) -> Vec<PodEntry> {
        self.state().pods.values().cloned().collect()
    }

    pub(crate) fn pod_entry(&self, key: &PodKey) -> Option<PodEntry> {
        self.state().pods.get(key).cloned()
    }

    /// When a pod last came to or left `node`, as far as this process saw it.
    #[cfg(test)]
    pub(crate) fn last_pod_event(&self, node: &str) -> Option<Timestamp> {
        self.state().pod_events.get(node).copied()
    }

    /// Whether there is a pod that needs a node: one that waits, one whose node is on its way out, or a unit of a buffer.
    pub(crate) fn has_work(&self) -> bool {
        let mut state = self.state();
        let there_is = state.has_work();
        if !there_is {
            state.wanting.looked();
        }
        there_is
    }

    /// How many pods wait for a node, and since when the one that has waited longest.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> (usize, Option<Timestamp>) {
        let state = self.state();
        let since = state.pods.values().filter_map(|entry| entry.pending_since);
        since.fold((0, None), |(count, first), since| {
            (
                count + 1,
                Some(first.map_or(since, |first: Timestamp| since.min(first))),
            )
        })
    }

    /// How many nodes there are.
    pub(crate) fn node_count(&self) -> usize {
        self.state().nodes.len()
    }
}

impl State {
    fn has_work(&self) -> bool {
        if !self.buffers.is_empty() || self.pods.values().any(|entry| entry.pending_since.is_some()) {
            return true;
        }
        let leaving = |name: &Text| {
            let pods = self.on_node.get(name).into_iter().flatten();
            pods.filter_map(|key| self.pods.get(key))
                .any(|entry| needs_another_node(&entry.pod))
        };
        let going = self.claims.values().map(|entry| &entry.claim);
        let going = going.filter(|claim| claim.deletion.is_some() || self.marked.contains(&claim.name));
        going.filter_map(|claim| claim.node_name.as_ref()).any(leaving)
    }

    /// Nodes, claims, or both in one, with the pods on them and the pods meant for them.
    fn places(&mut self, now: Timestamp) -> Vec<Node> {
        let nodes: Vec<_> = self.nodes.values().map(|entry| entry.node.clone()).collect();
        let claims: Vec<_> = self
            .claims
            .values()
            .map(|entry| self.with_pod_event(entry))
            .collect();
        let known: BTreeSet<Text> = claims
            .iter()
            .map(|claim| claim.name.clone())
            .chain(nodes.iter().map(|node| node.name.clone()))
            .collect();
        let complete: BTreeSet<Text> = claims
            .iter()
            .filter(|claim| claim.conditions.is_true(joiner_core::conditions::INITIALIZED))
            .map(|claim| claim.name.clone())
            .chain(
                nodes
                    .iter()
                    .filter(|node| is_complete(node))
                    .map(|node| node.name.clone()),
            )
            .collect();
        let mut places = join(Parts {
            nominations: self.held(now, &known, &complete),
            bound: self
                .pods
                .values()
                .filter_map(|entry| Some((entry.node.clone()?, entry.pod.clone())))
                .collect(),
            marked_for_deletion: self.marked.iter().cloned().collect(),
            attachments: self.attachments.values().cloned().collect(),
            claims,
            nodes,
        });
        for place in &mut places {
            if let Some(node) = &place.object {
                place.attach_limits = self.around.attach_limits(&node.name);
                place.devices = self.around.devices.of_node(&node.name);
            }
        }
        places
    }

    fn held(&mut self, now: Timestamp, known: &BTreeSet<Text>, complete: &BTreeSet<Text>) -> Vec<Nomination> {
        let wanting = &self.wanting;
        let is_unit = |pod: &PodKey| wanting.room(pod).is_some_and(|pod| pod.buffer.is_some());
        self.nominations.current(now, known, complete, is_unit)
    }

    /// The claim, with a later pod event than its status says, where this process saw one.
    fn with_pod_event(&self, entry: &ClaimEntry) -> Arc<joiner_core::snapshot::Claim> {
        let seen = entry
            .claim
            .node_name
            .as_ref()
            .and_then(|node| self.pod_events.get(node))
            .copied();
        if seen <= entry.claim.last_pod_event {
            return entry.claim.clone();
        }
        let mut claim = joiner_core::snapshot::Claim::clone(&entry.claim);
        claim.last_pod_event = seen;
        Arc::new(claim)
    }
}

/// A node without a claim is complete as it is; one of ours when it says so.
fn is_complete(node: &joiner_core::snapshot::NodeObject) -> bool {
    let labels = &node.labels;
    !labels.contains_key(joiner_core::well_known::NODE_POOL)
        || labels.contains_key(joiner_core::well_known::INITIALIZED)
}
