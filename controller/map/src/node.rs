//! Nodes and NodeClaims.

use jiff::{SignedDuration, Timestamp};
use joiner_api::NodeClaim;
use joiner_core::conditions::{Condition, Conditions, Status};
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::Resources;
use joiner_core::snapshot::{Claim, ClassRef, NodeObject};
use joiner_core::taints::{Effect, Taint};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;

use crate::quantities::{from_api, resources};
use crate::taints;

/// A Node.
pub fn node(object: &k8s::Node) -> NodeObject {
    let meta = &object.metadata;
    let spec = object.spec.clone().unwrap_or_default();
    let status = object.status.as_ref();
    let mut tainted: Vec<Taint> = spec
        .taints
        .iter()
        .flatten()
        .filter_map(taints::from_node)
        .collect();
    let cordoned = Taint::new("node.kubernetes.io/unschedulable", "", Effect::NoSchedule);
    // The node controller adds this taint a moment after the field is set.
    if spec.unschedulable == Some(true) && !tainted.iter().any(|taint| taint.is_same(&cordoned)) {
        tainted.push(cordoned);
    }
    let conditions = status
        .and_then(|status| status.conditions.as_deref())
        .unwrap_or_default();
    NodeObject {
        name: crate::text(meta.name.as_ref()),
        uid: crate::text(meta.uid.as_ref()),
        created: time(meta.creation_timestamp.as_ref()),
        deletion: meta.deletion_timestamp.as_ref().map(|time| time.0),
        provider_id: spec
            .provider_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(Text::from),
        labels: crate::labels(meta.labels.as_ref()),
        annotations: crate::labels(meta.annotations.as_ref()),
        finalizers: finalizers(meta.finalizers.as_ref()),
        taints: tainted,
        ready: conditions
            .iter()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True"),
        capacity: resources(status.and_then(|status| status.capacity.as_ref())),
        allocatable: resources(status.and_then(|status| status.allocatable.as_ref())),
    }
}

/// A NodeClaim.
pub fn claim(object: &NodeClaim) -> Claim {
    let meta = &object.metadata;
    let spec = &object.spec;
    let status = object.status.as_ref();
    Claim {
        name: crate::text(meta.name.as_ref()),
        uid: crate::text(meta.uid.as_ref()),
        created: time(meta.creation_timestamp.as_ref()),
        deletion: meta.deletion_timestamp.as_ref().map(|time| time.0),
        labels: crate::labels(meta.labels.as_ref()),
        annotations: crate::labels(meta.annotations.as_ref()),
        finalizers: finalizers(meta.finalizers.as_ref()),
        class: class(&spec.node_class_ref),
        requirements: requirements(&spec.requirements),
        requests: spec
            .resources
            .as_ref()
            .map_or_else(Resources::new, |it| from_api(&it.requests)),
        taints: spec.taints.iter().filter_map(taints::from_api).collect(),
        startup_taints: spec.startup_taints.iter().filter_map(taints::from_api).collect(),
        expire_after: spec.expire_after.as_ref().and_then(|age| span(age.as_std()?)),
        termination_grace_period: spec
            .termination_grace_period
            .as_ref()
            .and_then(|grace| span(grace.as_std())),
        provider_id: named(status.and_then(|status| status.provider_id.as_ref())),
        node_name: named(status.and_then(|status| status.node_name.as_ref())),
        capacity: status.map_or_else(Resources::new, |status| from_api(&status.capacity)),
        allocatable: status.map_or_else(Resources::new, |status| from_api(&status.allocatable)),
        last_pod_event: status.and_then(|status| Some(status.last_pod_event_time.as_ref()?.0)),
        conditions: conditions(status.map_or(&[], |status| &status.conditions)),
    }
}

/// A taint of a node.
pub fn taint(written: &k8s::Taint) -> Option<Taint> {
    taints::from_node(written)
}

/// Conditions by type.
pub(crate) fn conditions(list: &[meta::Condition]) -> Conditions {
    list.iter()
        .map(|it| {
            let condition = Condition {
                status: Status::parse(&it.status),
                reason: it.reason.as_str().into(),
                message: it.message.as_str().into(),
                since: it.last_transition_time.0,
            };
            (it.type_.as_str(), condition)
        })
        .collect()
}

/// Conditions by type, from the JSON of a list; one that cannot be read is left out.
pub fn conditions_of(list: &serde_json::Value) -> Conditions {
    let rows = list.as_array().into_iter().flatten();
    let read: Vec<meta::Condition> = rows
        .filter_map(|row| serde_json::from_value(row.clone()).ok())
        .collect();
    conditions(&read)
}

/// Requirements of a pool or a claim. One that makes no sense is left out: validation has told the pool's owner.
pub(crate) fn requirements(list: &[joiner_api::Requirement]) -> Requirements {
    list.iter()
        .filter_map(|it| {
            let values = it.values.iter().map(String::as_str);
            let requirement = Requirement::parse(it.key.as_str(), it.operator.as_str(), values).ok()?;
            Some(requirement.with_min_values(it.min_values))
        })
        .collect()
}

pub(crate) fn class(reference: &joiner_api::NodeClassRef) -> ClassRef {
    ClassRef {
        group: reference.group.as_str().into(),
        kind: reference.kind.as_str().into(),
        name: reference.name.as_str().into(),
    }
}

/// A length of time; one beyond what can be counted is as good as none.
pub(crate) fn span(length: std::time::Duration) -> Option<SignedDuration> {
    SignedDuration::try_from(length).ok()
}

pub(crate) fn time(written: Option<&meta::Time>) -> Timestamp {
    written.map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}

fn finalizers(list: Option<&Vec<String>>) -> Vec<Text> {
    list.into_iter().flatten().map(|it| it.as_str().into()).collect()
}

fn named(value: Option<&String>) -> Option<Text> {
    value
        .map(String::as_str)
        .filter(|it| !it.is_empty())
        .map(Text::from)
}
