//! A pod: what its own object says, and what it leaves to other objects to say.

use jiff::{SignedDuration, Timestamp};
use joiner_api::GoDuration;
use joiner_api::labels::DO_NOT_DISRUPT;
use joiner_core::snapshot::{DoNotDisrupt, Owner, Pod, PodKey, PodState};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;

use crate::open::{Open, open};
use crate::placement::placement;
use crate::requests::requests;

/// A pod, the node it is bound to, and what only other objects can tell about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodObject {
    /// The pod as far as its own object goes.
    pub pod: Pod,
    /// The node it is bound to.
    pub node: Option<Text>,
    /// What is left open.
    pub open: Open,
}

/// The pod as far as its own object goes, and the node it is bound to. Devices that it claims cannot be had so.
pub fn pod(object: &k8s::Pod) -> (Pod, Option<Text>) {
    let mut object = pod_object(object);
    refuse_devices(&mut object);
    (object.pod, object.node)
}

/// Says of a pod that the devices it claims cannot be had, where nobody looks them up.
pub fn refuse_devices(object: &mut PodObject) {
    if !std::mem::take(&mut object.open.devices).is_empty() {
        let why = "it claims devices dynamically (spec.resourceClaims), which are not looked at here; the controller looks at \
                   them once settings.ignoreDRARequests of its chart (IGNORE_DRA_REQUESTS) is false";
        object.pod.placement.unsupported.push(why.into());
    }
}

/// The pod with what it leaves open; [`crate::Surroundings::complete`] closes that.
pub fn pod_object(object: &k8s::Pod) -> PodObject {
    let meta = &object.metadata;
    let empty = k8s::PodSpec::default();
    let spec = object.spec.as_ref().unwrap_or(&empty);
    let namespace = meta.namespace.as_deref().unwrap_or("default");
    let labels = crate::labels(meta.labels.as_ref());
    let node = spec
        .node_name
        .as_deref()
        .filter(|name| !name.is_empty())
        .map(Text::from);
    let pod = Pod {
        key: PodKey::new(namespace, meta.name.as_deref().unwrap_or_default()),
        uid: crate::text(meta.uid.as_ref()),
        requests: requests(spec, object.status.as_ref()),
        placement: placement(spec, &labels, namespace),
        labels,
        owner: owner(object),
        priority: spec.priority.unwrap_or_default(),
        created: meta
            .creation_timestamp
            .as_ref()
            .map_or(Timestamp::UNIX_EPOCH, |time| time.0),
        state: state(object, node.is_some()),
        do_not_disrupt: do_not_disrupt(object),
        deletion: meta.deletion_timestamp.as_ref().map(|time| time.0),
        grace_period: SignedDuration::from_secs(spec.termination_grace_period_seconds.unwrap_or(30)),
        deletion_cost: annotation(object, "controller.kubernetes.io/pod-deletion-cost")
            .and_then(|cost| cost.parse().ok())
            .unwrap_or_default(),
        workload: None,
        buffer: None,
    };
    let open = open(object, spec);
    PodObject { pod, node, open }
}

fn state(object: &k8s::Pod, bound: bool) -> PodState {
    let Some(status) = &object.status else {
        return if bound {
            PodState::Bound { started: None }
        } else {
            PodState::Waiting
        };
    };
    if matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")) {
        return PodState::Done;
    }
    if bound {
        return PodState::Bound {
            started: status.start_time.as_ref().map(|time| time.0),
        };
    }
    let refused = status.conditions.iter().flatten().any(|condition| {
        condition.type_ == "PodScheduled" && condition.reason.as_deref() == Some("Unschedulable")
    });
    let preempts = status
        .nominated_node_name
        .as_deref()
        .is_some_and(|name| !name.is_empty());
    if refused && !preempts {
        PodState::Unschedulable
    } else {
        PodState::Waiting
    }
}

fn owner(object: &k8s::Pod) -> Owner {
    let owners = object.metadata.owner_references.as_deref().unwrap_or_default();
    if owners
        .iter()
        .any(|owner| owner.api_version == "apps/v1" && owner.kind == "DaemonSet")
    {
        Owner::DaemonSet
    } else if owners
        .iter()
        .any(|owner| owner.api_version == "v1" && owner.kind == "Node")
    {
        Owner::Node
    } else if owners.is_empty() {
        Owner::None
    } else {
        Owner::Controller
    }
}

/// `"true"`, or a duration counted from the pod's start; anything else counts as not written.
fn do_not_disrupt(object: &k8s::Pod) -> DoNotDisrupt {
    match annotation(object, DO_NOT_DISRUPT) {
        None => DoNotDisrupt::No,
        Some("true") => DoNotDisrupt::Always,
        Some(written) => match written.parse::<GoDuration>() {
            Ok(length) => {
                SignedDuration::try_from(length.as_std()).map_or(DoNotDisrupt::Always, DoNotDisrupt::For)
            }
            Err(_) => DoNotDisrupt::No,
        },
    }
}

fn annotation<'a>(object: &'a k8s::Pod, key: &str) -> Option<&'a str> {
    object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}
