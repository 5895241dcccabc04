//! A Provisioner as a NodePool.

use serde_json::{Map, Value as Json, json};

use super::template;
use crate::migrate::piece::{Fields, Harvest, Piece, PoolKubelet, Renamed, put};

/// Requirements that the webhook added where a Provisioner had none for the keys.
const DEFAULTS: [(&str, &str, &[&str]); 3] = [
    ("kubernetes.io/os", "In", &["linux"]),
    ("kubernetes.io/arch", "In", &["amd64"]),
    ("karpenter.sh/capacity-type", "In", &["on-demand"]),
];
/// Those for a Provisioner that says nothing of instance types.
const TYPES: [(&str, &str, &[&str]); 2] = [
    ("karpenter.k8s.aws/instance-category", "In", &["c", "m", "r"]),
    ("karpenter.k8s.aws/instance-generation", "Gt", &["2"]),
];
/// Keys that say something of instance types.
const TYPE_KEYS: [&str; 4] = [
    "node.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-generation",
];
/// The one key that no pool can require.
const OWN_NAME: &str = "karpenter.sh/provisioner-name";

/// What a Provisioner calls the fields of a pool.
const RENAMED: Renamed = &[
    ("spec.template.metadata", "spec"),
    ("spec.template.spec", "spec"),
    ("spec.template.spec.nodeClassRef", "spec.providerRef"),
    ("spec.template.spec.expireAfter", "spec.ttlSecondsUntilExpired"),
    ("spec.disruption", "spec.consolidation"),
    ("spec.disruption.consolidateAfter", "spec.ttlSecondsAfterEmpty"),
    ("spec.limits", "spec.limits.resources"),
];

/// A NodePool; also a class, where the Provisioner describes instances itself.
pub(crate) fn provisioner(source: &str, old: Json) -> Harvest {
    let mut remarks = Vec::new();
    let mut old = Fields::of("", Some(old));
    let metadata = old.take("metadata").unwrap_or_default();
    let name = metadata["name"].as_str().unwrap_or_default().to_owned();
    let mut spec = Fields::of("spec", old.take("spec"));
    let mut harvest = Harvest::default();
    let class = match (spec.take("providerRef"), spec.take("provider")) {
        (Some(reference), inline) => {
            if let Some(inline) = inline {
                remarks.push(format!(
                    "spec.provider ({inline}) counts for nothing beside spec.providerRef"
                ));
            }
            let mut reference = Fields::of("spec.providerRef", Some(reference));
            reference.forget(&["kind", "apiVersion"]);
            let class = reference.text("name").unwrap_or_default();
            reference.left(&mut remarks);
            class
        }
        (None, Some(inline)) => {
            harvest.append(template::inline(source, &name, inline));
            name.clone()
        }
        (None, None) => {
            remarks.push("spec.providerRef is not there: name the node class in node_class_ref".to_owned());
            "default".to_owned()
        }
    };
    let old_labels = spec.take("labels");
    let requirements = requirements(spec.take("requirements"), old_labels.as_ref(), &mut remarks);
    let mut inner = json!({
        "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": class },
        "requirements": requirements,
        "expireAfter": expiry(&mut spec),
    });
    for name in ["taints", "startupTaints"] {
        put(&mut inner, name, spec.take(name));
    }
    let mut template = json!({ "spec": inner });
    let labels = own_name_out(old_labels, "labels", &mut remarks);
    let annotations = annotations(spec.take("annotations"), &mut remarks);
    if labels.is_some() || annotations.is_some() {
        template["metadata"] = json!({});
        put(&mut template["metadata"], "labels", labels);
        put(&mut template["metadata"], "annotations", annotations);
    }
    let mut new = json!({ "template": template, "disruption": disruption(&mut spec, &mut remarks) });
    let mut limits = spec.within("limits");
    put(&mut new, "limits", limits.take("resources"));
    limits.left(&mut remarks);
    put(&mut new, "weight", spec.take("weight"));
    let kubelet = spec.take("kubeletConfiguration").unwrap_or_default();
    spec.left(&mut remarks);
    harvest.kubelets.push(PoolKubelet {
        pool: name,
        class,
        settings: kubelet,
        field: "spec.kubeletConfiguration",
    });
    harvest.pieces.push(Piece {
        remarks,
        renamed: RENAMED,
        ..Piece::new(source, crate::migrate::manifest("NodePool", &metadata, new))
    });
    harvest
}

/// The requirements, with those that the webhook added for keys of which neither they nor the labels speak.
fn requirements(old: Option<Json>, labels: Option<&Json>, remarks: &mut Vec<String>) -> Json {
    let mut found: Vec<Json> = match old {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    };
    found.retain(|requirement| {
        let is_own = requirement["key"] == OWN_NAME;
        if is_own {
            remarks.push(format!(
                "spec.requirements: {OWN_NAME} cannot be required; pods select karpenter.sh/nodepool"
            ));
        }
        !is_own
    });
    let has = |found: &[Json], key: &str| {
        found.iter().any(|requirement| requirement["key"] == key)
            || labels.is_some_and(|labels| !labels[key].is_null())
    };
    let mut added = Vec::new();
    for (key, operator, values) in DEFAULTS {
        if !has(&found, key) {
            added.push(json!({ "key": key, "operator": operator, "values": values }));
        }
    }
    if !TYPE_KEYS.iter().any(|key| has(&found, key)) {
        for (key, operator, values) in TYPES {
            added.push(json!({ "key": key, "operator": operator, "values": values }));
        }
    }
    if !added.is_empty() {
        let keys: Vec<&str> = added
            .iter()
            .filter_map(|requirement| requirement["key"].as_str())
            .collect();
        remarks.push(format!(
            "requirements for {} are written, since they were added to a Provisioner without them",
            keys.join(", ")
        ));
    }
    found.extend(added);
    Json::Array(found)
}

/// Without `ttlSecondsUntilExpired` a node never expired.
fn expiry(spec: &mut Fields) -> String {
    match spec
        .take("ttlSecondsUntilExpired")
        .and_then(|seconds| seconds.as_u64())
    {
        Some(seconds) => duration(seconds),
        None => "Never".to_owned(),
    }
}

fn disruption(spec: &mut Fields, remarks: &mut Vec<String>) -> Json {
    let mut consolidation = spec.within("consolidation");
    let consolidates = consolidation.take("enabled") == Some(json!(true));
    consolidation.left(remarks);
    let empty = spec
        .take("ttlSecondsAfterEmpty")
        .and_then(|seconds| seconds.as_u64());
    if let (true, Some(seconds)) = (consolidates, empty) {
        remarks.push(format!(
            "spec.ttlSecondsAfterEmpty ({seconds}) counts for nothing beside spec.consolidation: a node without pods goes as soon as one that \
             is not needed"
        ));
    }
    match (consolidates, empty) {
        (true, _) => json!({ "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s" }),
        (false, Some(seconds)) => {
            json!({ "consolidationPolicy": "WhenEmpty", "consolidateAfter": duration(seconds) })
        }
        // Neither: nodes were never given back.
        (false, None) => json!({ "consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never" }),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0 => "0s".to_owned(),
        whole if whole.is_multiple_of(3600) => format!("{}h", whole / 3600),
        whole if whole.is_multiple_of(60) => format!("{}m", whole / 60),
        other => format!("{other}s"),
    }
}

fn own_name_out(map: Option<Json>, what: &str, remarks: &mut Vec<String>) -> Option<Json> {
    let mut map = map?;
    if let Some(value) = map.as_object_mut().and_then(|members| members.remove(OWN_NAME)) {
        remarks.push(format!(
            "spec.{what}: {OWN_NAME} ({value}) is karpenter.sh/nodepool now, which the controller sets"
        ));
    }
    Some(map).filter(|map| map.as_object().is_some_and(|members| !members.is_empty()))
}

fn annotations(map: Option<Json>, remarks: &mut Vec<String>) -> Option<Json> {
    let Json::Object(old) = map? else { return None };
    let mut new = Map::new();
    for (key, value) in old {
        let renamed = match key.as_str() {
            "karpenter.sh/do-not-consolidate" | "karpenter.sh/do-not-evict" => "karpenter.sh/do-not-disrupt",
            other => other,
        };
        if renamed != key {
            remarks.push(format!("spec.annotations: {key} is {renamed} now"));
        }
        new.insert(renamed.to_owned(), value);
    }
    Some(Json::Object(new)).filter(|map| map.as_object().is_some_and(|members| !members.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::current::settle;

    fn converted(spec: Json) -> Harvest {
        provisioner(
            "Provisioner p",
            json!({ "metadata": { "name": "p" }, "spec": spec }),
        )
    }

    fn pool(harvest: &Harvest) -> &Piece {
        harvest
            .pieces
            .iter()
            .find(|piece| piece.kind() == "NodePool")
            .expect("a pool")
    }

    #[test]
    fn every_field_has_its_place() {
        let harvest = converted(json!({
            "providerRef": { "name": "c", "kind": "AWSNodeTemplate" }, "labels": { "team": "a", "karpenter.sh/provisioner-name": "p" },
            "annotations": { "karpenter.sh/do-not-consolidate": "true" }, "taints": [{ "key": "t", "effect": "NoSchedule" }],
            "startupTaints": [{ "key": "s", "effect": "NoExecute" }],
            "requirements": [{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5"] }],
            "kubeletConfiguration": { "maxPods": 7, "containerRuntime": "dockerd" },
            "ttlSecondsAfterEmpty": 90, "ttlSecondsUntilExpired": 7200, "limits": { "resources": { "cpu": 10 } }, "weight": 3,
            "surprise": { "a": 1 },
        }));
        let piece = pool(&harvest);
        let spec = &piece.manifest["spec"];
        let inner = &spec["template"]["spec"];
        assert_eq!(inner["nodeClassRef"]["name"], "c");
        assert_eq!(inner["expireAfter"], "2h");
        assert_eq!(
            spec["disruption"],
            json!({ "consolidationPolicy": "WhenEmpty", "consolidateAfter": "90s" })
        );
        assert_eq!(
            (&spec["limits"], &spec["weight"]),
            (&json!({ "cpu": 10 }), &json!(3))
        );
        assert_eq!(
            spec["template"]["metadata"],
            json!({
                "labels": { "team": "a" }, "annotations": { "karpenter.sh/do-not-disrupt": "true" },
            })
        );
        let keys: Vec<&str> = inner["requirements"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|requirement| requirement["key"].as_str())
            .collect();
        assert_eq!(
            keys,
            [
                "karpenter.k8s.aws/instance-family",
                "kubernetes.io/os",
                "kubernetes.io/arch",
                "karpenter.sh/capacity-type"
            ]
        );
        assert_eq!(harvest.kubelets[0].settings["maxPods"], 7);
        let said = piece.remarks.join("\n");
        assert!(
            said.contains("spec.surprise ({\"a\":1})") && said.contains("provisioner-name"),
            "{said}"
        );
        assert!(!piece.exists, "no cluster has a NodePool of a Provisioner's");
        assert!(settle(piece).is_ok());
    }

    #[test]
    fn what_was_left_out_had_a_meaning() {
        for (spec, policy, after) in [
            (
                json!({ "consolidation": { "enabled": true } }),
                "WhenEmptyOrUnderutilized",
                "0s",
            ),
            (
                json!({ "consolidation": { "enabled": false } }),
                "WhenEmpty",
                "Never",
            ),
            (json!({ "ttlSecondsAfterEmpty": 3600 }), "WhenEmpty", "1h"),
        ] {
            let harvest = converted(spec);
            let found = &pool(&harvest).manifest["spec"];
            assert_eq!(
                found["disruption"],
                json!({ "consolidationPolicy": policy, "consolidateAfter": after })
            );
            assert_eq!(found["template"]["spec"]["expireAfter"], "Never");
        }
    }

    #[test]
    fn what_counts_for_nothing_beside_consolidation_is_said() {
        let harvest = converted(json!({ "consolidation": { "enabled": true }, "ttlSecondsAfterEmpty": 30 }));
        let piece = pool(&harvest);
        assert_eq!(
            piece.manifest["spec"]["disruption"]["consolidationPolicy"],
            "WhenEmptyOrUnderutilized"
        );
        let said = piece.remarks.join("\n");
        assert!(
            said.contains("spec.ttlSecondsAfterEmpty (30) counts for nothing"),
            "{said}"
        );
    }

    #[test]
    fn errors_name_the_fields_of_a_provisioner() {
        for (spec, want) in [
            (
                json!({ "taints": [{ "key": "a", "effect": 5 }] }),
                "Provisioner p: spec.taints[0].effect: ",
            ),
            (
                json!({ "limits": { "resources": { "cpu": "much" } } }),
                "Provisioner p: spec.limits.resources.cpu: ",
            ),
            (json!({ "labels": { "a": {} } }), "Provisioner p: spec.labels.a: "),
        ] {
            let harvest = converted(spec);
            let error = settle(pool(&harvest)).expect_err(want).to_string();
            assert!(error.contains(want), "{error}");
        }
    }

    #[test]
    fn instances_described_in_place_become_a_class() {
        let harvest = converted(json!({ "provider": {
            "instanceProfile": "i", "subnetSelector": { "team": "a" }, "securityGroupSelector": { "team": "a" },
        } }));
        let kinds: Vec<(&str, &str)> = harvest
            .pieces
            .iter()
            .map(|piece| (piece.kind(), piece.name()))
            .collect();
        assert_eq!(kinds, [("EC2NodeClass", "p"), ("NodePool", "p")]);
    }
}
