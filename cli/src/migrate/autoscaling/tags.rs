//! Tags of groups: what Cluster Autoscaler reads in them, and what instances get.

use serde_json::{Map, Value as Json, json};

use super::Pool;

/// What Cluster Autoscaler reads of a group that has no node.
const NODE_TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template/";

/// The managed node group that a group belongs to.
pub(super) fn managed_by(group: &Json) -> Option<String> {
    value_of(group, |key| key == "eks:nodegroup-name")
}

/// The cluster that a group belongs to.
pub(super) fn cluster_of(group: &Json) -> Option<String> {
    let key_with = |prefix: &str| {
        let tags = group["Tags"].as_array().into_iter().flatten();
        tags.filter_map(|tag| tag["Key"].as_str()?.strip_prefix(prefix).map(str::to_owned))
            .find(|rest| !rest.is_empty() && !rest.contains('/') && rest != "enabled")
    };
    value_of(group, |key| key == "eks:cluster-name")
        .or_else(|| key_with("kubernetes.io/cluster/"))
        .or_else(|| key_with("k8s.io/cluster-autoscaler/"))
}

fn value_of(group: &Json, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let mut tags = group["Tags"].as_array().into_iter().flatten();
    let tag = tags.find(|tag| tag["Key"].as_str().is_some_and(&is_it))?;
    tag["Value"].as_str().map(str::to_owned)
}

/// Takes a group's tags: labels and taints go to the pool, tags of instances into `tags`.
pub(super) fn take(list: &Json, pool: &mut Pool, tags: &mut Map<String, Json>) {
    for tag in list.as_array().into_iter().flatten() {
        let text = |key: &str| tag[key].as_str().unwrap_or_default();
        let (key, value) = (text("Key"), text("Value"));
        if let Some(rest) = key.strip_prefix(NODE_TEMPLATE) {
            node_template(rest, value, pool);
        } else if tag["PropagateAtLaunch"] == true && !is_the_controllers(key) {
            tags.insert(key.to_owned(), json!(value));
        }
    }
}

fn node_template(rest: &str, value: &str, pool: &mut Pool) {
    match rest.split_once('/') {
        Some(("label", key)) if is_restricted(key) => {
            pool.remarks.push(format!("tag {NODE_TEMPLATE}{rest} ({value}): nodes get that label from the controller"));
        }
        Some(("label", key)) => {
            pool.labels.insert(key.to_owned(), json!(value));
        }
        Some(("taint", key)) => {
            let (value, effect) = value.split_once(':').unwrap_or(("", value));
            let mut taint = json!({ "key": key, "effect": effect });
            if !value.is_empty() {
                taint["value"] = json!(value);
            }
            pool.taints.push(taint);
        }
        Some(("resources", name)) => pool.remarks.push(format!(
            "tag {NODE_TEMPLATE}resources/{name} ({value}): say it with a joiner_node_overlay, if no device plugin of the controller's \
             catalogue knows it"
        )),
        _ => pool.remarks.push(format!("tag {NODE_TEMPLATE}{rest} ({value}) has no counterpart")),
    }
}

/// Labels that the API does not let a pool set.
fn is_restricted(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    matches!(
        domain,
        "kubernetes.io" | "topology.kubernetes.io" | "karpenter.sh" | "karpenter.k8s.aws"
    ) || (domain == "node.kubernetes.io" && key.ends_with("/instance-type"))
        || domain.starts_with("eks.amazonaws.com")
}

/// Tags that the controller or AWS writes.
pub(super) fn is_the_controllers(key: &str) -> bool {
    [
        "kubernetes.io/cluster/",
        "k8s.io/",
        "eks:",
        "aws:",
        "karpenter.sh/",
        "karpenter.k8s.aws/",
    ]
    .iter()
    .any(|prefix| key.starts_with(prefix))
}
