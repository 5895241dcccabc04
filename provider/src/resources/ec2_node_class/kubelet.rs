//! The kubelet settings of an EC2NodeClass.

use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tfplugin::json::{attribute_names, from_json, to_json};
use tfplugin::{AttributePath, Diagnostic, Diagnostics, Field, Model, Value};

/// Settings of the nodes' kubelet.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Kubelet {
    /// IP addresses of the cluster's DNS server.
    #[tf(json = "clusterDNS")]
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
    #[tf(json = "imageGCHighThresholdPercent")]
    pub image_gc_high_threshold_percent: Field<i64>,
    /// Disk usage in percent down to which unused images are removed.
    #[tf(json = "imageGCLowThresholdPercent")]
    pub image_gc_low_threshold_percent: Field<i64>,
    /// Whether CPU limits are enforced by CFS quota.
    #[tf(json = "cpuCFSQuota")]
    pub cpu_cfs_quota: Field<bool>,
    /// Any other setting of Kubernetes' KubeletConfiguration, in its own camel case, for families that can pass it on: for example
    /// `{ registryPullQPS = 10 }`.
    pub other: Field<Value>,
}

/// A spec's `kubelet` from the attributes' JSON: the settings under `other` stand beside the typed ones.
pub(super) fn to_spec(mut json: Json) -> Json {
    if let Some(kubelet) = json.get_mut("kubelet").and_then(Json::as_object_mut)
        && let Some(Json::Object(other)) = kubelet.remove("other")
    {
        for (key, value) in other {
            kubelet.entry(key).or_insert(value);
        }
    }
    json
}

/// The attributes' JSON from a spec: settings without an attribute go under `other`.
pub(super) fn from_spec(mut spec: Json) -> Json {
    if let Some(kubelet) = spec.get_mut("kubelet").and_then(Json::as_object_mut) {
        let foreign: Vec<String> = kubelet.keys().filter(|key| !is_typed(key)).cloned().collect();
        let other: Map<String, Json> = foreign
            .into_iter()
            .filter_map(|key| Some((key.clone(), kubelet.remove(&key)?)))
            .collect();
        if !other.is_empty() {
            kubelet.insert("other".to_owned(), Json::Object(other));
        }
    }
    spec
}

/// The settings under `other` that have an attribute of their own, which is set as well.
pub(super) fn said_twice(kubelet: &Kubelet) -> Result<Diagnostics, Diagnostics> {
    let whole = to_json(kubelet)?;
    let names = attribute_names::<Kubelet>();
    let other = whole.value["other"].as_object().into_iter().flatten();
    let typed = |key: &str| {
        !whole.value[key].is_null()
            || whole
                .unknown
                .iter()
                .any(|steps| steps.first() == Some(&key.into()))
    };
    let twice = other.filter(|(key, _)| is_typed(key) && typed(key));
    Ok(twice
        .map(|(key, _)| {
            let name = &names[key];
            let path = AttributePath::from("kubelet").attribute(name.as_str());
            Diagnostic::error(
                "Two values for one setting",
                format!("{path}: the kubelet's {key} is set here and under kubelet.other. Keep this one, and remove {key} from other."),
            )
            .at(path)
        })
        .collect())
}

/// Whether a setting has an attribute of its own.
fn is_typed(key: &str) -> bool {
    let probe = Json::Object(Map::from_iter([(key.to_owned(), Json::Null)]));
    key != "other" && from_json::<Kubelet>(&probe).is_ok_and(|read| read.ignored.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn other_settings_stand_beside_the_typed_ones() {
        let spec = json!({ "kubelet": { "maxPods": 10, "clusterDNS": ["10.0.0.10"], "registryPullQPS": 5 } });
        let attributes = json!({ "kubelet": { "maxPods": 10, "clusterDNS": ["10.0.0.10"], "other": { "registryPullQPS": 5 } } });
        assert_eq!(from_spec(spec.clone()), attributes);
        assert_eq!(to_spec(attributes), spec);
        let plain = json!({ "kubelet": { "maxPods": 10 } });
        assert_eq!(
            (from_spec(plain.clone()), to_spec(plain.clone())),
            (plain.clone(), plain)
        );
    }
}
