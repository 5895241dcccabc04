//! What a pool can buy, by the built-in catalogue.

use super::pool::{Classes, read};
use super::types::Types;
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::resources::ResourceName;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// An instance type that a pool can buy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buyable {
    /// Such as `m5.large`.
    pub name: String,
    /// Its vCPUs.
    pub vcpus: u64,
    /// The ways in which it is sold to the pool.
    pub ways: BTreeSet<CapacityType>,
}

/// The types that meet a pool's requirements, and that its class can launch where it is known. None for what is no pool of EC2's.
pub(crate) fn buyable(object: &Json, region: Option<&str>, classes: Classes<'_>) -> Vec<Buyable> {
    let Some(pool) = read(object) else {
        return Vec::new();
    };
    let reference = &pool.spec.template.spec.node_class_ref;
    if reference.group != "karpenter.k8s.aws" {
        return Vec::new();
    }
    let requirements = joiner_map::pool(&pool).requirements;
    let class = classes(&reference.name);
    let types = Types::of(region, class.as_ref());
    let judged = types.judged(&requirements);
    types
        .fitting(&requirements)
        .into_iter()
        .map(|kind| Buyable {
            name: kind.name.to_string(),
            vcpus: vcpus(kind),
            ways: kind
                .offerings_for(&judged)
                .map(|offering| offering.capacity_type)
                .collect(),
        })
        .collect()
}

/// The vCPUs of a type.
pub(crate) fn vcpus(kind: &InstanceType) -> u64 {
    let cpu = kind.capacity.get(&ResourceName::Cpu);
    u64::try_from(cpu).unwrap_or(0).div_ceil(1000)
}

/// Whether an instance of a type that a reservation holds could be a node of the pool: by the type alone, whatever its zone. A type
/// that the catalogue does not know could.
pub(crate) fn admits(object: &Json, instance_type: &str) -> bool {
    let Some(pool) = read(object) else { return true };
    let types = Types::of(None, None);
    let all = types.all();
    let Some(kind) = all.iter().find(|kind| *kind.name == *instance_type) else {
        return true;
    };
    let judged = types.judged(&joiner_map::pool(&pool).requirements);
    let of_type: joiner_core::requirements::Requirements = judged
        .iter()
        .filter(|requirement| &**requirement.key() != joiner_core::well_known::CAPACITY_TYPE)
        .cloned()
        .collect();
    kind.suits(&of_type)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A pool of EC2's with these requirements.
    pub(crate) fn pool_with(requirements: &Json) -> Json {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "p" },
            "spec": { "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
                "requirements": requirements,
            } } },
        })
    }

    #[test]
    fn types_have_their_size_and_the_ways_that_the_pool_allows() {
        let large = pool_with(&json!([
            { "key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"] },
            { "key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"] },
        ]));
        let found = buyable(&large, Some("eu-central-1"), &|_| None);
        assert_eq!(
            found,
            [Buyable {
                name: "m5.large".to_owned(),
                vcpus: 2,
                ways: [CapacityType::Spot].into()
            }]
        );
    }

    #[test]
    fn a_type_that_is_excluded_is_not_admitted() {
        let c5 = pool_with(&json!([
            { "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["c5"] },
            { "key": "karpenter.sh/capacity-type", "operator": "In", "values": ["reserved"] },
        ]));
        assert!(admits(&c5, "c5.large") && !admits(&c5, "m5.large"));
        assert!(admits(&c5, "z99.large"), "it is not known");
    }
}
