//! How a type can be bought with a node class: zone by capacity type, with price and availability.

use super::estimate;
use super::facts::{Facts, TypeFacts};
use crate::node_class::NodeClass;
use crate::unavailable::Unavailable;
use jiff::Timestamp;
use joiner_core::catalogue::{CapacityType, Offering};
use joiner_core::money::Price;
use joiner_core::requirements::Requirements;
use std::collections::BTreeMap;

/// All offerings in zones where both EC2 has the type and the class has a subnet; by zone, then on-demand before spot.
pub(super) fn offerings(
    facts: &Facts,
    kind: &TypeFacts,
    class: &NodeClass,
    zones: &BTreeMap<&str, &str>,
    unavailable: &Unavailable,
    now: Timestamp,
) -> Vec<Offering> {
    let mut offerings = Vec::new();
    for (zone, zone_id) in zones {
        let Some(zone) = kind.zones.get(*zone) else {
            continue;
        };
        let subnets = class.subnets_in(zone);
        let zone_id = facts.zone_id(zone, zone_id);
        for capacity_type in [CapacityType::OnDemand, CapacityType::Spot] {
            let price = match capacity_type {
                CapacityType::OnDemand if kind.on_demand && facts.prices.lacks_on_demand() => {
                    Some(estimate::on_demand(kind))
                }
                CapacityType::OnDemand if kind.on_demand => facts.prices.on_demand(&kind.name),
                CapacityType::Spot if kind.spot => facts.prices.spot(&kind.name, zone),
                _ => continue,
            };
            let short = unavailable.covers(capacity_type.as_str(), &kind.name, zone, &subnets, now);
            offerings.push(Offering {
                zone: zone.clone(),
                zone_id: zone_id.clone(),
                capacity_type,
                price: price.unwrap_or(Price::MAX),
                available: price.is_some() && !short,
                reservation: None,
                extra: Requirements::new(),
            });
        }
    }
    offerings
}
