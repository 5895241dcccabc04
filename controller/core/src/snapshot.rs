//! The picture of the cluster that every decision looks at: plain values, taken at one moment.

mod claim;
mod daemon;
mod join;
mod node;
mod pod;
mod pool;

use std::sync::Arc;

pub use claim::Claim;
pub use daemon::{DaemonSet, Pdb};
pub use join::{Nomination, Parts, join};
pub use node::{Node, NodeObject, Phase};
pub use pod::{
    ContainerKind, ContainerRequests, DoNotDisrupt, HostPort, InclusionPolicy, NodeTerm, Owner, Placement,
    Pod, PodKey, PodSelector, PodState, PodTerm, Preferred, Spread, Strength, VolumeNeed, pod_requests,
};
pub use pool::{
    Budget, BudgetNodes, BudgetWindow, ClassRef, ConsolidationPolicy, Disruption, DisruptionReason, Pool,
    PoolHash, Readiness,
};

/// The cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Every pool.
    pub pools: Vec<Arc<Pool>>,
    /// Every node and every claim, each once.
    pub nodes: Vec<Node>,
    /// Every DaemonSet.
    pub daemon_sets: Vec<Arc<DaemonSet>>,
    /// Every pod that is not bound.
    pub pending: Vec<Arc<Pod>>,
    /// Every PodDisruptionBudget.
    pub pdbs: Vec<Arc<Pdb>>,
    /// How the controller is set up.
    pub settings: Settings,
}

/// The settings that change decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What preferences of pods are worth.
    pub preference_policy: PreferencePolicy,
    /// What happens where `minValues` cannot be met.
    pub min_values_policy: MinValuesPolicy,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            preference_policy: PreferencePolicy::Respect,
            min_values_policy: MinValuesPolicy::Strict,
        }
    }
}

/// `PREFERENCE_POLICY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreferencePolicy {
    /// Kept where possible.
    Respect,
    /// Not looked at.
    Ignore,
}

/// `MIN_VALUES_POLICY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinValuesPolicy {
    /// No node is bought.
    Strict,
    /// The count is lowered to what there is, and the claim says so.
    BestEffort,
}

impl Snapshot {
    /// The pool called `name`.
    pub fn pool(&self, name: &str) -> Option<&Arc<Pool>> {
        self.pools.iter().find(|pool| &*pool.name == name)
    }

    /// The node or claim that decisions know as `name`.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| &**node.name() == name)
    }
}
