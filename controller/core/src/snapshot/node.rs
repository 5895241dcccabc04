//! A place for pods: a node, a claim that will become one, or both halves of the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::claim::Claim;
use super::device::Device;
use super::pod::{Pod, PodKey};
use crate::requirements::Requirements;
use crate::resources::{ResourceName, Resources};
use crate::taints::Taint;
use crate::text::{Labels, Text};
use crate::well_known;

/// A Node object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeObject {
    /// Its name.
    pub name: Text,
    /// Its uid.
    pub uid: Text,
    /// When it joined.
    pub created: Timestamp,
    /// When it was asked to go.
    pub deletion: Option<Timestamp>,
    /// `spec.providerID`.
    pub provider_id: Option<Text>,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Labels,
    /// Its finalizers.
    pub finalizers: Vec<Text>,
    /// Its taints; a cordoned node carries `node.kubernetes.io/unschedulable`.
    pub taints: Vec<Taint>,
    /// Whether its condition Ready is true.
    pub ready: bool,
    /// `status.capacity`.
    pub capacity: Resources,
    /// `status.allocatable`.
    pub allocatable: Resources,
}

/// How far a place has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// A claim whose instance is not bought yet: any of several types.
    Planned,
    /// An instance was bought; its node has not registered.
    Launched,
    /// The node is there and still starts.
    Registered,
    /// The node is complete; a node that no claim stands behind always is.
    Initialized,
}

/// A node, a claim, or both.
#[derive(Clone, Debug)]
pub struct Node {
    /// The claim, for nodes that are ours.
    pub claim: Option<Arc<Claim>>,
    /// The node, once it has joined.
    pub object: Option<Arc<NodeObject>>,
    /// The pods bound to it, finished ones left out.
    pub pods: Vec<Arc<Pod>>,
    /// Pods that an earlier decision meant for it and that are not bound yet; they hold their room.
    pub nominated: Vec<PodKey>,
    /// Until when such a decision keeps it from being disrupted.
    pub nominated_until: Option<Timestamp>,
    /// Whether a disruption command has chosen it.
    pub marked_for_deletion: bool,
    /// Names of volumes that are still attached.
    pub attached_volumes: Vec<Text>,
    /// How many volumes each CSI driver can attach, from its CSINode; without bound where not named.
    pub attach_limits: BTreeMap<Text, u32>,
    /// The devices its drivers publish. Until the node is complete, those of a driver that has published none are taken from
    /// its instance type.
    pub devices: Vec<Device>,
}

impl Node {
    /// A place made of these halves, with nothing on it. `None` where there is neither.
    pub fn new(claim: Option<Arc<Claim>>, object: Option<Arc<NodeObject>>) -> Option<Node> {
        (claim.is_some() || object.is_some()).then_some(Node {
            claim,
            object,
            pods: Vec::new(),
            nominated: Vec::new(),
            nominated_until: None,
            marked_for_deletion: false,
            attached_volumes: Vec::new(),
            attach_limits: BTreeMap::new(),
            devices: Vec::new(),
        })
    }

    /// The name decisions know it by: the node's once it has registered, the claim's before.
    pub fn name(&self) -> &Text {
        static NOWHERE: std::sync::LazyLock<Text> = std::sync::LazyLock::new(|| Text::from(""));
        match (&self.claim, &self.object) {
            (Some(claim), Some(_)) if self.phase() < Phase::Registered => &claim.name,
            (_, Some(object)) => &object.name,
            (Some(claim), None) => &claim.name,
            (None, None) => &NOWHERE,
        }
    }

    /// Its pool.
    pub fn pool(&self) -> Option<&Text> {
        self.claim
            .as_ref()
            .and_then(|claim| claim.pool())
            .or_else(|| self.labels()?.get(well_known::NODE_POOL))
    }

    /// How far it has come.
    pub fn phase(&self) -> Phase {
        let labelled = |key: &str| {
            self.object
                .as_ref()
                .is_some_and(|node| node.labels.get(key).is_some_and(|value| &**value == "true"))
        };
        match &self.claim {
            None => Phase::Initialized,
            Some(_) if labelled(well_known::INITIALIZED) => Phase::Initialized,
            Some(_) if labelled(well_known::REGISTERED) => Phase::Registered,
            Some(claim) if claim.provider_id.is_some() => Phase::Launched,
            Some(_) => Phase::Planned,
        }
    }

    /// Its labels: the claim's until the node has registered.
    pub fn labels(&self) -> Option<&Labels> {
        match (&self.claim, &self.object) {
            (Some(claim), _) if self.phase() < Phase::Registered => Some(&claim.labels),
            (_, Some(object)) => Some(&object.labels),
            (Some(claim), None) => Some(&claim.labels),
            (None, None) => None,
        }
    }

    /// Its annotations: the claim's until the node has registered.
    pub fn annotations(&self) -> Option<&Labels> {
        match (&self.claim, &self.object) {
            (Some(claim), _) if self.phase() < Phase::Registered => Some(&claim.annotations),
            (_, Some(object)) => Some(&object.annotations),
            (Some(claim), None) => Some(&claim.annotations),
            (None, None) => None,
        }
    }

    /// What pods can rely on of its labels. A claim without an instance may still become any of several types; its
    /// requirements say which labels are open.
    pub fn requirements(&self) -> Requirements {
        let mut all: Requirements = self.labels().map(Requirements::from_labels).unwrap_or_default();
        if let (Phase::Planned, Some(claim)) = (self.phase(), &self.claim) {
            all.add_all(&claim.requirements);
        }
        all
    }

    /// The taints that a pod meant for it must bear. Until it is initialised its startup taints and those of a
    /// starting kubelet do not count, for they go.
    pub fn taints(&self) -> Vec<Taint> {
        let phase = self.phase();
        let taints = match (&self.claim, &self.object) {
            (Some(claim), _) if phase < Phase::Registered => &claim.taints,
            (_, Some(object)) => &object.taints,
            (Some(claim), None) => &claim.taints,
            (None, None) => return Vec::new(),
        };
        let starts_with = |taint: &Taint| match &self.claim {
            Some(claim) if phase < Phase::Initialized => {
                taint.is_ephemeral() || claim.startup_taints.iter().any(|startup| startup.is_same(taint))
            }
            _ => false,
        };
        taints
            .iter()
            .filter(|taint| !starts_with(taint))
            .cloned()
            .collect()
    }

    /// What it has, as far as known. Until it is initialised, what the node does not report yet is taken from the claim.
    pub fn capacity(&self) -> Resources {
        self.blend(|claim| &claim.capacity, |node| &node.capacity)
    }

    /// What it has for pods, as far as known; nothing for a claim without an instance.
    pub fn allocatable(&self) -> Resources {
        self.blend(|claim| &claim.allocatable, |node| &node.allocatable)
    }

    /// What the bound pods take.
    pub fn used(&self) -> Resources {
        self.pods
            .iter()
            .filter(|pod| pod.is_running())
            .map(|pod| &pod.requests)
            .sum()
    }

    /// Whether it is on its way out, or chosen to be.
    pub fn is_going(&self) -> bool {
        self.marked_for_deletion
            || match (&self.claim, &self.object) {
                (Some(claim), _) => claim.is_going(),
                (None, Some(object)) => object.deletion.is_some(),
                (None, None) => true,
            }
    }

    /// Whether pods are on their way to it at `now`.
    pub fn is_nominated(&self, now: Timestamp) -> bool {
        self.nominated_until.is_some_and(|until| until > now)
    }

    /// What it counts against its pool's limits: capacity, and one node.
    pub fn usage(&self) -> Resources {
        self.capacity().with(ResourceName::nodes(), 1)
    }

    fn blend(
        &self,
        of_claim: impl Fn(&Claim) -> &Resources,
        of_node: impl Fn(&NodeObject) -> &Resources,
    ) -> Resources {
        match (&self.claim, &self.object) {
            (Some(claim), Some(node)) if self.phase() < Phase::Initialized => {
                let mut all = of_node(node).clone();
                for (name, amount) in of_claim(claim).iter() {
                    if all.get(&name) == 0 {
                        all.set(&name, amount);
                    }
                }
                all
            }
            (_, Some(node)) => of_node(node).clone(),
            (Some(claim), None) => of_claim(claim).clone(),
            (None, None) => Resources::new(),
        }
    }
}
