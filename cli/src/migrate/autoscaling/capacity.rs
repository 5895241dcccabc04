//! Which instances a group launches: types, attributes, on-demand or spot.

use serde_json::{Value as Json, json};

use super::Pool;
use crate::migrate::piece::Fields;

const TYPE: &str = "node.kubernetes.io/instance-type";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Requires instance types.
pub(super) fn types(pool: &mut Pool, types: &[String]) {
    pool.require(TYPE, types);
}

/// Requires on-demand or spot.
pub(super) fn capacity_types(pool: &mut Pool, types: &[&str]) {
    let types: Vec<String> = types.iter().map(|kind| (*kind).to_owned()).collect();
    pool.require(CAPACITY_TYPE, &types);
}

/// The types and attributes of a mixed policy's overrides; `own` is the launch template's type, which counts without overrides.
pub(super) fn overrides(list: &Json, own: Option<String>, pool: &mut Pool) {
    let mut found: Vec<String> = Vec::new();
    let mut attributes = 0;
    for (index, item) in list.as_array().into_iter().flatten().enumerate() {
        let mut fields = Fields::of(format!("Overrides[{index}]"), Some(item.clone()));
        match (fields.text("InstanceType"), fields.take("InstanceRequirements")) {
            (Some(name), _) if !found.contains(&name) => found.push(name),
            (Some(_), _) => {}
            (None, Some(requirements)) => {
                attributes += 1;
                if attributes == 1 {
                    requirements_of(requirements, pool);
                } else {
                    pool.remarks.push(format!(
                        "Overrides[{index}].InstanceRequirements ({requirements}): a pool has one set of requirements; make another pool for it"
                    ));
                }
            }
            (None, None) => {}
        }
        fields.left(&mut pool.remarks);
    }
    if found.is_empty() && attributes == 0 {
        found.extend(own);
    }
    types(pool, &found);
}

/// Attribute-based selection as requirements.
pub(super) fn requirements_of(attributes: Json, pool: &mut Pool) {
    let mut fields = Fields::of("InstanceRequirements", Some(attributes));
    for (name, key) in [
        ("VCpuCount", "karpenter.k8s.aws/instance-cpu"),
        ("MemoryMiB", "karpenter.k8s.aws/instance-memory"),
    ] {
        let mut range = fields.within(name);
        for (bound, operator) in [("Min", "Gte"), ("Max", "Lte")] {
            // Zero is no bound.
            if let Some(value) = range
                .take(bound)
                .and_then(|value| value.as_u64())
                .filter(|value| *value > 0)
            {
                pool.requirements
                    .push(json!({ "key": key, "operator": operator, "values": [value.to_string()] }));
            }
        }
        range.left(&mut pool.remarks);
    }
    let words = |value: Json| -> Vec<String> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    if let Some(allowed) = fields.take("AllowedInstanceTypes").map(words) {
        if allowed.iter().any(|name| name.contains('*')) {
            pool.remarks.push(format!(
                "InstanceRequirements.AllowedInstanceTypes ({}): requirements have no wildcards; name types, families or categories",
                allowed.join(", ")
            ));
        } else {
            types(pool, &allowed);
        }
    }
    let makers = fields.take("CpuManufacturers").map(words).unwrap_or_default();
    let makers: Vec<String> = makers
        .iter()
        .map(|maker| {
            if maker == "amazon-web-services" {
                "aws".to_owned()
            } else {
                maker.clone()
            }
        })
        .collect();
    pool.require("karpenter.k8s.aws/instance-cpu-manufacturer", &makers);
    fields.left(&mut pool.remarks);
}

/// The share of spot.
pub(super) fn distribution(distribution: Option<Json>, pool: &mut Pool) {
    let mut fields = Fields::of("InstancesDistribution", distribution);
    let mut number = |name: &str| fields.take(name).and_then(|value| value.as_u64());
    let base = number("OnDemandBaseCapacity").unwrap_or(0);
    let percentage = number("OnDemandPercentageAboveBaseCapacity").unwrap_or(100);
    match (base, percentage) {
        (_, 100) => capacity_types(pool, &["on-demand"]),
        (0, 0) => capacity_types(pool, &["spot"]),
        _ => {
            capacity_types(pool, &["spot", "on-demand"]);
            pool.remarks.push(format!(
                "InstancesDistribution.OnDemandBaseCapacity ({base}) and OnDemandPercentageAboveBaseCapacity ({percentage}) have no \
                 counterpart: the pool takes spot and falls back to on-demand; for a fixed share make two pools with labels that pods spread over"
            ));
        }
    }
    fields.left(&mut pool.remarks);
}
