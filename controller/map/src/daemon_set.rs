//! DaemonSets, PodDisruptionBudgets and volume attachments.

use joiner_core::snapshot::{DaemonSet, Pdb};
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::VolumeAttachment;

use crate::placement::{placement, selector};
use crate::requests::requests;

/// A DaemonSet: what its pod asks for, and where it runs.
pub fn daemon_set(object: &apps::DaemonSet) -> DaemonSet {
    let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
    let template = object.spec.as_ref().map(|spec| &spec.template);
    let empty = k8s::PodSpec::default();
    let spec = template
        .and_then(|template| template.spec.as_ref())
        .unwrap_or(&empty);
    let labels = template.and_then(|template| template.metadata.as_ref()?.labels.as_ref());
    DaemonSet {
        name: format!(
            "{namespace}/{}",
            object.metadata.name.as_deref().unwrap_or_default()
        )
        .into(),
        requests: requests(spec, None),
        placement: placement(spec, &crate::labels(labels), namespace),
    }
}

/// A PodDisruptionBudget.
pub fn pdb(object: &PodDisruptionBudget) -> Pdb {
    let spec = object.spec.as_ref();
    let allowed = object
        .status
        .as_ref()
        .map_or(0, |status| status.disruptions_allowed);
    Pdb {
        namespace: object.metadata.namespace.as_deref().unwrap_or("default").into(),
        name: crate::text(object.metadata.name.as_ref()),
        selector: selector(spec.and_then(|spec| spec.selector.as_ref())),
        disruptions_allowed: u32::try_from(allowed).unwrap_or_default(),
        always_allow_unhealthy: spec.and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref())
            == Some("AlwaysAllow"),
    }
}

/// A volume that is attached, or being attached or detached: its node and its name.
pub fn attachment(object: &VolumeAttachment) -> Option<(Text, Text)> {
    let volume = object.spec.source.persistent_volume_name.as_deref()?;
    Some((object.spec.node_name.as_str().into(), volume.into()))
}
