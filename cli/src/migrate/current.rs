//! Objects as they are served now: what of them is a user's, and what of it the API knows.

use anyhow::{Result, bail};
use joiner_api::{EC2NodeClass, NodeOverlay, NodePool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::piece::{Piece, says_something};

/// Where a NodePool that came from v1beta1 keeps its kubelet settings: Karpenter 1.0 used them in place of the class', later ones do not.
const KUBELET_CONVERSION: &str = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";

/// A kind that is a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// EC2NodeClass.
    NodeClass,
    /// NodePool.
    NodePool,
    /// NodeOverlay.
    Overlay,
}

impl Kind {
    /// Every kind, in the order in which a configuration has them.
    pub(super) const ALL: [Self; 3] = [Self::NodeClass, Self::NodePool, Self::Overlay];

    /// The kind of a manifest of the version that is served now.
    pub(super) fn of(manifest: &Json) -> Option<Self> {
        match (manifest["kind"].as_str()?, manifest["apiVersion"].as_str()?) {
            ("EC2NodeClass", "karpenter.k8s.aws/v1") => Some(Self::NodeClass),
            ("NodePool", "karpenter.sh/v1") => Some(Self::NodePool),
            ("NodeOverlay", "karpenter.sh/v1alpha1") => Some(Self::Overlay),
            _ => None,
        }
    }

    /// The resource's type.
    pub(super) fn resource(self) -> &'static str {
        match self {
            Self::NodeClass => "joiner_ec2_node_class",
            Self::NodePool => "joiner_node_pool",
            Self::Overlay => "joiner_node_overlay",
        }
    }

    /// The file that such resources go to.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::NodeClass => "node_classes.tf",
            Self::NodePool => "node_pools.tf",
            Self::Overlay => "node_overlays.tf",
        }
    }
}

/// An object, in the words of the API, without what controllers wrote.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settled {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its name.
    pub(super) name: String,
    /// `name`, `labels`, `annotations` and the members of the spec.
    pub(super) members: Map<String, Json>,
    /// What is to be said of it.
    pub(super) remarks: Vec<String>,
}

/// Settles a piece.
pub(super) fn settle(piece: &Piece) -> Result<Settled> {
    let Some(kind) = Kind::of(&piece.manifest) else {
        bail!("{}: it is none of the kinds that become resources", piece.source);
    };
    let name = piece.name();
    if name.is_empty() {
        bail!("{}: it has no metadata.name", piece.source);
    }
    let mut manifest = piece.manifest.clone();
    mend("", &mut manifest["spec"]);
    let typed = match kind {
        Kind::NodeClass => round_trip::<EC2NodeClass>(&manifest),
        Kind::NodePool => round_trip::<NodePool>(&manifest),
        Kind::Overlay => round_trip::<NodeOverlay>(&manifest),
    };
    let typed = match typed {
        Ok(typed) => typed,
        Err(Misfit { path, why }) => bail!(
            "{}: {}: {why}; correct it, or leave the object out",
            piece.source,
            piece.written(&path)
        ),
    };
    let mut remarks = piece.remarks.clone();
    let mut lost = Vec::new();
    compare("spec", &manifest["spec"], &typed["spec"], &mut lost);
    remarks.extend(
        lost.into_iter()
            .map(|place| format!("{} has no counterpart", piece.written(&place))),
    );
    let mut members = Map::new();
    members.insert("name".to_owned(), json!(name));
    let metadata = &manifest["metadata"];
    for key in ["labels", "annotations"] {
        let kept = names(key, &metadata[key], piece.exists, &mut remarks);
        if !kept.is_empty() {
            members.insert(key.to_owned(), Json::Object(kept));
        }
    }
    let spec = typed["spec"].as_object().cloned().unwrap_or_default();
    members.extend(spec.into_iter().filter(|(_, value)| says_something(value)));
    match kind {
        Kind::NodePool => pool(&mut members),
        Kind::NodeClass => class(&mut members),
        Kind::Overlay => {}
    }
    Ok(Settled {
        kind,
        name: name.to_owned(),
        members,
        remarks,
    })
}

/// What of a manifest is not as the API has it.
struct Misfit {
    /// The path of the field.
    path: String,
    /// The value and what was expected.
    why: String,
}

/// Through the API's type: every value gets the form that the API has for it.
fn round_trip<T: Serialize + DeserializeOwned>(manifest: &Json) -> Result<Json, Misfit> {
    let typed: T = serde_path_to_error::deserialize(manifest).map_err(|error| Misfit {
        path: error.path().to_string(),
        why: error.into_inner().to_string(),
    })?;
    serde_json::to_value(typed).map_err(|error| Misfit {
        path: "spec".to_owned(),
        why: error.to_string(),
    })
}

/// Texts that YAML reads as numbers or booleans.
fn mend(field: &str, value: &mut Json) {
    const TEXTS: [&str; 8] = [
        "nodes",
        "values",
        "value",
        "price",
        "priceAdjustment",
        "id",
        "ownerID",
        "owner",
    ];
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                let field = if super::attributes::holds_names(field) {
                    "value"
                } else {
                    key.as_str()
                };
                mend(field, member);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| mend(field, item)),
        Json::Number(_) | Json::Bool(_) if TEXTS.contains(&field) => *value = json!(value.to_string()),
        _ => {}
    }
}

/// Places of `raw` that `typed` lacks.
fn compare(place: &str, raw: &Json, typed: &Json, lost: &mut Vec<String>) {
    match (raw, typed) {
        (Json::Object(raw), typed) => {
            for (key, raw) in raw.iter().filter(|(_, raw)| says_something(raw)) {
                let place = format!("{place}.{key}");
                match typed.get(key) {
                    Some(typed) => compare(&place, raw, typed, lost),
                    None => lost.push(place),
                }
            }
        }
        (Json::Array(raw), Json::Array(typed)) => {
            for (index, (raw, typed)) in raw.iter().zip(typed).enumerate() {
                compare(&format!("{place}[{index}]"), raw, typed, lost);
            }
        }
        _ => {}
    }
}

/// Labels or annotations that a user wrote. The provider leaves those of controllers and tools alone, so an imported object's
/// configuration must not have them.
fn names(what: &str, map: &Json, exists: bool, remarks: &mut Vec<String>) -> Map<String, Json> {
    let mut kept = Map::new();
    for (key, value) in map.as_object().into_iter().flatten() {
        if key == KUBELET_CONVERSION {
            remarks.push(format!(
                "metadata.{what}[{key:?}] is not written: Karpenter 1.0 took the kubelet settings in it ({}) in place of the class'; what of \
                 them still counts belongs into kubelet of the class",
                value.as_str().unwrap_or_default()
            ));
        } else if !is_foreign(key) {
            kept.insert(key.clone(), text(value));
        } else if key == "kubernetes.io/description" {
            if exists {
                remarks.push(format!(
                    "metadata.{what}[{key:?}] stays on the object; the configuration has no keys of that domain after an import"
                ));
            } else {
                kept.insert(key.clone(), text(value));
            }
        }
    }
    kept
}

fn text(value: &Json) -> Json {
    match value {
        Json::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

/// Keys that a controller or a tool writes: the provider's own measure.
fn is_foreign(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["karpenter.sh", "karpenter.k8s.aws", "kubernetes.io", "k8s.io"]
        .iter()
        .any(|own| domain == *own || domain.strip_suffix(own).is_some_and(|head| head.ends_with('.')))
}

/// Takes out of a pool what its resource fills in by itself.
fn pool(members: &mut Map<String, Json>) {
    if let Some(spec) = members
        .get_mut("template")
        .and_then(|template| template.get_mut("spec"))
    {
        if let Some(reference) = spec.get_mut("nodeClassRef") {
            drop_equal(reference, "group", &json!("karpenter.k8s.aws"));
            drop_equal(reference, "kind", &json!("EC2NodeClass"));
        }
        drop_equal(spec, "expireAfter", &json!("720h"));
        if let Some(spec) = spec.as_object_mut() {
            spec.entry("requirements").or_insert_with(|| json!([]));
        }
    }
    let default = json!({ "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s" });
    if let Some(disruption) = members.get_mut("disruption") {
        drop_equal(disruption, "budgets", &json!([{ "nodes": "10%" }]));
        if *disruption == default {
            members.remove("disruption");
        }
    }
}

/// Takes out of a class what its resource fills in by itself.
fn class(members: &mut Map<String, Json>) {
    if let Some(options) = members.get_mut("metadataOptions") {
        for (name, value) in [
            ("httpEndpoint", json!("enabled")),
            ("httpProtocolIPv6", json!("disabled")),
            ("httpPutResponseHopLimit", json!(1)),
            ("httpTokens", json!("required")),
        ] {
            drop_equal(options, name, &value);
        }
        if !says_something(options) {
            members.remove("metadataOptions");
        }
    }
}

fn drop_equal(object: &mut Json, name: &str, value: &Json) {
    if let Some(members) = object.as_object_mut()
        && members.get(name) == Some(value)
    {
        members.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool_of(spec: Json, metadata: Json) -> Piece {
        let manifest = json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": metadata, "spec": spec });
        Piece::new("NodePool p", manifest)
    }

    fn template() -> Json {
        json!({ "spec": {
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
            "requirements": [{ "key": "a", "operator": "In", "values": [1, true] }], "expireAfter": "720h",
        } })
    }

    #[test]
    fn defaults_and_foreign_names_go() {
        let spec = json!({
            "template": template(), "limits": { "cpu": 10 },
            "disruption": { "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": [{ "nodes": "10%" }] },
        });
        let metadata = json!({
            "name": "p", "labels": { "team": "a" },
            "annotations": { "karpenter.sh/nodepool-hash": "1", "kubectl.kubernetes.io/last-applied-configuration": "x" },
        });
        let settled = settle(&pool_of(spec, metadata)).expect("a pool");
        assert_eq!(
            Json::Object(settled.members),
            json!({
                "name": "p", "labels": { "team": "a" }, "limits": { "cpu": "10" },
                "template": { "spec": {
                    "nodeClassRef": { "name": "c" },
                    "requirements": [{ "key": "a", "operator": "In", "values": ["1", "true"] }],
                } },
            })
        );
        assert!(settled.remarks.is_empty(), "{:?}", settled.remarks);
    }

    #[test]
    fn what_the_api_does_not_know_is_named() {
        let spec = json!({ "template": template(), "limit": { "cpu": 1 }, "disruption": { "consolidateAfter": "1m", "expireAfter": "1h" } });
        let settled = settle(&pool_of(spec, json!({ "name": "p" }))).expect("a pool");
        let said = settled.remarks.join("\n");
        assert!(
            said.contains("spec.limit has") && said.contains("spec.disruption.expireAfter"),
            "{said}"
        );
        let wrong = settle(&pool_of(
            json!({ "template": { "spec": { "taints": 1 } } }),
            json!({ "name": "p" }),
        ));
        let error = format!("{:#}", wrong.expect_err("no list"));
        assert!(
            error.contains("NodePool p: spec.template.spec.taints: invalid type: integer `1`")
                && error.contains("leave the object out"),
            "{error}"
        );
        assert!(settle(&pool_of(json!({ "template": template() }), json!({}))).is_err());
    }

    #[test]
    fn errors_and_losses_name_the_fields_of_the_source() {
        let mut piece = pool_of(
            json!({ "template": { "spec": { "taints": [{ "key": "a", "effect": 5 }] } } }),
            json!({ "name": "p" }),
        );
        piece.renamed = &[("spec.template.spec.taints", "spec.taints")];
        let error = settle(&piece).expect_err("a number").to_string();
        assert!(error.contains("NodePool p: spec.taints[0].effect: "), "{error}");
        let mut template = template();
        template["spec"]["taints"] = json!([{ "key": "a", "effect": "NoSchedule", "surprise": 1 }]);
        piece.manifest["spec"]["template"] = template;
        let settled = settle(&piece).expect("a pool");
        assert_eq!(settled.remarks, ["spec.taints[0].surprise has no counterpart"]);
    }

    #[test]
    fn kubelet_settings_in_an_annotation_are_said() {
        let annotations = json!({ (KUBELET_CONVERSION): "{\"maxPods\":5}" });
        let metadata = json!({ "name": "p", "annotations": annotations });
        let settled = settle(&pool_of(json!({ "template": template() }), metadata)).expect("a pool");
        assert!(!settled.members.contains_key("annotations"));
        assert!(settled.remarks[0].contains("maxPods"), "{:?}", settled.remarks);
    }

    #[test]
    fn a_description_is_kept_or_said() {
        let metadata = json!({ "name": "p", "annotations": { "kubernetes.io/description": "general" } });
        let mut piece = pool_of(json!({ "template": template() }), metadata);
        let settled = settle(&piece).expect("a pool");
        assert_eq!(
            settled.members["annotations"]["kubernetes.io/description"],
            "general"
        );
        piece.exists = true;
        let settled = settle(&piece).expect("a pool");
        assert!(!settled.members.contains_key("annotations"));
        assert!(
            settled.remarks[0].contains("kubernetes.io/description"),
            "{:?}",
            settled.remarks
        );
    }
}
