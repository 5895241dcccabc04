//! What a pod asks for: containers of all kinds, what the kubelet has given while a resize is under way, the pod's own level,
//! the runtime's overhead.

use joiner_core::resources::{ResourceName, Resources};
use joiner_core::snapshot::{ContainerKind, ContainerRequests, pod_requests, resized_requests};
use k8s_openapi::api::core::v1 as k8s;

use crate::quantities::{amounts, resources};

/// What a pod with this spec asks for while it runs; `status` tells of resizes.
pub(crate) fn requests(spec: &k8s::PodSpec, status: Option<&k8s::PodStatus>) -> Resources {
    let infeasible = status.is_some_and(is_infeasible);
    let of = |container: &k8s::Container, kind: ContainerKind| {
        let wanted = wanted(container.resources.as_ref());
        let given = status.and_then(|status| given(status, &container.name, kind));
        ContainerRequests {
            kind,
            requests: resized_requests(&wanted, given.as_ref(), infeasible),
        }
    };
    let init = spec.init_containers.iter().flatten().map(|container| {
        let kind = match container.restart_policy.as_deref() {
            Some("Always") => ContainerKind::Sidecar,
            _ => ContainerKind::Init,
        };
        of(container, kind)
    });
    let main = spec
        .containers
        .iter()
        .map(|container| of(container, ContainerKind::Main));
    let containers: Vec<_> = init.chain(main).collect();
    let overhead = resources(spec.overhead.as_ref());
    match &spec.resources {
        None => pod_requests(&containers, None, &overhead),
        Some(level) => {
            let of_containers = pod_requests(&containers, None, &Resources::new());
            let level = pod_level(level, &of_containers);
            pod_requests(&containers, Some(&level), &overhead)
        }
    }
}

/// Requests; a resource that only has a limit counts with that, as the API server's own defaulting does. A request of zero
/// wins over a limit.
fn wanted(both: Option<&k8s::ResourceRequirements>) -> Resources {
    let Some(both) = both else {
        return Resources::new();
    };
    let mut wanted = resources(both.limits.as_ref());
    for (name, amount) in amounts(both.requests.as_ref()) {
        wanted.set(&name, amount);
    }
    wanted
}

/// What the whole pod asks for: its requests, and its limits for resources of which neither it nor its containers request any.
fn pod_level(level: &k8s::ResourceRequirements, of_containers: &Resources) -> Resources {
    let requested: Vec<(ResourceName, i64)> = amounts(level.requests.as_ref()).collect();
    let mut all = Resources::new();
    for (name, amount) in amounts(level.limits.as_ref()) {
        let said = requested.iter().any(|(other, _)| *other == name) || of_containers.get(&name) > 0;
        if !said {
            all.set(&name, amount);
        }
    }
    for (name, amount) in requested {
        all.set(&name, amount);
    }
    all
}

/// What the kubelet has given a container, where it says so: the most of what is allocated and of what runs.
fn given(status: &k8s::PodStatus, name: &str, kind: ContainerKind) -> Option<Resources> {
    let list = match kind {
        ContainerKind::Main => status.container_statuses.as_ref(),
        ContainerKind::Init | ContainerKind::Sidecar => status.init_container_statuses.as_ref(),
    };
    let container = list?.iter().find(|it| it.name == name)?;
    let runs = container
        .resources
        .as_ref()
        .map(|it| resources(it.requests.as_ref()));
    let allocated = container
        .allocated_resources
        .as_ref()
        .map(|it| resources(Some(it)));
    match (runs, allocated) {
        (Some(runs), Some(allocated)) => Some(runs.upper(&allocated)),
        (one, other) => one.or(other),
    }
}

/// Whether the kubelet has found that the node can never give what a resize asks for.
fn is_infeasible(status: &k8s::PodStatus) -> bool {
    status.resize.as_deref() == Some("Infeasible")
        || status.conditions.iter().flatten().any(|condition| {
            condition.type_ == "PodResizePending" && condition.reason.as_deref() == Some("Infeasible")
        })
}
