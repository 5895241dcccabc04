//! An object's members as the attributes of its resource: names in snake case, in an order that reads well.

use heck::ToSnakeCase as _;
use joiner_api::KubeletConfiguration;
use serde_json::{Map, Value as Json};

use super::hcl::Tree;

/// The order of members; others follow by name.
const ORDER: &[&str] = &[
    "name",
    "labels",
    "annotations",
    "metadata",
    "spec",
    "role",
    "instanceProfile",
    "amiFamily",
    "amiSelectorTerms",
    "subnetSelectorTerms",
    "securityGroupSelectorTerms",
    "capacityReservationSelectorTerms",
    "placementGroupSelector",
    "template",
    "disruption",
    "limits",
    "weight",
    "replicas",
    "group",
    "kind",
    "nodeClassRef",
    "requirements",
    "taints",
    "startupTaints",
    "expireAfter",
    "terminationGracePeriod",
    "key",
    "operator",
    "values",
    "minValues",
    "value",
    "effect",
    "timeAdded",
    "consolidationPolicy",
    "consolidateAfter",
    "budgets",
    "nodes",
    "reasons",
    "schedule",
    "duration",
    "price",
    "priceAdjustment",
    "capacity",
    "alias",
    "id",
    "owner",
    "ssmParameter",
    "deviceName",
    "rootVolume",
    "ebs",
    "volumeSize",
    "volumeType",
    "iops",
    "throughput",
    "blockDeviceMappings",
    "metadataOptions",
    "tags",
    "kubelet",
];

/// Whether a field's keys are names, not fields.
pub(super) fn holds_names(field: &str) -> bool {
    matches!(
        field,
        "labels"
            | "annotations"
            | "tags"
            | "limits"
            | "capacity"
            | "systemReserved"
            | "kubeReserved"
            | "evictionHard"
            | "evictionSoft"
            | "evictionSoftGracePeriod"
    )
}

/// The attributes of an object's members.
pub(super) fn attributes(members: &Map<String, Json>) -> Vec<(String, Tree)> {
    sorted(members)
        .map(|(key, value)| (attribute(key), tree(key, value)))
        .collect()
}

/// The name of the attribute for a field.
fn attribute(field: &str) -> String {
    match field {
        // A digit and letters that no rule of words would leave together.
        "httpProtocolIPv6" => "http_protocol_ipv6".to_owned(),
        other => other.to_snake_case(),
    }
}

fn tree(field: &str, value: &Json) -> Tree {
    match value {
        Json::Object(members) if field == "kubelet" => kubelet(members),
        Json::Object(members) if holds_names(field) => Tree::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), as_it_is(value)))
                .collect(),
        ),
        Json::Object(members) => Tree::Object(attributes(members)),
        Json::Array(items) => Tree::List(items.iter().map(|item| tree("", item)).collect()),
        leaf => as_it_is(leaf),
    }
}

/// Kubelet settings: those without an attribute of their own go below `other`, as the API has them.
fn kubelet(members: &Map<String, Json>) -> Tree {
    let whole = Json::Object(members.clone());
    let other = serde_json::from_value::<KubeletConfiguration>(whole)
        .map(|kubelet| kubelet.other)
        .unwrap_or_default();
    let typed: Map<String, Json> = members
        .iter()
        .filter(|(key, _)| !other.contains_key(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut found = attributes(&typed);
    if !other.is_empty() {
        let other = other.iter().map(|(key, value)| (key.clone(), as_it_is(value)));
        found.push(("other".to_owned(), Tree::Object(other.collect())));
    }
    Tree::Object(found)
}

fn as_it_is(value: &Json) -> Tree {
    match value {
        Json::Null => Tree::Null,
        Json::Bool(value) => Tree::Bool(*value),
        Json::Number(number) => Tree::Number(number.clone()),
        Json::String(text) => Tree::Text(text.clone()),
        Json::Array(items) => Tree::List(items.iter().map(as_it_is).collect()),
        Json::Object(members) => Tree::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), as_it_is(value)))
                .collect(),
        ),
    }
}

fn sorted(members: &Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
    let place = |key: &str| {
        ORDER
            .iter()
            .position(|known| *known == key)
            .unwrap_or(ORDER.len())
    };
    let mut members: Vec<(&String, &Json)> = members.iter().collect();
    members.sort_by_key(|(key, _)| (place(key), (*key).clone()));
    members.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_attributes() {
        for (field, want) in [
            ("nodeClassRef", "node_class_ref"),
            ("clusterDNS", "cluster_dns"),
            ("kmsKeyID", "kms_key_id"),
            ("imageGCHighThresholdPercent", "image_gc_high_threshold_percent"),
            ("cpuCFSQuota", "cpu_cfs_quota"),
            ("associatePublicIPAddress", "associate_public_ip_address"),
            ("httpProtocolIPv6", "http_protocol_ipv6"),
            ("ownerID", "owner_id"),
        ] {
            assert_eq!(attribute(field), want);
        }
    }

    #[test]
    fn names_stay_and_fields_are_sorted() {
        let members = json!({
            "template": { "spec": { "requirements": [{ "values": ["x"], "operator": "In", "key": "a" }], "nodeClassRef": { "name": "c" } } },
            "limits": { "ephemeralStorage": "1" }, "name": "p",
        });
        let found = attributes(members.as_object().expect("an object"));
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["name", "template", "limits"]);
        let Tree::Object(limits) = &found[2].1 else {
            panic!("an object")
        };
        assert_eq!(limits[0].0, "ephemeralStorage");
        let Tree::Object(template) = &found[1].1 else {
            panic!("an object")
        };
        let Tree::Object(spec) = &template[0].1 else {
            panic!("an object")
        };
        assert_eq!(spec[0].0, "node_class_ref");
    }

    #[test]
    fn other_kubelet_settings_keep_their_words() {
        let members =
            json!({ "maxPods": 5, "registryPullQPS": 3, "memorySwap": { "swapBehavior": "NoSwap" } });
        let Tree::Object(found) = kubelet(members.as_object().expect("an object")) else {
            panic!("an object")
        };
        assert_eq!(found[0], ("max_pods".to_owned(), Tree::Number(5.into())));
        let Tree::Object(other) = &found[1].1 else {
            panic!("an object")
        };
        let names: Vec<&str> = other.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            (found[1].0.as_str(), names),
            ("other", vec!["memorySwap", "registryPullQPS"])
        );
    }
}
