//! DaemonSets and PodDisruptionBudgets as decisions see them.

use super::pod::{Placement, PodSelector};
use crate::resources::Resources;
use crate::text::{Labels, Text};

/// A DaemonSet: the pod it puts on every node that suits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSet {
    /// Namespace and name, as `namespace/name`.
    pub name: Text,
    /// What its pod asks for, from [`super::pod_requests`].
    pub requests: Resources,
    /// Where its pod may run, from its template. The tolerations that the DaemonSet controller adds to every daemon
    /// pod need not be in here.
    pub placement: Placement,
}

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// The namespace whose pods it guards.
    pub namespace: Text,
    /// Its name.
    pub name: Text,
    /// Which pods it guards.
    pub selector: PodSelector,
    /// `status.disruptionsAllowed`.
    pub disruptions_allowed: u32,
    /// Whether unhealthy pods may always be evicted: `unhealthyPodEvictionPolicy: AlwaysAllow`.
    pub always_allow_unhealthy: bool,
}

impl Pdb {
    /// Whether it guards a pod of `namespace` with these labels.
    pub fn guards(&self, namespace: &str, labels: &Labels) -> bool {
        *self.namespace == *namespace && self.selector.selects(labels)
    }
}
