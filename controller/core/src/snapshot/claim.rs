//! A NodeClaim as decisions see it.

use jiff::{SignedDuration, Timestamp};

use super::pool::ClassRef;
use crate::conditions::{self, Conditions};
use crate::requirements::Requirements;
use crate::resources::Resources;
use crate::taints::Taint;
use crate::text::{Labels, Text};
use crate::well_known;

/// A claim: one node wanted, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: Text,
    /// Its uid.
    pub uid: Text,
    /// When it was made.
    pub created: Timestamp,
    /// When it was asked to go.
    pub deletion: Option<Timestamp>,
    /// Its labels: the pool's, and after launch those of the instance.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Labels,
    /// Its finalizers.
    pub finalizers: Vec<Text>,
    /// The class of its node.
    pub class: ClassRef,
    /// `spec.requirements`.
    pub requirements: Requirements,
    /// `spec.resources.requests`: the pods it was made for and the daemons.
    pub requests: Resources,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `spec.startupTaints`.
    pub startup_taints: Vec<Taint>,
    /// The age at which it expires.
    pub expire_after: Option<SignedDuration>,
    /// How long it may drain.
    pub termination_grace_period: Option<SignedDuration>,
    /// `status.providerID`: the instance, once bought.
    pub provider_id: Option<Text>,
    /// `status.nodeName`: the node, once registered.
    pub node_name: Option<Text>,
    /// `status.capacity`.
    pub capacity: Resources,
    /// `status.allocatable`.
    pub allocatable: Resources,
    /// `status.lastPodEventTime`: when a pod last came to or left its node.
    pub last_pod_event: Option<Timestamp>,
    /// Its conditions.
    pub conditions: Conditions,
}

impl Claim {
    /// The pool it belongs to; none for a claim that a person made.
    pub fn pool(&self) -> Option<&Text> {
        self.labels.get(well_known::NODE_POOL)
    }

    /// Whether the instance was bought.
    pub fn is_launched(&self) -> bool {
        self.conditions.is_true(conditions::LAUNCHED)
    }

    /// Whether it is on its way out: asked to go, or its instance is terminating.
    pub fn is_going(&self) -> bool {
        self.deletion.is_some() || self.conditions.is_true(conditions::INSTANCE_TERMINATING)
    }
}
