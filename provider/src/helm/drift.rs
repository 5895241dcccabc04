//! What of a release's live objects differs from what it rendered: by a server-side dry run, so that defaults do not count.

use super::places::Places;
use super::{HelmError, manifest};
use crate::cluster::{ApplyOptions, Cluster, ClusterError, Objects};
use serde_json::Value;
use std::collections::BTreeMap;

/// The manager of the dry run; nothing is stored under it.
const FIELD_MANAGER: &str = "helm";
/// How many differing fields of one object are named.
const MOST_FIELDS: usize = 8;

/// Differences by object title, for example `Deployment/kube-system/joiner` -> `spec.replicas: 3, not 1`.
///
/// Empty when the cluster holds what the release rendered.
pub(crate) async fn drift_of(
    cluster: &Cluster,
    namespace: &str,
    objects: &[Value],
) -> Result<BTreeMap<String, String>, HelmError> {
    let mut drift = BTreeMap::new();
    let mut places = Places::new(cluster, namespace);
    for object in objects {
        let mut object = object.clone();
        let Some(api) = places.of(&mut object).await? else {
            let text = |key: &str| object[key].as_str().unwrap_or_default();
            drift.insert(
                manifest::title(&object),
                format!(
                    "the cluster does not serve {} {}",
                    text("apiVersion"),
                    text("kind")
                ),
            );
            continue;
        };
        if let Some(difference) = difference_of(&api, &object).await? {
            drift.insert(manifest::title(&object), difference);
        }
    }
    Ok(drift)
}

async fn difference_of(api: &Objects<'_>, object: &Value) -> Result<Option<String>, HelmError> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let Some(live) = api.get(name).await? else {
        return Ok(Some("the object is gone".to_owned()));
    };
    let options = ApplyOptions {
        field_manager: FIELD_MANAGER.to_owned(),
        force_conflicts: true,
        dry_run: true,
    };
    match api.apply(name, object, &options).await {
        Ok(wanted) => Ok(describe(&wanted.0, &live)),
        Err(ClusterError::Invalid(problem)) => Ok(Some(format!("cannot be applied any more: {problem}"))),
        Err(error) => Err(error.into()),
    }
}

/// The fields in which `live` differs from `wanted`; `None` when there are none.
fn describe(wanted: &Value, live: &Value) -> Option<String> {
    let mut found = Vec::new();
    compare("", wanted, live, &mut found);
    if found.is_empty() {
        return None;
    }
    let more = found.len().saturating_sub(MOST_FIELDS);
    found.truncate(MOST_FIELDS);
    let mut text = found.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    Some(text)
}

fn compare(path: &str, wanted: &Value, live: &Value, found: &mut Vec<String>) {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => {
            for (key, wanted) in wanted {
                if !is_server_owned(path, key) {
                    compare(
                        &join(path, key),
                        wanted,
                        live.get(key).unwrap_or(&Value::Null),
                        found,
                    );
                }
            }
        }
        (Value::Array(wanted), Value::Array(live)) if wanted.len() == live.len() => {
            for (index, (wanted, live)) in wanted.iter().zip(live).enumerate() {
                compare(&format!("{path}[{index}]"), wanted, live, found);
            }
        }
        (wanted, live) if wanted == live => {}
        (wanted, live) => found.push(format!(
            "{path}: {}, not {}",
            show(path, live),
            show(path, wanted)
        )),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// Bookkeeping that a dry run changes and a user does not mean.
fn is_server_owned(path: &str, key: &str) -> bool {
    match path {
        "" => key == "status",
        "metadata" => matches!(
            key,
            "managedFields" | "resourceVersion" | "generation" | "creationTimestamp" | "uid"
        ),
        _ => false,
    }
}

/// A short form of a value. Where a chart puts what is secret, it is not shown: the content of Secrets and ConfigMaps, and the
/// environment of containers.
fn show(path: &str, value: &Value) -> String {
    const LONGEST: usize = 60;
    let content = ["data.", "stringData.", "binaryData."];
    if content.iter().any(|start| path.starts_with(start)) || path.contains(".env[") {
        return "(content)".to_owned();
    }
    let text = match value {
        Value::Null => "absent".to_owned(),
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_the_release_set_is_compared() {
        let live = json!({
            "metadata": { "name": "d", "resourceVersion": "9", "labels": { "a": "1", "added": "x" } },
            "spec": { "replicas": 3, "list": [1, 2] }, "status": { "ready": 1 },
        });
        let rows = [
            (
                json!({ "metadata": { "name": "d", "resourceVersion": "8" }, "spec": { "replicas": 3 } }),
                None,
            ),
            (
                json!({ "spec": { "replicas": 1 } }),
                Some("spec.replicas: 3, not 1"),
            ),
            (
                json!({ "metadata": { "labels": { "a": "2" } } }),
                Some("metadata.labels.a: \"1\", not \"2\""),
            ),
            (
                json!({ "spec": { "list": [1, 5] } }),
                Some("spec.list[1]: 2, not 5"),
            ),
            (
                json!({ "spec": { "new": true } }),
                Some("spec.new: absent, not true"),
            ),
        ];
        for (wanted, want) in rows {
            assert_eq!(describe(&wanted, &live).as_deref(), want, "{wanted}");
        }
    }

    #[test]
    fn a_secret_stays_secret_and_a_long_list_short() {
        let text = describe(
            &json!({ "data": { "password": "b2xk" } }),
            &json!({ "data": { "password": "bmV3" } }),
        );
        assert_eq!(text.as_deref(), Some("data.password: (content), not (content)"));
        let env =
            |value: &str| json!({ "spec": { "containers": [{ "env": [{ "name": "P", "value": value }] }] } });
        assert_eq!(
            describe(&env("old"), &env("new")).as_deref(),
            Some("spec.containers[0].env[0].value: (content), not (content)")
        );
        let many: serde_json::Map<String, Value> = (0..20).map(|n| (format!("k{n}"), json!(n))).collect();
        let text = describe(&Value::Object(many), &json!({})).expect("a difference");
        assert!(text.ends_with("and 12 more"), "{text}");
    }
}
