//! The picture of the cluster that every decision looks at: plain values, taken at one moment.

mod claim;
mod daemon;
mod device;
mod join;
mod node;
mod pod;
mod pool;
mod settings;

use std::sync::Arc;

pub use claim::Claim;
pub use daemon::{DaemonSet, Pdb};
pub use device::{Attribute, Device, DeviceClaim, DeviceRequest, DeviceTest, DeviceWish};
pub use join::{Nomination, Parts, join};
pub use node::{Node, NodeObject, Phase};
pub use pod::{
    Attachment, ContainerKind, ContainerRequests, DoNotDisrupt, HostPort, InclusionPolicy, NodeTerm, Owner,
    Placement, Pod, PodKey, PodSelector, PodState, PodTerm, Preferred, Spread, Strength, VolumeNeed,
    Workload, pod_requests, resized_requests,
};
pub use pool::{
    Budget, BudgetNodes, BudgetWindow, ClassRef, ConsolidationPolicy, Disruption, DisruptionReason, Pool,
    PoolHash, Readiness,
};
pub use settings::{DefaultSpread, Gates, Guards, MinValuesPolicy, PreferencePolicy, Settings, Strategy};

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
