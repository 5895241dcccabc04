//! Workloads: what a pod is a replica of, how many there are to be, and which pods belong together.

use std::collections::BTreeMap;

use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::PodSelector;
use joiner_core::text::{Labels, Text};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1 as k8s;

use crate::placement::selector;

/// A workload's kind and name; the namespace is the pod's.
pub(crate) type WorkloadKey = (Text, Text, Text);

/// A workload as far as scheduling cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadObject {
    pub(crate) key: WorkloadKey,
    /// Its selector, for kinds that default spread constraints follow.
    pub(crate) selector: Option<PodSelector>,
    pub(crate) replicas: u32,
}

/// A Service's selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceObject {
    pub(crate) namespace: Text,
    pub(crate) name: Text,
    pub(crate) selector: Labels,
}

fn key(kind: &str, meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> WorkloadKey {
    (
        kind.into(),
        meta.namespace.as_deref().unwrap_or("default").into(),
        meta.name.as_deref().unwrap_or_default().into(),
    )
}

fn count(replicas: Option<i32>) -> u32 {
    replicas.map_or(1, |count| u32::try_from(count).unwrap_or(0))
}

/// A ReplicaSet.
pub fn replica_set(object: &apps::ReplicaSet) -> WorkloadObject {
    let spec = object.spec.as_ref();
    WorkloadObject {
        key: key("ReplicaSet", &object.metadata),
        selector: spec.map(|spec| selector(Some(&spec.selector))),
        replicas: count(spec.and_then(|spec| spec.replicas)),
    }
}

/// A StatefulSet.
pub fn stateful_set(object: &apps::StatefulSet) -> WorkloadObject {
    let spec = object.spec.as_ref();
    WorkloadObject {
        key: key("StatefulSet", &object.metadata),
        selector: spec.map(|spec| selector(Some(&spec.selector))),
        replicas: count(spec.and_then(|spec| spec.replicas)),
    }
}

/// A Job; default spread constraints do not follow it.
pub fn job(object: &Job) -> WorkloadObject {
    WorkloadObject {
        key: key("Job", &object.metadata),
        selector: None,
        replicas: count(object.spec.as_ref().and_then(|spec| spec.parallelism)),
    }
}

/// A Service; one without a selector chooses no pods.
pub fn service(object: &k8s::Service) -> Option<ServiceObject> {
    let selector = crate::labels(object.spec.as_ref()?.selector.as_ref());
    (!selector.is_empty()).then(|| ServiceObject {
        namespace: object.metadata.namespace.as_deref().unwrap_or("default").into(),
        name: object.metadata.name.as_deref().unwrap_or_default().into(),
        selector,
    })
}

/// The pods that default spread constraints count for a pod: those that its services and its own set select. None where
/// nothing selects it.
pub(crate) fn default_selector(
    namespace: &str,
    labels: &Labels,
    services: &BTreeMap<(Text, Text), ServiceObject>,
    own: Option<&PodSelector>,
) -> Option<PodSelector> {
    let mut counted: Option<Requirements> = own.map(|own| own.labels.clone());
    let here = services.range((Text::from(namespace), Text::from(""))..);
    for service in here
        .map(|(_, service)| service)
        .take_while(|it| &*it.namespace == namespace)
    {
        let selects = service
            .selector
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value));
        if selects {
            let counted = counted.get_or_insert_with(Requirements::new);
            for (key, value) in &service.selector {
                counted.add(Requirement::is(key.clone(), value.clone()));
            }
        }
    }
    counted.map(|labels| PodSelector {
        labels,
        matches_nothing: false,
    })
}
