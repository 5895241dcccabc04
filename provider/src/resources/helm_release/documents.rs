//! The values of a release, from its attributes.

use super::schema::{HelmRelease, SecretEntry, SetEntry};
use crate::cluster::Secret;
use crate::helm::{HelmError, SetValue, merge_values, parse_document};
use crate::plain::json_of;
use serde_json::Value as Json;
use tfplugin::{Field, Value};

/// The documents in the attribute `values`; `None` while something in it is unknown.
pub(super) fn documents(values: &Value) -> Option<Result<Vec<Json>, HelmError>> {
    let json = json_of(values, str::to_owned)?;
    let items = match json {
        Json::Null => Vec::new(),
        Json::Array(items) => items,
        other => vec![other],
    };
    Some(
        items
            .into_iter()
            .map(|item| match item {
                Json::String(text) => parse_document(&text),
                other => Ok(other),
            })
            .collect(),
    )
}

/// All values of a release, merged; `None` while something in them is unknown.
pub(super) fn merged(release: &HelmRelease) -> Option<Result<Json, HelmError>> {
    let documents = match &release.values {
        Field::Null => Ok(Vec::new()),
        Field::Unknown => return None,
        Field::Known(values) => documents(values)?,
    };
    let mut settings = Vec::new();
    for list in [&release.set, &release.set_sensitive] {
        for SetEntry { name, value, r#type } in list.decided()?.into_iter().flatten() {
            settings.push(setting(name, value, r#type)?);
        }
    }
    for SecretEntry { name, value, r#type } in release.set_wo.decided()?.into_iter().flatten() {
        settings.push(setting(name, value, r#type)?);
    }
    Some(documents.and_then(|documents| merge_values(&documents, &settings)))
}

fn setting(name: &Field<String>, value: &Field<String>, r#type: &Field<String>) -> Option<SetValue> {
    Some(SetValue {
        name: name.as_str()?.to_owned(),
        value: Secret::new(value.as_str()?),
        as_string: r#type.as_str() == Some("string"),
    })
}

/// Whether two spellings of `values` mean the same.
pub(super) fn same_values(left: &Value, right: &Value) -> bool {
    let merged = |values: &Value| merge_values(&documents(values)?.ok()?, &[]).ok();
    merged(left).is_some_and(|left| merged(right) == Some(left))
}

/// The names of the values that are stored nowhere.
pub(super) fn secret_names(config: &HelmRelease) -> Vec<String> {
    let entries = config.set_wo.known().into_iter().flatten();
    entries
        .filter_map(|entry| entry.name.as_str().map(str::to_owned))
        .collect()
}

/// Values with the same word wherever one of `names` leads: what is stored nowhere cannot be compared.
pub(super) fn without(values: Json, names: &[String]) -> Result<Json, HelmError> {
    let covers: Vec<SetValue> = names
        .iter()
        .map(|name| SetValue {
            name: name.clone(),
            value: Secret::new("(write-only)"),
            as_string: true,
        })
        .collect();
    merge_values(&[values], &covers)
}

/// Where two values differ, as paths; never what they are, since they may be secret.
pub(super) fn differing_paths(left: &Json, right: &Json) -> Vec<String> {
    fn walk(path: &str, left: &Json, right: &Json, found: &mut Vec<String>) {
        if left == right {
            return;
        }
        match (left, right) {
            (Json::Object(left), Json::Object(right)) => {
                let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
                keys.sort();
                keys.dedup();
                for key in keys {
                    let path = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    let at = |map: &serde_json::Map<String, Json>| map.get(key).cloned().unwrap_or_default();
                    walk(&path, &at(left), &at(right), found);
                }
            }
            _ => found.push(path.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk("", left, right, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tfplugin::json::dynamic_from_json;

    fn entry(name: &str, value: Field<String>) -> SetEntry {
        SetEntry {
            name: name.into(),
            value,
            r#type: "auto".into(),
        }
    }

    #[test]
    fn every_spelling_of_values_is_read() {
        let want = json!({ "a": { "b": 1 }, "c": true });
        for spelling in [
            json!({ "a": { "b": 1 }, "c": true }),
            json!("a:\n  b: 1\nc: true\n"),
            json!(["a:\n  b: 1\n", { "c": true }]),
            json!([{ "a": { "b": 2 } }, "a: {b: 1}\nc: true"]),
        ] {
            let release = HelmRelease {
                values: Field::Known(dynamic_from_json(&spelling)),
                ..HelmRelease::default()
            };
            let merged = merged(&release).expect("known").expect("valid");
            assert_eq!(merged, want, "{spelling}");
        }
        assert!(same_values(
            &dynamic_from_json(&json!("a: 1")),
            &dynamic_from_json(&json!({ "a": 1 }))
        ));
        assert!(!same_values(
            &dynamic_from_json(&json!("a: 1")),
            &dynamic_from_json(&json!({ "a": 2 }))
        ));
    }

    #[test]
    fn settings_come_last_and_unknown_waits() {
        let release = HelmRelease {
            values: Field::Known(dynamic_from_json(&json!({ "a": 1 }))),
            set: Field::Known(vec![entry("a", "2".into())]),
            set_sensitive: Field::Known(vec![entry("p", "x".into())]),
            ..HelmRelease::default()
        };
        assert_eq!(
            merged(&release).expect("known").expect("valid"),
            json!({ "a": 2, "p": "x" })
        );
        let unknown = HelmRelease {
            set: Field::Known(vec![entry("a", Field::Unknown)]),
            ..release
        };
        assert!(merged(&unknown).is_none());
        assert!(
            merged(&HelmRelease {
                values: Field::Unknown,
                ..HelmRelease::default()
            })
            .is_none()
        );
        assert_eq!(
            merged(&HelmRelease::default()).expect("known").expect("valid"),
            json!({})
        );
    }

    #[test]
    fn what_is_stored_nowhere_is_not_compared() {
        let names = ["auth.password".to_owned(), "list[1].x".to_owned()];
        let live = json!({ "auth": { "password": "s3", "user": "u" }, "list": [1, { "x": "s4" }] });
        let stored = json!({ "auth": { "user": "u" }, "list": [1] });
        let covered = |values: Json| without(values, &names).expect("valid names");
        assert_eq!(covered(live.clone()), covered(stored));
        assert_ne!(
            covered(live),
            covered(json!({ "auth": { "user": "v" }, "list": [1] }))
        );
    }

    #[test]
    fn differences_are_told_by_place_alone() {
        let (left, right) = (
            json!({ "a": { "b": 1, "c": 2 }, "d": [1] }),
            json!({ "a": { "b": 1, "c": 3 }, "d": [2], "e": 1 }),
        );
        assert_eq!(differing_paths(&left, &right), ["a.c", "d", "e"]);
        assert!(differing_paths(&left, &left).is_empty());
    }
}
