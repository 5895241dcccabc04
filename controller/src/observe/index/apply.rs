//! What watches and our own writes tell the index, and whom that wakes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use joiner_api::labels::AWS_GROUP;
use joiner_api::{EC2NodeClass, NodeClaim, NodeClassRef, NodeOverlay, NodePool};
use joiner_core::foresee::Verdict;
use joiner_core::resources::Resources;
use joiner_core::snapshot::{PodKey, PodState};
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::ResourceExt as _;

use super::super::entry::{ClaimEntry, NodeEntry, OverlayEntry, PodEntry, PodPhase, PoolEntry, version};
use super::super::map;
use super::{Index, State};

impl Index {
    /// A pod was made or has changed. Returns how long it took from its making to running, when it has just begun to run.
    pub(crate) fn pod(&self, object: &k8s::Pod, now: Timestamp) -> Option<Duration> {
        let mut entry = PodEntry::new(object, self.wanted, now);
        let key = entry.pod.key.clone();
        if entry.pod.state == PodState::Done {
            self.pod_gone(&key, version(object), now);
            return None;
        }
        let mut state = self.state();
        entry.resolve(state.around.surroundings(), self.workloads());
        let before = state.pods.get(&key).cloned();
        entry.seen = before.as_ref().map_or(entry.seen, |before| before.seen);
        let wanting = entry.pod.is_provisionable();
        if wanting {
            entry.pending_since = before
                .as_ref()
                .and_then(|before| before.pending_since)
                .or(Some(now));
        }
        let was_wanting = before
            .as_ref()
            .is_some_and(|before| before.pending_since.is_some());
        let was_bound = before.as_ref().and_then(|before| before.node.clone());
        let was_ending = before
            .as_ref()
            .is_some_and(|before| before.pod.deletion.is_some());
        let began = before
            .as_ref()
            .is_some_and(|before| before.phase != PodPhase::Running)
            && entry.phase == PodPhase::Running;
        let (node, ending, pod) = (
            entry.node.clone(),
            entry.pod.deletion.is_some(),
            entry.pod.clone(),
        );
        let waits = entry.verdict() != Verdict::Other;
        let held = state.nominations.holds(&key);
        let news = wanting && !was_wanting && !held && state.wanting.is_news(&entry);
        if !state.pods.apply(key.clone(), version(object), entry) {
            return None;
        }
        if !waits {
            state.nominations.release(&key);
        }
        let mut displaced = false;
        if let Some(node) = &node {
            state.on_node.entry(node.clone()).or_default().insert(key);
            if was_bound.is_none() || (ending && !was_ending) {
                state.pod_event(node, now);
            }
            displaced = was_bound.is_none() && state.release_overbooked(node);
            self.ring_for_node(&state, node);
        }
        drop(state);
        if displaced || news {
            self.changes.provision.ring_plain();
        }
        if node.is_some() && (was_bound.is_none() || ending) {
            self.changes.disrupt.ring_plain();
        }
        began.then(|| {
            pod.started()
                .unwrap_or(now)
                .duration_since(pod.created)
                .unsigned_abs()
        })
    }

    /// A pod is gone, or has come to its end.
    pub(crate) fn pod_gone(&self, key: &PodKey, version: u64, now: Timestamp) {
        let mut state = self.state();
        state.nominations.release(key);
        let Some(before) = state.pods.delete(key, version) else {
            return;
        };
        state.unbind(&before, now);
        if let Some(node) = &before.node {
            self.ring_for_node(&state, node);
        }
        drop(state);
        self.changes.disrupt.ring_plain();
    }

    pub(crate) fn node(&self, object: &k8s::Node) {
        let mut state = self.state();
        let entry = NodeEntry::of(object);
        let (name, provider) = (entry.node.name.clone(), entry.node.provider_id.clone());
        let leaving = entry.node.deletion.is_some();
        // Of what a node publishes its type is not known before.
        state.around.devices.unseen |= state.nodes.get(&name).is_none();
        if state.nodes.apply(name.clone(), version(object), entry) {
            let ours = self.ring_for_provider(&state, provider.as_ref());
            // Without a claim the node itself has to be let go.
            if leaving && !ours {
                self.changes.terminate.ring(&name);
            }
        }
        drop(state);
        self.changes.disrupt.ring_plain();
    }

    pub(crate) fn node_gone(&self, name: &Text, version: u64) {
        let mut state = self.state();
        state.pod_events.remove(name);
        if let Some(before) = state.nodes.delete(name, version) {
            self.ring_for_provider(&state, before.node.provider_id.as_ref());
        }
        drop(state);
        self.changes.disrupt.ring_plain();
    }

    /// A claim of another cloud's controller is not ours to look at.
    pub(crate) fn claim(&self, object: &NodeClaim) {
        if !is_ours(&object.spec.node_class_ref) {
            return;
        }
        let entry = ClaimEntry::new(object);
        let claim = entry.claim.clone();
        let mut state = self.state();
        if !state.claims.apply(claim.name.clone(), version(object), entry) {
            return;
        }
        if let Some(id) = &claim.provider_id {
            state.by_provider.insert(id.clone(), claim.name.clone());
        }
        if claim.deletion.is_some() {
            state.marked.remove(&claim.name);
        }
        drop(state);
        self.ring_for_claim(&claim);
    }

    pub(crate) fn claim_gone(&self, name: &Text, version: u64) {
        let mut state = self.state();
        state.marked.remove(name);
        let Some(before) = state.claims.delete(name, version) else {
            return;
        };
        if let Some(id) = &before.claim.provider_id {
            state.by_provider.remove(id);
        }
        drop(state);
        self.ring_for_claim(&before.claim);
        // Its limits are free again, and the pods meant for it need another place.
        self.changes.provision.ring_plain();
    }

    /// A pool of another cloud's controller is not ours to look at.
    pub(crate) fn pool(&self, object: &NodePool) {
        if !is_ours(&object.spec.template.spec.node_class_ref) {
            return;
        }
        let (name, version): (Text, u64) = (object.name_any().into(), version(object));
        let entry = PoolEntry::new(object);
        let mut state = self.state();
        let before = state
            .pools
            .get(&name)
            .map(|before| (before.pool.readiness.clone(), before.object.metadata.generation));
        let after = (entry.pool.readiness.clone(), entry.object.metadata.generation);
        if !state.pools.apply(name.clone(), version, entry) {
            return;
        }
        if before.as_ref().map(|(_, generation)| generation) != Some(&after.1) {
            self.ring_for_drift(&state, |claim| claim.pool() == Some(&name));
        }
        drop(state);
        self.changes.pools.ring(&name);
        // A status that only counts nodes changes no decision.
        if before != Some(after) {
            self.changes.provision.ring_plain();
            self.changes.disrupt.ring_plain();
            self.changes.overlays.ring_plain();
        }
    }

    pub(crate) fn pool_gone(&self, name: &Text, version: u64) {
        self.state().pools.delete(name, version);
        self.changes.pools.ring(name);
        self.changes.provision.ring_plain();
        self.changes.overlays.ring_plain();
    }

    pub(crate) fn overlay(&self, object: &NodeOverlay) {
        let (name, version): (Text, u64) = (object.name_any().into(), version(object));
        let entry = OverlayEntry::new(object);
        let mut state = self.state();
        let news = state
            .overlays
            .get(&name)
            .map(|before| before.object.metadata.generation)
            != Some(object.metadata.generation);
        if !state.overlays.apply(name, version, entry) {
            return;
        }
        drop(state);
        self.changes.overlays.ring_plain();
        // Its status changes no price.
        if news {
            self.changes.provision.ring_plain();
        }
    }

    pub(crate) fn overlay_gone(&self, name: &Text, version: u64) {
        self.state().overlays.delete(name, version);
        self.changes.overlays.ring_plain();
        self.changes.provision.ring_plain();
    }

    pub(crate) fn class(&self, object: &EC2NodeClass) {
        let (name, version): (Text, u64) = (object.name_any().into(), version(object));
        let mut object = object.clone();
        object.metadata.managed_fields = None;
        let seen = |class: &EC2NodeClass| (map::drift::class(class), map::drift::is_settled(class));
        let mut state = self.state();
        let before = state.classes.get(&name).map(|before| seen(before));
        let after = seen(&object);
        if !state.classes.apply(name.clone(), version, Arc::new(object)) {
            return;
        }
        if before != Some(after) {
            self.ring_for_drift(&state, |claim| claim.class.name == name);
        }
        drop(state);
        self.ring_for_class(&name);
    }

    pub(crate) fn class_gone(&self, name: &Text, version: u64) {
        self.state().classes.delete(name, version);
        self.ring_for_class(name);
    }

    pub(crate) fn daemon_set(&self, object: &DaemonSet) {
        let mapped = map::daemon_set(object);
        self.state()
            .daemon_sets
            .apply(mapped.name.clone(), version(object), Arc::new(mapped));
    }

    pub(crate) fn daemon_set_gone(&self, key: &Text, version: u64) {
        self.state().daemon_sets.delete(key, version);
    }

    pub(crate) fn pdb(&self, object: &PodDisruptionBudget) {
        let mapped = map::pdb(object);
        let key: Text = format!("{}/{}", mapped.namespace, mapped.name).into();
        self.state().pdbs.apply(key, version(object), Arc::new(mapped));
        self.ring_terminating();
    }

    pub(crate) fn pdb_gone(&self, key: &Text, version: u64) {
        self.state().pdbs.delete(key, version);
        self.ring_terminating();
    }

    pub(crate) fn attachment(&self, object: &VolumeAttachment) {
        if let Some(mapped) = map::attachment(object) {
            self.state()
                .attachments
                .apply(object.name_any().into(), version(object), mapped);
        }
    }

    pub(crate) fn attachment_gone(&self, key: &Text, version: u64) {
        self.state().attachments.delete(key, version);
        self.ring_terminating();
    }

    /// These pods are meant for `place`. One that is gone or placed by now holds no room.
    pub(crate) fn nominate(&self, pods: &[PodKey], place: &Text) {
        let mut state = self.state();
        for pod in pods {
            if state.needs_place(pod) {
                state.nominations.hold(pod.clone(), place.clone());
            }
        }
    }

    /// A disruption has chosen this node or claim; its pods need another place from now on.
    pub(crate) fn mark(&self, name: &Text) {
        self.state().marked.insert(name.clone());
    }

    /// A disruption has chosen these nodes, and their pods are meant for these places: whoever decides on pods sees all of it or nothing.
    pub(crate) fn hand_over(&self, marked: &[Text], moves: &[(PodKey, Text)]) {
        let mut state = self.state();
        state.marked.extend(marked.iter().cloned());
        for (pod, place) in moves {
            if state.needs_place(pod) {
                state.nominations.hold(pod.clone(), place.clone());
            }
        }
    }

    /// As [`Index::nominate`], for pods that have lost their place or never had one; the others keep theirs.
    pub(crate) fn nominate_again(&self, places: &BTreeMap<PodKey, Text>) {
        let mut state = self.state();
        for (pod, place) in places {
            if !state.nominations.holds(pod) && state.needs_place(pod) {
                state.nominations.hold(pod.clone(), place.clone());
            }
        }
    }

    /// The disruption was not carried out.
    pub(crate) fn unmark(&self, name: &Text) {
        self.state().marked.remove(name);
    }

    /// Wakes every loop about everything.
    pub(crate) fn ring_all(&self) {
        let state = self.state();
        for entry in state.claims.values() {
            self.changes.lifecycle.ring(&entry.claim.name);
            self.changes.terminate.ring(&entry.claim.name);
        }
        for entry in state.nodes.values().filter(|entry| entry.node.deletion.is_some()) {
            self.changes.terminate.ring(&entry.node.name);
        }
        for entry in state.pools.values() {
            self.changes.pools.ring(&entry.pool.name);
        }
        for (name, _) in state.classes.iter() {
            self.changes.classes.ring(name);
        }
        drop(state);
        self.changes.provision.ring_plain();
        self.changes.disrupt.ring_plain();
        self.changes.overlays.ring_plain();
    }

    fn ring_for_claim(&self, claim: &joiner_core::snapshot::Claim) {
        self.changes.lifecycle.ring(&claim.name);
        if claim.deletion.is_some() {
            self.changes.terminate.ring(&claim.name);
            // The pods of its node need another one, and it is ordered before they have to leave.
            self.changes.provision.ring_plain();
        }
        if let Some(pool) = claim.pool() {
            self.changes.pools.ring(pool);
        }
        self.changes.classes.ring(&claim.class.name);
        self.changes.disrupt.ring_plain();
    }

    /// Wakes those who care for the claim of an instance; false where there is none.
    fn ring_for_provider(&self, state: &State, provider: Option<&Text>) -> bool {
        let claim = provider
            .and_then(|id| state.by_provider.get(id))
            .and_then(|name| state.claims.get(name));
        let Some(entry) = claim else { return false };
        self.changes.lifecycle.ring(&entry.claim.name);
        self.changes.terminate.ring(&entry.claim.name);
        if let Some(pool) = entry.claim.pool() {
            self.changes.pools.ring(pool);
        }
        true
    }

    /// A pod or a volume of a node has changed.
    pub(super) fn ring_for_node(&self, state: &State, node: &Text) {
        let provider = state
            .nodes
            .get(node)
            .and_then(|entry| entry.node.provider_id.as_ref());
        let Some(name) = provider.and_then(|id| state.by_provider.get(id)) else {
            return;
        };
        self.changes.lifecycle.ring(name);
        if state
            .claims
            .get(name)
            .is_some_and(|entry| entry.claim.deletion.is_some())
        {
            self.changes.terminate.ring(name);
        }
    }

    /// What these claims are compared with has changed.
    fn ring_for_drift(&self, state: &State, of: impl Fn(&joiner_core::snapshot::Claim) -> bool) {
        for entry in state.claims.values().filter(|entry| of(&entry.claim)) {
            self.changes.lifecycle.ring(&entry.claim.name);
        }
    }

    fn ring_terminating(&self) {
        let state = self.state();
        for entry in state
            .claims
            .values()
            .filter(|entry| entry.claim.deletion.is_some())
        {
            self.changes.terminate.ring(&entry.claim.name);
        }
    }

    fn ring_for_class(&self, class: &Text) {
        self.changes.classes.ring(class);
        let state = self.state();
        for entry in state
            .pools
            .values()
            .filter(|entry| entry.pool.class.name == *class)
        {
            self.changes.pools.ring(&entry.pool.name);
        }
        drop(state);
        self.changes.provision.ring_plain();
        self.changes.overlays.ring_plain();
    }
}

fn is_ours(class: &NodeClassRef) -> bool {
    class.group == AWS_GROUP && class.kind == "EC2NodeClass"
}

impl State {
    /// The scheduler need not put pods where they are meant to go: another may have taken the room of one that is meant for
    /// `node`. Whoever does not fit any more is decided on anew; true if there is such a pod.
    fn release_overbooked(&mut self, node: &Text) -> bool {
        let Some(entry) = self.nodes.get(node) else {
            return false;
        };
        let claim = entry
            .node
            .provider_id
            .as_ref()
            .and_then(|id| self.by_provider.get(id));
        let places: Vec<&Text> = std::iter::once(node).chain(claim).collect();
        let mut meant = self.nominations.meant_for(&places);
        // A real pod before a unit of a buffer, whose room is meant to be taken.
        meant.sort_by_key(|key| self.pods.get(key).is_none());
        if meant.is_empty() {
            return false;
        }
        let bound = self.on_node.get(node).into_iter().flatten();
        let used: Resources = bound
            .filter_map(|key| self.pods.get(key))
            .map(|entry| &entry.pod.requests)
            .sum();
        let mut free = entry.node.allocatable.minus(&used);
        let mut over = Vec::new();
        for key in meant {
            let pod = self.pods.get(&key).map(|entry| &entry.pod);
            match pod.or(self.wanting.room(&key)).map(|pod| &pod.requests) {
                Some(requests) if requests.fits(&free) => free = free.minus(requests),
                _ => over.push(key),
            }
        }
        for key in &over {
            self.nominations.release(key);
        }
        !over.is_empty()
    }

    /// Whether the pod waits for a node, or has one that goes.
    fn needs_place(&self, pod: &PodKey) -> bool {
        if self.wanting.room(pod).is_some() {
            return true;
        }
        let Some(entry) = self.pods.get(pod) else {
            return false;
        };
        let Some(node) = &entry.node else {
            return entry.verdict() != Verdict::Other;
        };
        let provider = self
            .nodes
            .get(node)
            .and_then(|entry| entry.node.provider_id.as_ref());
        let claim = provider
            .and_then(|id| self.by_provider.get(id))
            .and_then(|name| self.claims.get(name));
        entry.pod.deletion.is_none()
            && claim.is_some_and(|it| it.claim.deletion.is_some() || self.marked.contains(&it.claim.name))
    }

    /// A pod left its node.
    pub(super) fn unbind(&mut self, pod: &PodEntry, now: Timestamp) {
        let Some(node) = &pod.node else { return };
        if let Some(pods) = self.on_node.get_mut(node) {
            pods.remove(&pod.pod.key);
            if pods.is_empty() {
                self.on_node.remove(node);
            }
        }
        self.pod_event(node, now);
    }

    fn pod_event(&mut self, node: &Text, now: Timestamp) {
        self.pod_events.insert(node.clone(), now);
    }
}
