//! Tests that the attributes are those of the CRDs' specs: every field has one, and no attribute is without a field.

use super::custom::{Custom, object_of};
use super::respell::{Extent, respell};
use crate::resources::{Ec2NodeClass, NodeOverlay, NodePool};
use serde_json::{Map, Value as Json, json};
use tfplugin::json::{JsonStep, from_json};

/// The schema of a CRD's spec.
fn spec_schema(kind: &str) -> Json {
    let crd = joiner_api::crds()
        .into_iter()
        .map(|crd| serde_json::to_value(crd).expect("JSON"))
        .find(|crd| crd["spec"]["names"]["kind"] == kind)
        .expect("the kind has a CRD");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
}

/// A spec with every field set.
fn everything(schema: &Json) -> Json {
    if let Some(properties) = schema["properties"].as_object() {
        return Json::Object(
            properties
                .iter()
                .map(|(name, inner)| (name.clone(), everything(inner)))
                .collect(),
        );
    }
    match schema["type"].as_str() {
        Some("array") => json!([everything(&schema["items"])]),
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("object") => json!({ "key": everything(&schema["additionalProperties"]) }),
        _ => json!("1"),
    }
}

fn check<M: Custom>(kind: &str) {
    let spec = everything(&spec_schema(kind));
    let read = from_json::<M>(&M::from_spec(spec.clone())).expect("the types fit");
    let ignored: Vec<&Vec<JsonStep>> = read.ignored.iter().collect();
    assert!(ignored.is_empty(), "{kind}: no attribute for {ignored:?}");
    let written = object_of(&read.model).expect("written").json["spec"].clone();
    assert_eq!(written, spec, "{kind}: what is read is what is written");
    let nothing = respell("", &Json::Null, &json!({}), Extent::Everything);
    assert_eq!(nothing, json!({}));
}

#[test]
fn every_field_has_an_attribute() {
    check::<NodePool>("NodePool");
    check::<Ec2NodeClass>("EC2NodeClass");
    check::<NodeOverlay>("NodeOverlay");
}

#[test]
fn every_known_default_is_planned() {
    fn defaults(schema: &Json, path: &str, found: &mut Map<String, Json>) {
        if !schema["default"].is_null() {
            found.insert(path.to_owned(), schema["default"].clone());
        }
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            defaults(inner, &format!("{path}.{name}"), found);
        }
        if schema["items"].is_object() {
            defaults(&schema["items"], &format!("{path}[]"), found);
        }
    }
    let mut found = Map::new();
    for kind in ["NodePool", "EC2NodeClass", "NodeOverlay"] {
        defaults(&spec_schema(kind), kind, &mut found);
    }
    // Each has its twin as a default of an attribute in the resources' schema files.
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "EC2NodeClass.metadataOptions",
            "EC2NodeClass.metadataOptions.httpEndpoint",
            "EC2NodeClass.metadataOptions.httpProtocolIPv6",
            "EC2NodeClass.metadataOptions.httpPutResponseHopLimit",
            "EC2NodeClass.metadataOptions.httpTokens",
            "NodePool.disruption",
            "NodePool.disruption.budgets",
            "NodePool.disruption.budgets[].nodes",
            "NodePool.disruption.consolidationPolicy",
            "NodePool.template.spec.expireAfter",
        ]
    );
}
