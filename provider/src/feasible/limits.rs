//! Limits that no node fits into, and pools whose nodes have no room for anybody else's pods.

use super::finding::{Finding, spec};
use super::types::Types;
use joiner_api::rules::{JsonPath, Segment, nearest};
use joiner_api::{NodePool, Quantity};
use joiner_core::catalogue::InstanceType;
use joiner_core::resources::ResourceName;

/// Pods that run on the first node of a cluster, or on every one: two of CoreDNS, the CNI, kube-proxy, the pod identity agent.
const SYSTEM_PODS: i64 = 5;
/// What these ask for, in thousandths of a core.
const SYSTEM_CPU: i64 = 350;
/// What these ask for, in bytes.
const SYSTEM_MEMORY: i64 = 200 << 20;

/// Resources without a domain that nodes have or that a limit counts; with a domain there may be any (Kubernetes' "Resource names").
const NATIVE: [&str; 5] = ["cpu", "memory", "ephemeral-storage", "pods", "nodes"];

/// Limits of what no node has.
pub(super) fn check_names(pool: &NodePool, found: &mut Vec<Finding>) {
    for name in pool.spec.limits.iter().flatten().map(|(name, _)| name.as_str()) {
        if NATIVE.contains(&name) || name.contains('/') || name.starts_with("hugepages-") {
            continue;
        }
        let remedy = match nearest(name, NATIVE) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!(
                "write one of {}, or an extended resource with its domain, such as nvidia.com/gpu.",
                NATIVE.join(", ")
            ),
        };
        found.push(Finding::doubtful(
            limit(name),
            "The limit limits nothing",
            format!("No node has {name:?}, so nothing is ever counted under it; {remedy}"),
        ));
    }
}

/// Limits on the number of nodes that leave a pool without any, or with fewer than it shall have.
pub(super) fn check_count(pool: &NodePool, found: &mut Vec<Finding>) {
    let Some(most) = pool
        .spec
        .limits
        .as_ref()
        .and_then(|limits| limits.get(ResourceName::nodes().as_str()))
        .map(Quantity::value)
    else {
        return;
    };
    let wanted = pool.spec.replicas.unwrap_or_default();
    if most == 0 {
        found.push(Finding::doubtful(
            limit(ResourceName::nodes().as_str()),
            "The pool buys nothing",
            "With a limit of 0 nodes the pool buys no node. If it is to be switched off, all is well; if not, write at least 1, or leave the \
             limit out."
                .to_owned(),
        ));
    } else if wanted > most {
        found.push(Finding::doubtful(
            spec(&["replicas"]),
            "The limit keeps nodes from being bought",
            format!("The pool shall have {wanted} nodes, and limits.nodes allows at most {most}. Lower the one, or raise the other."),
        ));
    }
}

fn limit(name: &str) -> JsonPath {
    let mut path = spec(&["limits"]);
    path.0.push(Segment::Field(name.to_owned()));
    path
}

/// Limits below the smallest node.
pub(super) fn check_limits(
    pool: &NodePool,
    fitting: &[&InstanceType],
    types: &Types,
    found: &mut Vec<Finding>,
) {
    let Some(written) = &pool.spec.limits else { return };
    for (name, most) in joiner_map::limits(written).iter() {
        // Zero is how a pool is switched off.
        if *name == ResourceName::nodes() || most == 0 {
            continue;
        }
        let amounts = fitting
            .iter()
            .map(|kind| (kind.capacity.get(name), kind))
            .filter(|(amount, _)| *amount > 0);
        let Some((least, kind)) = amounts.min_by_key(|(amount, kind)| (*amount, kind.name.clone())) else {
            continue;
        };
        if most < least {
            found.push(Finding::wrong(
                limit(name.as_str()),
                "No node fits into the limit",
                format!(
                    "The limit is {}{}, and the smallest type that meets the requirements, {}, has {} in {}. Write at least that, or leave the \
                     limit out.",
                    name.display(most),
                    unit_hint(name, most),
                    kind.name,
                    name.display(least),
                    types.source()
                ),
            ));
        }
    }
}

/// Memory without a unit is in bytes, which nobody means.
fn unit_hint(name: &ResourceName, limit: i64) -> String {
    let counts_bytes = matches!(name, ResourceName::Memory | ResourceName::EphemeralStorage);
    if counts_bytes && limit < 1 << 20 {
        format!(" (bytes; did you mean \"{limit}Gi\"?)")
    } else {
        String::new()
    }
}

/// Pools whose largest node the system's own pods would fill.
pub(super) fn check_room(
    fitting: &[&InstanceType],
    types: &Types,
    path: &JsonPath,
    found: &mut Vec<Finding>,
) {
    let has_room = |kind: &&InstanceType| {
        let left = kind.allocatable();
        left.get(&ResourceName::Pods) > SYSTEM_PODS
            && left.get(&ResourceName::Cpu) > SYSTEM_CPU
            && left.get(&ResourceName::Memory) > SYSTEM_MEMORY
    };
    if fitting.is_empty() || fitting.iter().any(has_room) {
        return;
    }
    let largest = fitting
        .iter()
        .max_by_key(|kind| kind.allocatable().get(&ResourceName::Memory));
    let Some(largest) = largest else { return };
    let left = largest.allocatable();
    found.push(Finding::doubtful(
        path.clone(),
        "The nodes have no room for pods",
        format!(
            "The largest type that meets the requirements in {}, {}, leaves {} of cpu, {} of memory and {} pods, which CoreDNS and the cluster's \
             DaemonSets fill alone ({} of cpu, {} of memory, {SYSTEM_PODS} pods). Allow larger types, or keep back less for the system (kubelet \
             settings of the class).",
            types.source(),
            largest.name,
            ResourceName::Cpu.display(left.get(&ResourceName::Cpu)),
            ResourceName::Memory.display(left.get(&ResourceName::Memory)),
            left.get(&ResourceName::Pods),
            ResourceName::Cpu.display(SYSTEM_CPU),
            ResourceName::Memory.display(SYSTEM_MEMORY),
        ),
    ));
}
