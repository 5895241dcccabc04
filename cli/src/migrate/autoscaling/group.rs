//! An Auto Scaling group.

use serde_json::{Map, Value as Json};

use super::templates::Templates;
use super::{Pool, capacity, class, tags};
use crate::migrate::names::object_name;
use crate::migrate::piece::{Fields, Harvest};

/// Fields that only AWS writes, and how the group itself works: there is no group any more.
const FACTS: [&str; 18] = [
    "AutoScalingGroupARN",
    "AvailabilityZones",
    "AvailabilityZoneIds",
    "AvailabilityZoneDistribution",
    "AvailabilityZoneImpairmentPolicy",
    "CapacityReservationSpecification",
    "CreatedTime",
    "DefaultCooldown",
    "DefaultInstanceWarmup",
    "DesiredCapacity",
    "EnabledMetrics",
    "HealthCheckGracePeriod",
    "HealthCheckType",
    "Instances",
    "PredictedCapacity",
    "ServiceLinkedRoleARN",
    "Status",
    "WarmPoolSize",
];

/// A pool and a class.
pub(super) fn convert(file: &str, group: Json, templates: &Templates, cluster: Option<&str>) -> Harvest {
    let cluster = cluster.map(str::to_owned).or_else(|| tags::cluster_of(&group));
    let full_name = group["AutoScalingGroupName"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let (name, source) = (
        object_name(&full_name),
        format!("Auto Scaling group {full_name} ({file})"),
    );
    let mut fields = Fields::of("", Some(group));
    // What it reserves is said of the template.
    let reservations = fields.take("CapacityReservationSpecification");
    fields.forget(&FACTS);
    fields.forget(&["AutoScalingGroupName"]);
    let mut pool = Pool::default();
    let mut instance_tags = Map::new();
    if let Some(list) = fields.take("Tags") {
        tags::take(&list, &mut pool, &mut instance_tags);
    }
    sizes(&mut fields, &mut pool);
    let mut mixed = fields.within("MixedInstancesPolicy");
    let is_mixed = !mixed.is_empty();
    let mut launch = mixed.within("LaunchTemplate");
    let specification = launch
        .take("LaunchTemplateSpecification")
        .or_else(|| fields.take("LaunchTemplate"));
    let mut data = templates.data(specification, &mut pool.remarks);
    let own = data.text("InstanceType");
    let market = data.take("InstanceMarketOptions");
    if is_mixed {
        capacity::overrides(&launch.take("Overrides").unwrap_or_default(), own, &mut pool);
        capacity::distribution(mixed.take("InstancesDistribution"), &mut pool);
    } else {
        match data.take("InstanceRequirements") {
            Some(attributes) => capacity::requirements_of(attributes, &mut pool),
            None => capacity::types(&mut pool, &own.into_iter().collect::<Vec<_>>()),
        }
        let spot = market
            .as_ref()
            .is_some_and(|market| market["MarketType"] == "spot");
        capacity::capacity_types(&mut pool, &[if spot { "spot" } else { "on-demand" }]);
    }
    launch.left(&mut pool.remarks);
    mixed.left(&mut pool.remarks);
    if let Some(name) = fields.text("LaunchConfigurationName") {
        pool.remarks.push(format!(
            "LaunchConfigurationName ({name}): launch configurations are not read; say in the class what it says"
        ));
    }
    let subnets = fields.text("VPCZoneIdentifier").unwrap_or_default();
    let subnets: Vec<String> = subnets
        .split(',')
        .map(str::trim)
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
        .collect();
    let mut parts = class::Parts {
        subnets,
        cluster,
        tags: instance_tags,
        placement_group: fields.text("PlacementGroup"),
        reservations,
        ..class::Parts::default()
    };
    parts.take(data, &mut pool);
    fields.left(&mut pool.remarks);
    Harvest {
        pieces: vec![parts.piece(&source, &name), pool.piece(&source, &name)],
        ..Harvest::default()
    }
}

fn sizes(fields: &mut Fields, pool: &mut Pool) {
    let mut number = |name: &str| fields.take(name).and_then(|value| value.as_u64());
    if let Some(least) = number("MinSize").filter(|least| *least > 0) {
        pool.remarks.push(format!(
            "MinSize ({least}) has no counterpart: pods decide how many nodes there are; a fixed number of nodes is `replicas`"
        ));
    }
    pool.max_nodes = number("MaxSize");
    if let Some(seconds) = number("MaxInstanceLifetime").filter(|seconds| *seconds > 0) {
        pool.expire_after = Some(if seconds.is_multiple_of(3600) {
            format!("{}h", seconds / 3600)
        } else {
            format!("{seconds}s")
        });
    }
}
