//! A container's environment. Pure: what config maps and secrets hold is an argument.
//!
//! Order, later wins: what the kubelet gives, `envFrom` in order, `env` in order.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource};

use super::expand::expand;
use super::fields::{self, Facts};

/// What the pod's namespace holds, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    pub(super) config_maps: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    pub(super) secrets: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

/// Builds the environment on top of `given`.
///
/// The error is the kubelet's message for the reason `CreateContainerConfigError`.
pub(super) fn build(
    container: &Container,
    facts: &Facts<'_>,
    sources: &Sources,
    given: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut env = given;
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        let found = match (&from.config_map_ref, &from.secret_ref) {
            (Some(source), _) => all("configmap", &sources.config_maps, &source.name, source.optional)?,
            (None, Some(source)) => all("secret", &sources.secrets, &source.name, source.optional)?,
            (None, None) => continue,
        };
        for (key, value) in found.into_iter().flatten() {
            env.insert(
                format!("{prefix}{key}"),
                String::from_utf8_lossy(value).into_owned(),
            );
        }
    }
    for variable in container.env.iter().flatten() {
        if let Some(value) = value(variable, container, facts, sources, &env)? {
            env.insert(variable.name.clone(), value);
        }
    }
    Ok(env)
}

type Named = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

fn all<'a>(
    kind: &str,
    sources: &'a Named,
    name: &str,
    optional: Option<bool>,
) -> Result<Option<&'a BTreeMap<String, Vec<u8>>>, String> {
    match sources.get(name) {
        Some(found) => Ok(Some(found)),
        None if optional == Some(true) => Ok(None),
        None => Err(format!("{kind} {name:?} not found")),
    }
}

fn value(
    variable: &EnvVar,
    container: &Container,
    facts: &Facts<'_>,
    sources: &Sources,
    known: &BTreeMap<String, String>,
) -> Result<Option<String>, String> {
    let Some(from) = &variable.value_from else {
        return Ok(Some(expand(variable.value.as_deref().unwrap_or_default(), known)));
    };
    let EnvVarSource {
        config_map_key_ref,
        field_ref,
        resource_field_ref,
        secret_key_ref,
        ..
    } = from;
    if let Some(selector) = field_ref {
        return fields::field(facts, &selector.field_path).map(Some);
    }
    if let Some(selector) = resource_field_ref {
        return fields::resource(facts, container, selector).map(Some);
    }
    if let Some(selector) = config_map_key_ref {
        return key(
            "configmap",
            &sources.config_maps,
            &selector.name,
            &selector.key,
            selector.optional,
        );
    }
    if let Some(selector) = secret_key_ref {
        return key(
            "secret",
            &sources.secrets,
            &selector.name,
            &selector.key,
            selector.optional,
        );
    }
    Err(format!(
        "variable {:?} has a source that the sandbox's kubelet does not know",
        variable.name
    ))
}

fn key(
    kind: &str,
    sources: &Named,
    name: &str,
    key: &str,
    optional: Option<bool>,
) -> Result<Option<String>, String> {
    let optional = optional == Some(true);
    match sources.get(name) {
        None if optional => Ok(None),
        None => Err(format!("{kind} {name:?} not found")),
        Some(found) => match found.get(key) {
            Some(value) => Ok(Some(String::from_utf8_lossy(value).into_owned())),
            None if optional => Ok(None),
            None => Err(format!("couldn't find key {key} in {kind} {name}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn built(container: serde_json::Value) -> Result<BTreeMap<String, String>, String> {
        let pod = serde_json::from_value(json!({
            "metadata": { "name": "p", "namespace": "n" }, "spec": { "containers": [] },
        }))
        .unwrap();
        let container: Container = serde_json::from_value(container).unwrap();
        let allocatable = BTreeMap::new();
        let facts = Facts {
            pod: &pod,
            pod_ip: "127.1.0.1",
            host_ip: "127.0.0.1",
            allocatable: &allocatable,
        };
        let values = |text: &str| BTreeMap::from([("k".to_owned(), text.as_bytes().to_vec())]);
        let sources = Sources {
            config_maps: BTreeMap::from([("m".to_owned(), values("from-map"))]),
            secrets: BTreeMap::from([("s".to_owned(), values("from-secret"))]),
        };
        let given = BTreeMap::from([("HOME".to_owned(), "/h".to_owned())]);
        build(&container, &facts, &sources, given)
    }

    #[test]
    fn every_source_is_read_and_later_wins() {
        let env = built(json!({
            "name": "c",
            "envFrom": [
                { "configMapRef": { "name": "m" }, "prefix": "M_" },
                { "secretRef": { "name": "absent", "optional": true } },
            ],
            "env": [
                { "name": "A", "value": "1" },
                { "name": "B", "value": "$(A)2" },
                { "name": "HOME", "value": "/mine" },
                { "name": "NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
                { "name": "MAP", "valueFrom": { "configMapKeyRef": { "name": "m", "key": "k" } } },
                { "name": "SECRET", "valueFrom": { "secretKeyRef": { "name": "s", "key": "k" } } },
                { "name": "GONE", "valueFrom": { "secretKeyRef": { "name": "s", "key": "no", "optional": true } } },
            ],
        }))
        .unwrap();
        for (name, want) in [
            ("M_k", Some("from-map")),
            ("B", Some("12")),
            ("HOME", Some("/mine")),
            ("NAME", Some("p")),
            ("MAP", Some("from-map")),
            ("SECRET", Some("from-secret")),
            ("GONE", None),
        ] {
            assert_eq!(env.get(name).map(String::as_str), want, "{name}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (source, want) in [
            (
                json!({ "configMapKeyRef": { "name": "no", "key": "k" } }),
                "configmap \"no\" not found",
            ),
            (
                json!({ "secretKeyRef": { "name": "s", "key": "no" } }),
                "couldn't find key no in secret s",
            ),
            (json!({ "fieldRef": { "fieldPath": "spec.bad" } }), "spec.bad"),
        ] {
            let error =
                built(json!({ "name": "c", "env": [{ "name": "A", "valueFrom": source }] })).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }
}
