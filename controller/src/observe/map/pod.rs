//! A pod.

use jiff::{SignedDuration, Timestamp};
use joiner_api::GoDuration;
use joiner_api::labels::DO_NOT_DISRUPT;
use joiner_core::resources::Resources;
use joiner_core::snapshot::{
    ContainerKind, ContainerRequests, DoNotDisrupt, Owner, Pod, PodKey, PodState, pod_requests,
};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;

use super::placement::placement;
use super::quantities::resources;

/// The pod, and the node it is bound to.
pub(crate) fn pod(object: &k8s::Pod) -> (Pod, Option<Text>) {
    let meta = &object.metadata;
    let empty = k8s::PodSpec::default();
    let spec = object.spec.as_ref().unwrap_or(&empty);
    let namespace = meta.namespace.as_deref().unwrap_or("default");
    let labels = super::labels(meta.labels.as_ref());
    let node = spec
        .node_name
        .as_deref()
        .filter(|name| !name.is_empty())
        .map(Text::from);
    let pod = Pod {
        key: PodKey::new(namespace, meta.name.as_deref().unwrap_or_default()),
        uid: super::text(meta.uid.as_ref()),
        requests: requests(spec),
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
    };
    (pod, node)
}

/// What a pod with this spec asks for while it runs.
pub(super) fn requests(spec: &k8s::PodSpec) -> Resources {
    let init = spec.init_containers.iter().flatten().map(|container| {
        let kind = match container.restart_policy.as_deref() {
            Some("Always") => ContainerKind::Sidecar,
            _ => ContainerKind::Init,
        };
        ContainerRequests {
            kind,
            requests: wanted(container.resources.as_ref()),
        }
    });
    let main = spec.containers.iter().map(|container| ContainerRequests {
        kind: ContainerKind::Main,
        requests: wanted(container.resources.as_ref()),
    });
    let containers: Vec<_> = init.chain(main).collect();
    let pod_level = spec.resources.as_ref().map(|level| wanted(Some(level)));
    pod_requests(
        &containers,
        pod_level.as_ref(),
        &resources(spec.overhead.as_ref()),
    )
}

/// Requests; a resource that only has a limit counts with that, as the API server's own defaulting does.
fn wanted(resources_of: Option<&k8s::ResourceRequirements>) -> Resources {
    let Some(both) = resources_of else {
        return Resources::new();
    };
    let mut wanted = resources(both.limits.as_ref());
    let written = both.requests.as_ref();
    for (name, amount) in resources(written).iter() {
        wanted.set(&name, amount);
    }
    // A request of zero wins over a limit.
    for name in written
        .into_iter()
        .flatten()
        .map(|(name, _)| joiner_core::resources::ResourceName::from(name.as_str()))
    {
        let amount = resources(written).get(&name);
        wanted.set(&name, amount);
    }
    wanted
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
