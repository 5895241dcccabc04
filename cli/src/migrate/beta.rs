//! v1beta1 to what is served now.

use serde_json::{Value as Json, json};

use super::images;
use super::piece::{Fields, Harvest, Piece, PoolKubelet, Renamed, put};

/// What v1beta1 wrote into a class without hop limit; now it is 1.
const HOP_LIMIT: i64 = 2;

/// Fields of a pool that had another place.
const RENAMED: Renamed = &[("spec.template.spec.expireAfter", "spec.disruption.expireAfter")];

/// A NodePool.
pub(super) fn node_pool(source: &str, old: Json) -> Harvest {
    let mut remarks = Vec::new();
    let mut old = Fields::of("", Some(old));
    let metadata = old.take("metadata").unwrap_or_default();
    let mut spec = Fields::of("spec", old.take("spec"));
    let mut template = spec.within("template");
    let mut inner = template.within("spec");
    let mut reference = inner.within("nodeClassRef");
    let version = reference.text("apiVersion");
    let group = reference
        .text("group")
        .or_else(|| version.and_then(|text| group_of(&text)));
    let class = reference.text("name").unwrap_or_else(|| {
        remarks.push(format!(
            "{} is not there: name the node class in node_class_ref",
            reference.below("name")
        ));
        "default".to_owned()
    });
    let mut new = json!({
        "nodeClassRef": {
            "group": group.unwrap_or_else(|| "karpenter.k8s.aws".to_owned()),
            "kind": reference.text("kind").unwrap_or_else(|| "EC2NodeClass".to_owned()),
            "name": class,
        },
        "requirements": inner.take("requirements").unwrap_or_else(|| json!([])),
    });
    reference.left(&mut remarks);
    for name in ["taints", "startupTaints", "terminationGracePeriod"] {
        put(&mut new, name, inner.take(name));
    }
    let kubelet = inner.take("kubelet").unwrap_or_default();
    if let Some(resources) = inner.take("resources") {
        remarks.push(format!(
            "spec.template.spec.resources ({resources}) never had an effect, and is gone"
        ));
    }
    let mut disruption = spec.within("disruption");
    let (expiry, misplaced) = (disruption.take("expireAfter"), inner.take("expireAfter"));
    if let (Some(_), Some(misplaced)) = (&expiry, &misplaced) {
        remarks.push(format!(
            "spec.template.spec.expireAfter ({misplaced}) counts for nothing beside spec.disruption.expireAfter"
        ));
    }
    put(&mut new, "expireAfter", expiry.or(misplaced));
    inner.left(&mut remarks);
    let mut new_template = json!({ "spec": new });
    put(&mut new_template, "metadata", template.take("metadata"));
    template.left(&mut remarks);
    let mut new_spec = json!({ "template": new_template, "disruption": consolidation(&mut disruption) });
    disruption.left(&mut remarks);
    for name in ["limits", "weight"] {
        put(&mut new_spec, name, spec.take(name));
    }
    spec.left(&mut remarks);
    let piece = Piece {
        remarks,
        exists: true,
        renamed: RENAMED,
        ..Piece::new(source, super::manifest("NodePool", &metadata, new_spec))
    };
    let kubelet = PoolKubelet {
        pool: piece.name().to_owned(),
        class,
        settings: kubelet,
        field: "spec.template.spec.kubelet",
    };
    Harvest {
        pieces: vec![piece],
        kubelets: vec![kubelet],
        ..Harvest::default()
    }
}

/// `karpenter.k8s.aws` of `karpenter.k8s.aws/v1beta1`.
fn group_of(api_version: &str) -> Option<String> {
    api_version.split_once('/').map(|(group, _)| group.to_owned())
}

fn consolidation(disruption: &mut Fields) -> Json {
    let policy = match disruption.text("consolidationPolicy") {
        None => "WhenEmptyOrUnderutilized".to_owned(),
        Some(text) if text == "WhenUnderutilized" => "WhenEmptyOrUnderutilized".to_owned(),
        Some(text) => text,
    };
    let after = disruption
        .text("consolidateAfter")
        .unwrap_or_else(|| "0s".to_owned());
    let mut new = json!({ "consolidationPolicy": policy, "consolidateAfter": after });
    put(&mut new, "budgets", disruption.take("budgets"));
    new
}

/// An EC2NodeClass.
pub(super) fn node_class(source: &str, old: Json) -> Harvest {
    let mut remarks = Vec::new();
    let mut old = Fields::of("", Some(old));
    let metadata = old.take("metadata").unwrap_or_default();
    let mut spec = Fields::of("spec", old.take("spec"));
    let mut new = json!({});
    for name in [
        "subnetSelectorTerms",
        "securityGroupSelectorTerms",
        "userData",
        "role",
        "instanceProfile",
        "tags",
        "blockDeviceMappings",
        "instanceStorePolicy",
        "detailedMonitoring",
        "associatePublicIPAddress",
        "context",
        "kubelet",
    ] {
        put(&mut new, name, spec.take(name));
    }
    metadata_options(&mut spec, &mut new, &mut remarks);
    let (family, terms) = (spec.text("amiFamily"), spec.take("amiSelectorTerms"));
    spec.left(&mut remarks);
    let mut harvest = Harvest::default();
    let mut piece = Piece {
        remarks,
        exists: true,
        ..Piece::new(source, super::manifest("EC2NodeClass", &metadata, new))
    };
    images::put(&mut piece, family.as_deref(), terms, &mut harvest.variables);
    harvest.pieces.push(piece);
    harvest
}

/// The options for instance metadata, with the hop limit that was the default when it is not said.
pub(super) fn metadata_options(spec: &mut Fields, new: &mut Json, remarks: &mut Vec<String>) {
    let mut options = spec.take("metadataOptions").unwrap_or_else(|| json!({}));
    if options["httpPutResponseHopLimit"].is_null() {
        options["httpPutResponseHopLimit"] = HOP_LIMIT.into();
        remarks.push(format!(
            "{} was {HOP_LIMIT} by default and is 1 now: {HOP_LIMIT} is written, so that nodes stay as they are",
            spec.below("metadataOptions.httpPutResponseHopLimit")
        ));
    }
    put(new, "metadataOptions", Some(options));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_pool_has_its_place() {
        let old = json!({
            "apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": { "name": "p", "labels": { "team": "a" } },
            "spec": {
                "template": {
                    "metadata": { "labels": { "x": "y" } },
                    "spec": {
                        "nodeClassRef": { "apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": "c" },
                        "requirements": [{ "key": "a", "operator": "Exists", "minValues": 2 }],
                        "taints": [{ "key": "t", "effect": "NoSchedule" }], "startupTaints": [{ "key": "s", "effect": "NoExecute" }],
                        "kubelet": { "maxPods": 20 }, "resources": { "requests": { "cpu": "1" } }, "surprise": 1,
                    },
                },
                "disruption": {
                    "consolidationPolicy": "WhenUnderutilized", "expireAfter": "48h", "budgets": [{ "nodes": "1" }], "other": true,
                },
                "limits": { "cpu": 100 }, "weight": 5,
            },
            "status": { "resources": {} },
        });
        let harvest = node_pool("NodePool p", old);
        let piece = &harvest.pieces[0];
        let spec = &piece.manifest["spec"];
        assert_eq!(piece.manifest["apiVersion"], "karpenter.sh/v1");
        assert_eq!(
            spec["template"]["spec"]["nodeClassRef"]["group"],
            "karpenter.k8s.aws"
        );
        assert_eq!(spec["template"]["spec"]["expireAfter"], "48h");
        assert_eq!(spec["template"]["metadata"]["labels"]["x"], "y");
        assert_eq!(
            spec["disruption"]["consolidationPolicy"],
            "WhenEmptyOrUnderutilized"
        );
        assert_eq!(spec["disruption"]["consolidateAfter"], "0s");
        assert_eq!(
            (&spec["limits"]["cpu"], &spec["weight"]),
            (&json!(100), &json!(5))
        );
        assert_eq!(harvest.kubelets[0].settings["maxPods"], 20);
        let said = piece.remarks.join("\n");
        for part in [
            "resources",
            "spec.template.spec.surprise (1)",
            "spec.disruption.other (true)",
        ] {
            assert!(said.contains(part), "{said} lacks {part}");
        }
        assert!(super::super::current::settle(piece).is_ok());
    }

    #[test]
    fn a_pool_without_a_class_is_told() {
        let harvest = node_pool("NodePool p", json!({ "metadata": { "name": "p" }, "spec": {} }));
        let said = &harvest.pieces[0].remarks;
        assert!(
            said[0].starts_with("spec.template.spec.nodeClassRef.name is not there"),
            "{said:?}"
        );
    }

    #[test]
    fn every_field_of_a_class_has_its_place() {
        let old = json!({
            "metadata": { "name": "c" },
            "spec": {
                "amiFamily": "AL2", "role": "r", "subnetSelectorTerms": [{ "id": "subnet-1" }],
                "securityGroupSelectorTerms": [{ "tags": { "a": "b" } }], "metadataOptions": { "httpTokens": "optional" },
            },
        });
        let harvest = node_class("EC2NodeClass c", old);
        let piece = &harvest.pieces[0];
        let spec = &piece.manifest["spec"];
        assert_eq!(spec["amiSelectorTerms"], json!([{ "alias": "al2@latest" }]));
        assert!(spec["amiFamily"].is_null(), "the alias says it");
        assert_eq!(
            spec["metadataOptions"],
            json!({ "httpTokens": "optional", "httpPutResponseHopLimit": 2 })
        );
        assert!(
            piece.remarks[0].contains("httpPutResponseHopLimit"),
            "{:?}",
            piece.remarks
        );
        assert!(super::super::current::settle(piece).is_ok());
    }
}
