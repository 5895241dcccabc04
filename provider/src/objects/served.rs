//! Fields that the installed definition of a kind does not have, since the controller's release is older than the configuration.
//!
//! Input: a planned object and the definition as JSON. Output: the places that the definition does not know. The cluster is asked only
//! about an object with a field that not every release has, once for each kind and process, and not where the same plan brings definitions.

use super::check::attribute_path;
use super::custom::Custom;
use super::foresee::Foreseen;
use crate::cluster::{Cluster, Kind, Objects, definition_kind};
use crate::provider::{Joiner, Level, Part};
use joiner_api::rules::{JsonPath, Segment};
use serde_json::Value as Json;
use std::time::Duration;
use tfplugin::{Diagnostic, Diagnostics};

/// How long the cluster gets to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Fields of a spec that came after version 1.0 of the API, by kind: no older definition has them. A list is written as its field.
const NEWER: [(&str, &[&[&str]]); 2] = [
    (
        "EC2NodeClass",
        &[
            &["amiSelectorTerms", "ssmParameter"],
            &["blockDeviceMappings", "ebs", "volumeInitializationRate"],
            &["capacityReservationSelectorTerms"],
            &["connectionTracking"],
            &["cpuOptions"],
            &["ipPrefixCount"],
            &["networkInterfaces"],
            &["placementGroupSelector"],
        ],
    ),
    ("NodePool", &[&["replicas"]]),
];

/// Compares a planned object with the installed definition.
pub(super) async fn check<M: Custom>(data: &Joiner, planned: &M) -> Result<Diagnostics, Diagnostics> {
    let level = data.checks.controller;
    let Part::Known(cluster) = &data.cluster else {
        return Ok(Diagnostics::new());
    };
    if level == Level::Off || data.found.brings_definitions() {
        return Ok(Diagnostics::new());
    }
    let object = Foreseen::of(planned)?.json;
    let kind = M::kind();
    if !has_newer(kind.kind(), &object["spec"]) {
        return Ok(Diagnostics::new());
    }
    let name = kind.plural_name();
    let read = || installed(cluster, &name);
    let Some(definition) = data.found.definition(&name, read).await else {
        return Ok(Diagnostics::new());
    };
    let told = lacking(&definition, &kind, &object).into_iter().map(|place| {
        let path = attribute_path::<M>(&place);
        let text = format!(
            "{path}: {place} is set, and the cluster's definition {name} ({}) does not have it: the controller's release is older than this \
             field. Upgrade the release, with its definitions (install_crds of joiner_helm_release, or joiner_crds), in this configuration, \
             and let this resource depend on it; or leave the attribute out.",
            version(&definition)
        );
        let told = match level {
            Level::Error => Diagnostic::error("The controller is too old for a field", text),
            Level::Warning | Level::Off => {
                Diagnostic::warning(format!("The controller is too old for a field: {path}"), text)
            }
        };
        told.at(path)
    });
    Ok(told.collect())
}

/// The installed definition; none where there is none or the cluster does not say.
async fn installed(cluster: &Cluster, name: &str) -> Option<Json> {
    let asked = async { Objects::all(cluster, definition_kind()).await?.get(name).await };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::info!(%error, "the installed definitions were not looked at");
            None
        }
        Err(_) => {
            tracing::info!("the cluster did not tell its definitions in time");
            None
        }
    }
}

/// Whether a spec has a field that not every release has.
fn has_newer(kind: &str, spec: &Json) -> bool {
    let of_kind = NEWER.iter().find(|(known, _)| *known == kind);
    of_kind.is_some_and(|(_, fields)| fields.iter().any(|field| has(spec, field)))
}

fn has(value: &Json, field: &[&str]) -> bool {
    match (value, field.split_first()) {
        (Json::Array(items), _) => items.iter().any(|item| has(item, field)),
        (value, None) => !value.is_null(),
        (value, Some((name, rest))) => value.get(name).is_some_and(|value| has(value, rest)),
    }
}

/// The places of an object that the definition's version does not have.
fn lacking(definition: &Json, kind: &Kind, object: &Json) -> Vec<JsonPath> {
    let version = kind.api_version().rsplit('/').next().unwrap_or_default();
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let schema = versions
        .filter(|it| it["name"] == version)
        .map(|it| &it["schema"]["openAPIV3Schema"]["properties"]["spec"])
        .next();
    let mut found = Vec::new();
    if let Some(schema) = schema {
        walk(
            &object["spec"],
            schema,
            &mut vec![Segment::Field("spec".to_owned())],
            &mut found,
        );
    }
    found
}

/// A schema that names no properties takes any.
fn walk(value: &Json, schema: &Json, place: &mut Vec<Segment>, found: &mut Vec<JsonPath>) {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    match value {
        Json::Object(fields) => {
            let Some(properties) = schema["properties"].as_object() else {
                return;
            };
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                place.push(Segment::Field(name.clone()));
                match properties.get(name) {
                    Some(schema) => walk(value, schema, place, found),
                    None => found.push(JsonPath(place.clone())),
                }
                place.pop();
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                place.push(Segment::Index(index));
                walk(item, &schema["items"], place, found);
                place.pop();
            }
        }
        _ => {}
    }
}

/// What a definition says of the release that it is from.
fn version(definition: &Json) -> String {
    let metadata = &definition["metadata"];
    let annotation = |key: &str| metadata["annotations"][key].as_str();
    let label = |key: &str| metadata["labels"][key].as_str();
    if let Some(ours) = annotation("joiner.dev/crds-version") {
        return format!("of version {ours} of this provider");
    }
    if let Some(chart) = label("helm.sh/chart") {
        return format!("of the chart {chart}");
    }
    if let Some(version) = label("app.kubernetes.io/version") {
        return format!("of release {version}");
    }
    match annotation("controller-gen.kubebuilder.io/version") {
        Some(generator) => {
            format!("made by controller-gen {generator}; it does not say of which release it is")
        }
        None => "it does not say of which release it is".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn class_kind() -> Kind {
        Kind::new("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses")
    }

    /// Our own definition of a kind, as it is installed.
    fn ours(kind: &str) -> Json {
        let all = joiner_api::crds();
        let found = all
            .iter()
            .find(|it| it.spec.names.kind == kind)
            .expect("a definition");
        serde_json::to_value(found).expect("JSON")
    }

    fn class(spec: Json) -> Json {
        json!({ "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "spec": spec })
    }

    #[test]
    fn only_newer_fields_are_worth_a_question() {
        for (kind, spec, want) in [
            (
                "EC2NodeClass",
                json!({ "role": "r", "amiSelectorTerms": [{ "alias": "al2023@latest" }] }),
                false,
            ),
            (
                "EC2NodeClass",
                json!({ "amiSelectorTerms": [{ "id": "a" }, { "ssmParameter": "p" }] }),
                true,
            ),
            (
                "EC2NodeClass",
                json!({ "blockDeviceMappings": [{ "ebs": { "volumeInitializationRate": 200 } }] }),
                true,
            ),
            (
                "EC2NodeClass",
                json!({ "cpuOptions": { "nestedVirtualization": "enabled" } }),
                true,
            ),
            ("EC2NodeClass", json!({ "cpuOptions": null }), false),
            ("NodePool", json!({ "replicas": 3 }), true),
            ("NodePool", json!({ "limits": { "cpu": "10" } }), false),
            ("NodeOverlay", json!({ "weight": 1 }), false),
        ] {
            assert_eq!(has_newer(kind, &spec), want, "{kind} {spec}");
        }
    }

    #[test]
    fn every_newer_field_is_in_our_own_definition() {
        for (kind, fields) in NEWER {
            let definition = ours(kind);
            for field in fields {
                let mut schema =
                    &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
                for name in *field {
                    let of = if schema["items"].is_object() {
                        &schema["items"]
                    } else {
                        schema
                    };
                    schema = &of["properties"][name];
                    assert!(schema.is_object(), "{kind}: {field:?}");
                }
            }
        }
    }

    #[test]
    fn a_field_that_the_definition_lacks_is_named_with_its_place() {
        let mut definition = ours("EC2NodeClass");
        let object = class(json!({
            "role": "r",
            "tags": { "any": "key" },
            "kubelet": { "evictionHard": { "memory.available": "5%" } },
            "placementGroupSelector": { "name": "g" },
            "amiSelectorTerms": [{ "id": "a" }, { "ssmParameter": "p" }],
        }));
        assert_eq!(lacking(&definition, &class_kind(), &object), []);
        let spec = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            ["properties"];
        spec.as_object_mut()
            .expect("fields")
            .remove("placementGroupSelector");
        let terms = &mut spec["amiSelectorTerms"]["items"]["properties"];
        terms.as_object_mut().expect("fields").remove("ssmParameter");
        let places: Vec<String> = lacking(&definition, &class_kind(), &object)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            places,
            [
                "spec.amiSelectorTerms[1].ssmParameter",
                "spec.placementGroupSelector"
            ]
        );
        // A version that is not served is another matter.
        definition["spec"]["versions"][0]["name"] = json!("v2");
        assert_eq!(lacking(&definition, &class_kind(), &object), []);
    }

    #[test]
    fn a_definition_tells_where_it_is_from() {
        for (metadata, want) in [
            (
                json!({ "annotations": { "joiner.dev/crds-version": "0.1.0" } }),
                "of version 0.1.0 of this provider",
            ),
            (
                json!({ "labels": { "helm.sh/chart": "karpenter-crd-1.0.6" } }),
                "of the chart karpenter-crd-1.0.6",
            ),
            (
                json!({ "annotations": { "controller-gen.kubebuilder.io/version": "v0.16.1" } }),
                "made by controller-gen v0.16.1; it does not say of which release it is",
            ),
            (json!({}), "it does not say of which release it is"),
        ] {
            assert_eq!(version(&json!({ "metadata": metadata })), want);
        }
    }
}
