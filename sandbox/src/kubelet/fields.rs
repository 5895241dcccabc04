//! `fieldRef` and `resourceFieldRef`: what a pod may know about itself. Pure.
//!
//! Source: Kubernetes' downward API.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, Pod, ResourceFieldSelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::quantity::{self, Milli};

/// What is known about a pod once it has a node and an address.
#[derive(Debug, Clone)]
pub(super) struct Facts<'a> {
    pub(super) pod: &'a Pod,
    pub(super) pod_ip: &'a str,
    pub(super) host_ip: &'a str,
    /// The node's allocatable, which stands in for absent limits.
    pub(super) allocatable: &'a BTreeMap<String, String>,
}

/// A field's value.
pub(super) fn field(facts: &Facts<'_>, path: &str) -> Result<String, String> {
    let meta = &facts.pod.metadata;
    let spec = facts.pod.spec.as_ref();
    let text = |value: Option<&String>| value.cloned().unwrap_or_default();
    if let Some(key) = subscript(path, "metadata.labels") {
        return Ok(text(meta.labels.as_ref().and_then(|labels| labels.get(key))));
    }
    if let Some(key) = subscript(path, "metadata.annotations") {
        return Ok(text(
            meta.annotations
                .as_ref()
                .and_then(|annotations| annotations.get(key)),
        ));
    }
    Ok(match path {
        "metadata.name" => text(meta.name.as_ref()),
        "metadata.namespace" => text(meta.namespace.as_ref()),
        "metadata.uid" => text(meta.uid.as_ref()),
        "metadata.labels" => listing(meta.labels.as_ref()),
        "metadata.annotations" => listing(meta.annotations.as_ref()),
        "spec.nodeName" => text(spec.and_then(|spec| spec.node_name.as_ref())),
        "spec.serviceAccountName" => text(spec.and_then(|spec| spec.service_account_name.as_ref())),
        "status.podIP" | "status.podIPs" => facts.pod_ip.to_owned(),
        "status.hostIP" | "status.hostIPs" => facts.host_ip.to_owned(),
        other => {
            return Err(format!(
                "fieldPath {other:?} is not one that the downward API offers"
            ));
        }
    })
}

/// `metadata.labels['key']`.
fn subscript<'a>(path: &'a str, field: &str) -> Option<&'a str> {
    path.strip_prefix(field)?.strip_prefix("['")?.strip_suffix("']")
}

/// The form that a labels file has.
fn listing(map: Option<&BTreeMap<String, String>>) -> String {
    let lines = map
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={value:?}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A resource's value: of the named container, else of `own`.
pub(super) fn resource(
    facts: &Facts<'_>,
    own: &Container,
    selector: &ResourceFieldSelector,
) -> Result<String, String> {
    let containers = facts.pod.spec.iter().flat_map(|spec| {
        spec.containers
            .iter()
            .chain(spec.init_containers.iter().flatten())
    });
    let container = match &selector.container_name {
        Some(name) => containers.into_iter().find(|container| &container.name == name),
        None => Some(own),
    }
    .ok_or_else(|| {
        format!(
            "resourceFieldRef names a container that is not there: {:?}",
            selector.container_name
        )
    })?;

    let (kind, name) = selector.resource.split_once('.').ok_or_else(|| {
        format!(
            "resource {:?} is not limits.NAME or requests.NAME",
            selector.resource
        )
    })?;
    let resources = container.resources.as_ref();
    let limits = resources.and_then(|resources| resources.limits.as_ref());
    let requests = resources.and_then(|resources| resources.requests.as_ref());
    let limit = || {
        limits
            .and_then(|limits| limits.get(name))
            .map(|Quantity(text)| text.clone())
    };
    let value = match kind {
        "limits" => limit().or_else(|| facts.allocatable.get(name).cloned()),
        "requests" => requests
            .and_then(|requests| requests.get(name))
            .map(|Quantity(text)| text.clone())
            .or_else(limit),
        _ => {
            return Err(format!(
                "resource {:?} is not limits.NAME or requests.NAME",
                selector.resource
            ));
        }
    };
    let read = |text: &str| quantity::parse(text).ok_or_else(|| format!("{text:?} is not a quantity"));
    let value = value.as_deref().map_or(Ok(Milli(0)), read)?;
    let divisor = selector
        .divisor
        .as_ref()
        .map_or(Ok(Milli(0)), |Quantity(text)| read(text))?;
    Ok(value.divided(divisor).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod() -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "p", "namespace": "n", "uid": "u", "labels": { "a": "1", "b/c": "2" } },
            "spec": { "nodeName": "system", "serviceAccountName": "s", "containers": [
                { "name": "c", "resources": { "limits": { "memory": "256Mi" }, "requests": { "cpu": "100m" } } },
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn fields_and_resources() {
        let pod = pod();
        let allocatable = BTreeMap::from([("cpu".to_owned(), "4".to_owned())]);
        let facts = Facts {
            pod: &pod,
            pod_ip: "127.1.0.1",
            host_ip: "127.0.0.1",
            allocatable: &allocatable,
        };
        for (path, want) in [
            ("metadata.name", "p"),
            ("metadata.labels['b/c']", "2"),
            ("metadata.labels['absent']", ""),
            ("metadata.labels", "a=\"1\"\nb/c=\"2\""),
            ("status.podIP", "127.1.0.1"),
            ("spec.nodeName", "system"),
        ] {
            assert_eq!(field(&facts, path).as_deref(), Ok(want), "{path}");
        }
        assert!(field(&facts, "spec.hostname").is_err());

        let own = &pod.spec.as_ref().unwrap().containers[0];
        for (name, divisor, want) in [
            ("limits.memory", "0", "268435456"),
            ("limits.memory", "1Mi", "256"),
            ("requests.cpu", "1m", "100"),
            ("limits.cpu", "1", "4"),
            ("requests.memory", "0", "268435456"),
        ] {
            let selector = ResourceFieldSelector {
                container_name: None,
                divisor: Some(Quantity(divisor.into())),
                resource: name.into(),
            };
            assert_eq!(resource(&facts, own, &selector).as_deref(), Ok(want), "{name}");
        }
    }
}
