//! Limits that no node fits into, and pools whose nodes have no room for anybody else's pods.

use super::finding::{Finding, spec};
use super::types::Types;
use joiner_api::NodePool;
use joiner_api::rules::{JsonPath, Segment};
use joiner_core::catalogue::InstanceType;
use joiner_core::resources::ResourceName;

/// Pods that run on the first node of a cluster, or on every one: two of CoreDNS, the CNI, kube-proxy, the pod identity agent.
const SYSTEM_PODS: i64 = 5;
/// What these ask for, in thousandths of a core.
const SYSTEM_CPU: i64 = 350;
/// What these ask for, in bytes.
const SYSTEM_MEMORY: i64 = 200 << 20;

/// Limits below the smallest node.
pub(super) fn check_limits(
    pool: &NodePool,
    fitting: &[&InstanceType],
    types: &Types,
    found: &mut Vec<Finding>,
) {
    let Some(written) = &pool.spec.limits else { return };
    for (name, limit) in joiner_map::limits(written).iter() {
        // Zero is how a pool is switched off.
        if *name == ResourceName::nodes() || limit == 0 {
            continue;
        }
        let amounts = fitting
            .iter()
            .map(|kind| (kind.capacity.get(name), kind))
            .filter(|(amount, _)| *amount > 0);
        let Some((least, kind)) = amounts.min_by_key(|(amount, kind)| (*amount, kind.name.clone())) else {
            continue;
        };
        if limit < least {
            let mut path = spec(&["limits"]);
            path.0.push(Segment::Field(name.as_str().to_owned()));
            found.push(Finding::wrong(
                path,
                "No node fits into the limit",
                format!(
                    "The limit is {}{}, and the smallest type that meets the requirements, {}, has {} in {}. Write at least that, or leave the \
                     limit out.",
                    name.display(limit),
                    unit_hint(name, limit),
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
             DaemonSets fill alone ({} of cpu, {} of memory, {SYSTEM_PODS} pods). Allow larger types.",
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
