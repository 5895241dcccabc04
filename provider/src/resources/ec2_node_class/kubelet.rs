//! The kubelet settings of an EC2NodeClass.

use std::collections::BTreeMap;
use tfplugin::{Field, Model, Value};

/// Settings of the nodes' kubelet.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Kubelet {
    /// IP addresses of the cluster's DNS server.
    pub cluster_dns: Field<Vec<String>>,
    /// The most pods on a node.
    pub max_pods: Field<i64>,
    /// The most pods per vCPU.
    pub pods_per_core: Field<i64>,
    /// What is kept for the operating system: `cpu`, `memory`, `ephemeral-storage`, `pid`.
    pub system_reserved: Field<BTreeMap<String, String>>,
    /// What is kept for Kubernetes' own processes: `cpu`, `memory`, `ephemeral-storage`, `pid`.
    pub kube_reserved: Field<BTreeMap<String, String>>,
    /// Signals, such as `memory.available`, and the quantity or percentage at which pods are evicted at once.
    pub eviction_hard: Field<BTreeMap<String, String>>,
    /// Signals and the quantity or percentage at which pods are evicted after a grace period.
    pub eviction_soft: Field<BTreeMap<String, String>>,
    /// Signals of `eviction_soft` and how long each must hold, such as `1m30s`.
    pub eviction_soft_grace_period: Field<BTreeMap<String, String>>,
    /// The most seconds that a pod gets to end when a soft threshold evicts it.
    pub eviction_max_pod_grace_period: Field<i64>,
    /// Disk usage in percent at which unused images are removed.
    pub image_gc_high_threshold_percent: Field<i64>,
    /// Disk usage in percent down to which unused images are removed.
    pub image_gc_low_threshold_percent: Field<i64>,
    /// Whether CPU limits are enforced by CFS quota.
    pub cpu_cfs_quota: Field<bool>,
    /// Any other setting of Kubernetes' KubeletConfiguration, in its own camel case, for families that can pass it on: for example
    /// `{ registryPullQPS = 10 }`.
    pub other: Field<Value>,
}
