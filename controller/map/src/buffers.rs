//! CapacityBuffers: room that is to be kept free, as pods that are never bound.

use std::collections::BTreeMap;

use joiner_api::Quantity;
use joiner_core::resources::{ResourceName, Resources};
use joiner_core::snapshot::{Owner, Pod, PodKey, PodState};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use serde::Deserialize;

use crate::placement::placement;
use crate::requests::requests;

/// A CapacityBuffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its namespace.
    pub namespace: Text,
    /// Its name.
    pub name: Text,
    /// The PodTemplate that one unit of it looks like.
    pub template: Option<Text>,
    /// Kind and name of the workload whose pods one unit looks like.
    pub scalable: Option<(Text, Text)>,
    /// How many units.
    pub replicas: Option<u32>,
    /// How many units for a hundred replicas of the workload.
    pub percentage: Option<u32>,
    /// What all units may take together.
    pub limits: Option<Resources>,
}

/// A workload or template that a buffer may name.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalable {
    /// What one unit looks like.
    pub template: PodTemplateSpec,
    /// How many replicas the workload wants; 0 for a template.
    pub replicas: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default)]
    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    pod_template_ref: Option<Reference>,
    scalable_ref: Option<Reference>,
    replicas: Option<u32>,
    percentage: Option<u32>,
    limits: Option<BTreeMap<String, Quantity>>,
}

#[derive(Deserialize)]
struct Reference {
    name: String,
    #[serde(default)]
    kind: String,
}

/// A CapacityBuffer from its JSON.
///
/// # Errors
/// Where a field is missing or of the wrong kind, with its path.
pub fn buffer(object: &serde_json::Value) -> Result<Buffer, serde_path_to_error::Error<serde_json::Error>> {
    let written: Written = serde_path_to_error::deserialize(object)?;
    let spec = written.spec;
    Ok(Buffer {
        namespace: written.metadata.namespace.as_deref().unwrap_or("default").into(),
        name: crate::text(written.metadata.name.as_ref()),
        template: spec.pod_template_ref.map(|it| it.name.into()),
        scalable: spec.scalable_ref.map(|it| (it.kind.into(), it.name.into())),
        replicas: spec.replicas,
        percentage: spec.percentage,
        limits: spec.limits.as_ref().map(crate::quantities::from_api),
    })
}

/// How many units a buffer wants: the more of its replicas and its percentage, as far as its limits go; without either as
/// many as its limits hold.
fn units(buffer: &Buffer, scalable: &Scalable, each: &Resources) -> u32 {
    // Nothing has a share of nothing: a template, or a workload that is scaled to none.
    let percentage = buffer.percentage.filter(|_| scalable.replicas > 0);
    let share = percentage.map(|percentage| {
        let hundredths = u64::from(scalable.replicas) * u64::from(percentage);
        u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
    });
    let wanted = buffer.replicas.max(share);
    let most = buffer.limits.as_ref().and_then(|limits| {
        limits
            .iter()
            .filter_map(|(name, limit)| {
                let each = each.get(&name);
                (each > 0).then(|| u32::try_from((limit / each).max(0)).unwrap_or(u32::MAX))
            })
            .min()
    });
    match (wanted, most) {
        (Some(wanted), Some(most)) => wanted.min(most),
        (one, other) => one.or(other).unwrap_or(0),
    }
}

/// The pods that stand for a buffer's units: unschedulable, of the lowest priority, without volumes that are claimed.
pub fn virtual_pods(buffer: &Buffer, scalable: &Scalable, created: jiff::Timestamp) -> Vec<Pod> {
    let empty = PodSpec::default();
    let spec = scalable.template.spec.as_ref().unwrap_or(&empty);
    let labels = crate::labels(
        scalable
            .template
            .metadata
            .as_ref()
            .and_then(|meta| meta.labels.as_ref()),
    );
    let wanted = requests(spec, None);
    let place = placement(spec, &labels, &buffer.namespace);
    let count = units(buffer, scalable, &wanted.clone().with(ResourceName::Pods, 0));
    let unit = |number: u32| {
        let name = format!("capacity-buffer-{}-{number}", buffer.name);
        let key = PodKey::new(buffer.namespace.clone(), name);
        Pod {
            labels: labels.clone(),
            placement: place.clone(),
            owner: Owner::None,
            priority: i32::MIN,
            state: PodState::Unschedulable,
            buffer: Some(format!("{}/{}", buffer.namespace, buffer.name).into()),
            ..Pod::new(key, wanted.clone(), created)
        }
    };
    (1..=count).map(unit).collect()
}
