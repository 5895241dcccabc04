//! Selectors by a map of tags, as the selector terms of a class.
//!
//! A value with commas meant any of its parts; a term's tags must all match, so each combination becomes a term of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// Keys that mean IDs.
const IDS: [&str; 2] = ["aws-ids", "aws::ids"];

/// The terms of a selector of subnets or security groups.
pub(super) fn terms(selector: &Json) -> Json {
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ids = Vec::new();
    for (key, value) in selector.as_object().into_iter().flatten() {
        let values = parts(value);
        if IDS.contains(&key.as_str()) {
            ids.extend(values);
        } else {
            tags.insert(key.clone(), values);
        }
    }
    // IDs stand alone in a term: they said more than any tag.
    if !ids.is_empty() {
        return Json::Array(ids.into_iter().map(|id| json!({ "id": id })).collect());
    }
    let combinations = combined(&tags);
    Json::Array(
        combinations
            .into_iter()
            .map(|tags| json!({ "tags": tags }))
            .collect(),
    )
}

/// The terms of a selector of images: also by name and owner.
pub(super) fn image_terms(selector: &Json) -> Json {
    let mut names = Vec::new();
    let mut owners = Vec::new();
    let mut rest = Map::new();
    for (key, value) in selector.as_object().into_iter().flatten() {
        match key.as_str() {
            "aws::name" | "aws-name" => names.extend(parts(value)),
            "aws::owners" | "aws-owners" => owners.extend(parts(value)),
            _ => {
                rest.insert(key.clone(), value.clone());
            }
        }
    }
    let base = match terms(&Json::Object(rest)) {
        Json::Array(terms) if !terms.is_empty() => terms,
        _ => vec![json!({})],
    };
    let with = |terms: Vec<Json>, key: &str, values: &[String]| -> Vec<Json> {
        if values.is_empty() {
            return terms;
        }
        let each = |value: &String| {
            let value = value.clone();
            terms.iter().map(move |term| {
                let mut term = term.clone();
                // An ID stands alone.
                if term["id"].is_null() {
                    term[key] = json!(value);
                }
                term
            })
        };
        values.iter().flat_map(each).collect()
    };
    let terms = with(with(base, "name", &names), "owner", &owners);
    let terms: Vec<Json> = terms
        .into_iter()
        .filter(|term| term.as_object().is_some_and(|members| !members.is_empty()))
        .collect();
    Json::Array(terms)
}

/// What of a selector does not count beside the IDs in it, in words; `field` is what the source calls it.
pub(super) fn beside_ids(field: &str, selector: &Json) -> Option<String> {
    let members = selector.as_object()?;
    let is_id = |key: &String| IDS.contains(&key.as_str());
    if !members.keys().any(is_id) {
        return None;
    }
    let others = members.iter().filter(|(key, _)| !is_id(key));
    let others: Vec<String> = others.map(|(key, value)| format!("{key} ({value})")).collect();
    (!others.is_empty()).then(|| {
        format!(
            "{field}: {} is not written, since a term with an id has nothing else",
            others.join(", ")
        )
    })
}

fn parts(value: &Json) -> Vec<String> {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn combined(tags: &BTreeMap<String, Vec<String>>) -> Vec<BTreeMap<String, String>> {
    if tags.is_empty() {
        return Vec::new();
    }
    tags.iter().fold(vec![BTreeMap::new()], |found, (key, values)| {
        let with = |value: &String| {
            let pair = (key.clone(), value.clone());
            found.iter().map(move |tags: &BTreeMap<String, String>| {
                let mut tags = tags.clone();
                tags.insert(pair.0.clone(), pair.1.clone());
                tags
            })
        };
        values.iter().flat_map(with).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_ids_become_terms() {
        for (selector, want) in [
            (
                json!({ "a": "b", "c": "*" }),
                json!([{ "tags": { "a": "b", "c": "*" } }]),
            ),
            (
                json!({ "Name": "x, y", "a": "b" }),
                json!([
                    { "tags": { "Name": "x", "a": "b" } }, { "tags": { "Name": "y", "a": "b" } },
                ]),
            ),
            (
                json!({ "aws-ids": "subnet-1,subnet-2", "a": "b" }),
                json!([{ "id": "subnet-1" }, { "id": "subnet-2" }]),
            ),
            (json!({}), json!([])),
        ] {
            assert_eq!(terms(&selector), want, "{selector}");
        }
    }

    #[test]
    fn images_have_names_and_owners() {
        for (selector, want) in [
            (json!({ "aws::ids": "ami-1" }), json!([{ "id": "ami-1" }])),
            (
                json!({ "aws::name": "x*", "aws::owners": "self,amazon" }),
                json!([
                    { "name": "x*", "owner": "self" }, { "name": "x*", "owner": "amazon" },
                ]),
            ),
            (
                json!({ "team": "a", "aws::owners": "self" }),
                json!([{ "tags": { "team": "a" }, "owner": "self" }]),
            ),
        ] {
            assert_eq!(image_terms(&selector), want, "{selector}");
        }
    }
}
