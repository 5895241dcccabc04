//! Our CRDs against upstream's, field by field.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use crate::support::upstream;

/// Where ours differ on purpose: (kind, path and keyword, why). An entry that is not needed fails the test.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "EC2NodeClass",
        "required",
        "a class without a spec could never be valid; the derive marks spec as required, as upstream does for the other kinds",
    ),
    (
        "EC2NodeClass",
        "spec.kubelet x-kubernetes-preserve-unknown-fields",
        "settings that upstream 1.14.3 drops are kept, as its next release does; the named ones are checked alike",
    ),
    (
        "NodePool",
        "spec.template.spec.requirements[].values pattern",
        "a pattern has no effect on a list; the values are checked by the rules instead",
    ),
    (
        "NodePool",
        "spec.template.spec.requirements[].values maxLength",
        "a length in characters has no effect on a list; the values are checked by the rules instead",
    ),
    (
        "NodeClaim",
        "spec.requirements[].values pattern",
        "a pattern has no effect on a list; the values are checked by the rules instead",
    ),
    (
        "NodeClaim",
        "spec.requirements[].values maxLength",
        "a length in characters has no effect on a list; the values are checked by the rules instead",
    ),
    (
        "NodeOverlay",
        "spec.requirements[].values pattern",
        "a pattern has no effect on a list; the values are checked by the rules instead",
    ),
    (
        "NodeOverlay",
        "spec.requirements[].values maxLength",
        "a length in characters has no effect on a list; the values are checked by the rules instead",
    ),
];

/// Names, scope, columns, subresources and the structural schema, as one flat table.
fn facts(crd: &Value) -> BTreeMap<String, Value> {
    let mut facts = BTreeMap::new();
    let spec = &crd["spec"];
    for name in ["kind", "plural", "singular", "shortNames", "categories"] {
        facts.insert(format!("names {name}"), or_empty(&spec["names"][name]));
    }
    facts.insert("group".to_owned(), spec["group"].clone());
    facts.insert("scope".to_owned(), spec["scope"].clone());
    let version = &spec["versions"][0];
    for name in ["name", "served", "storage", "subresources"] {
        facts.insert(format!("version {name}"), version[name].clone());
    }
    for (place, column) in version["additionalPrinterColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        facts.insert(
            format!("column {place}"),
            json!([
                column["name"],
                column["type"],
                column["jsonPath"],
                column["priority"]
            ]),
        );
    }
    let schema = &version["schema"]["openAPIV3Schema"];
    node("", schema, &mut facts);
    // Every object has these; listing them changes nothing.
    facts.retain(|path, _| {
        !["apiVersion ", "kind ", "metadata "]
            .iter()
            .any(|implied| path.starts_with(implied))
    });
    facts
}

fn node(path: &str, schema: &Value, facts: &mut BTreeMap<String, Value>) {
    let here = |keyword: &str| {
        if path.is_empty() {
            keyword.to_owned()
        } else {
            format!("{path} {keyword}")
        }
    };
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "description" | "title" => {}
            "properties" => {
                for (name, child) in value.as_object().into_iter().flatten() {
                    node(
                        &if path.is_empty() {
                            name.clone()
                        } else {
                            format!("{path}.{name}")
                        },
                        child,
                        facts,
                    );
                }
            }
            "items" => node(&format!("{path}[]"), value, facts),
            "additionalProperties" => node(&format!("{path}{{}}"), value, facts),
            // The wording of rules is ours; that they mean the same is shown by the table of cases.
            "x-kubernetes-validations" => {}
            "enum" | "required" => drop(facts.insert(here(keyword), sorted(value))),
            _ => drop(facts.insert(here(keyword), number(value))),
        }
    }
}

fn sorted(list: &Value) -> Value {
    let mut items: Vec<String> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect();
    items.sort();
    items.into()
}

/// `1` and `1.0` are the same limit.
fn number(value: &Value) -> Value {
    value
        .as_f64()
        .map_or_else(|| value.clone(), |number| json!(number))
}

fn or_empty(value: &Value) -> Value {
    if value.is_null() { json!([]) } else { value.clone() }
}

#[test]
fn our_crds_are_upstreams() {
    let module = upstream::module("github.com/aws/karpenter-provider-aws");
    let mut open: Vec<String> = Vec::new();
    let mut used = Vec::new();
    for crd in joiner_api::crds() {
        let name = format!("pkg/apis/crds/{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
        let text = fs::read_to_string(module.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let theirs = facts(&serde_saphyr::from_str(&text).unwrap());
        let kind = crd.spec.names.kind.clone();
        let ours = facts(&serde_json::to_value(crd).unwrap());
        let paths: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for path in paths {
            let (our, their) = (ours.get(path), theirs.get(path));
            if our == their {
                continue;
            }
            match DIFFERENCES.iter().position(|(k, p, _)| *k == kind && p == path) {
                Some(place) => used.push(place),
                None => open.push(format!("{kind}: {path}: ours {our:?}, upstream's {their:?}")),
            }
        }
    }
    for (place, (kind, path, _)) in DIFFERENCES.iter().enumerate() {
        if !used.contains(&place) {
            open.push(format!(
                "{kind}: {path}: listed as a difference, but there is none"
            ));
        }
    }
    assert!(
        open.is_empty(),
        "{} unexplained differences:\n{}",
        open.len(),
        open.join("\n")
    );
}
