//! Kubelet settings of an EC2NodeClass.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// Settings of the kubelet. The named fields are checked and used in decisions; any other setting of
/// Kubernetes' KubeletConfiguration is kept and handed to families that can pass it on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::cel(&[
    (
        "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent",
        "image clean-up starts at the high threshold and stops at the low one: 'imageGCHighThresholdPercent' must be greater than 'imageGCLowThresholdPercent'",
    ),
    (
        "!has(self.evictionSoft) || self.evictionSoft.all(signal, has(self.evictionSoftGracePeriod) && signal in self.evictionSoftGracePeriod)",
        "each signal of 'evictionSoft' needs a grace period: add it to 'evictionSoftGracePeriod'",
    ),
    (
        "!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(signal, has(self.evictionSoft) && signal in self.evictionSoft)",
        "a grace period is for a signal of 'evictionSoft': add the signal there or remove its grace period",
    ),
])))]
pub struct KubeletConfiguration {
    /// IP addresses of the cluster's DNS server.
    #[serde(default, rename = "clusterDNS", skip_serializing_if = "Vec::is_empty")]
    pub cluster_dns: Vec<String>,
    /// Whether CPU limits are enforced by CFS quota.
    #[serde(default, rename = "cpuCFSQuota", skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Signals and the quantity or percentage at which pods are evicted at once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "thresholds")]
    pub eviction_hard: BTreeMap<String, String>,
    /// The most seconds that a pod gets when a soft threshold evicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// Signals and the quantity or percentage at which pods are evicted after a grace period.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "thresholds")]
    pub eviction_soft: BTreeMap<String, String>,
    /// Signals and how long their soft threshold must hold, as durations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[SIGNALS])))]
    pub eviction_soft_grace_period: BTreeMap<String, String>,
    /// Disk usage in percent at which unused images are removed.
    #[serde(
        default,
        rename = "imageGCHighThresholdPercent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Disk usage in percent down to which unused images are removed.
    #[serde(
        default,
        rename = "imageGCLowThresholdPercent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// What is kept for Kubernetes' own processes: cpu, memory, ephemeral-storage, pid.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "reserved")]
    pub kube_reserved: BTreeMap<String, String>,
    /// The most pods on a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_pods: Option<i32>,
    /// The most pods per vCPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub pods_per_core: Option<i32>,
    /// What is kept for the operating system's processes: cpu, memory, ephemeral-storage, pid.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "reserved")]
    pub system_reserved: BTreeMap<String, String>,
    /// Every other setting, as written.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

const SIGNALS: schema::Rule = (
    "self.all(signal, signal in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",
    "unknown signal: use memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree or pid.available",
);

fn thresholds(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "string",
            "pattern": r"^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%||(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$",
        },
        "x-kubernetes-validations": schema::cel(&[SIGNALS]),
    })
}

fn reserved(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "additionalProperties": {"type": "string", "pattern": schema::QUANTITY},
        "x-kubernetes-validations": schema::cel(&[
            (
                "self.all(name, name in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",
                "only cpu, memory, ephemeral-storage and pid can be kept back: remove the others",
            ),
            (
                "self.all(name, !self[name].startsWith('-'))",
                "what is kept back cannot be negative: give a quantity of at least 0",
            ),
        ]),
    })
}
