//! Offerings of capacity reservations: paid for already, so next to free, and no more than the reservation holds.

use super::facts::{Facts, TypeFacts};
use crate::node_class::{NodeClass, Reservation};
use crate::unavailable::Unavailable;
use jiff::Timestamp;
use joiner_api::CapacityReservationType;
use joiner_api::labels::{
    CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE,
};
use joiner_core::catalogue::{self, CapacityType, Offering};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use std::collections::BTreeMap;

/// What the price of a reserved instance is divided by: it costs nothing more, and of several the smaller is still the better.
const NEXT_TO_FREE: u64 = 10_000;
const LABELS: [&str; 3] = [
    CAPACITY_RESERVATION_ID,
    CAPACITY_RESERVATION_TYPE,
    CAPACITY_RESERVATION_INTERRUPTIBLE,
];

/// The word of the label `capacity-reservation-type`.
pub(crate) fn kind_word(kind: CapacityReservationType) -> &'static str {
    match kind {
        CapacityReservationType::Default => "default",
        CapacityReservationType::CapacityBlock => "capacity-block",
    }
}

/// Adds an offering for each of the class' reservations of the type that is in a zone with a subnet. The others of such a type then
/// say that they have no reservation: a node that is bought by one of them carries none of the labels.
pub(super) fn add(
    facts: &Facts,
    kind: &TypeFacts,
    class: &NodeClass,
    zones: &BTreeMap<&str, &str>,
    unavailable: &Unavailable,
    now: Timestamp,
    offerings: &mut Vec<Offering>,
) {
    let mut reserved = Vec::new();
    for it in class
        .reservations
        .iter()
        .filter(|it| *it.instance_type == *kind.name)
    {
        let (Some(zone), Some(zone_id)) = (kind.zones.get(it.zone.as_str()), zones.get(it.zone.as_str()))
        else {
            continue;
        };
        let subnets = class.subnets_in(zone);
        let capacity_type = CapacityType::Reserved;
        let short = unavailable.covers(capacity_type.as_str(), &kind.name, zone, &subnets, now);
        let listed = facts.prices.on_demand(&kind.name).map_or(0, Price::micros);
        reserved.push(Offering {
            zone: zone.clone(),
            zone_id: facts.zone_id(zone, zone_id),
            capacity_type,
            price: Price::from_micros(listed / NEXT_TO_FREE),
            available: it.remaining > 0 && !it.expiring && !short,
            reservation: Some(catalogue::Reservation {
                id: it.id.as_str().into(),
                remaining: it.remaining,
            }),
            extra: labels(it),
        });
    }
    if reserved.is_empty() {
        return;
    }
    let none: Requirements = LABELS.into_iter().map(Requirement::does_not_exist).collect();
    for offering in offerings.iter_mut() {
        offering.extra = none.clone();
    }
    offerings.append(&mut reserved);
}

fn labels(it: &Reservation) -> Requirements {
    let interruptible = if it.interruptible { "true" } else { "false" };
    [
        Requirement::is(CAPACITY_RESERVATION_ID, it.id.as_str()),
        Requirement::is(CAPACITY_RESERVATION_TYPE, kind_word(it.kind)),
        Requirement::is(CAPACITY_RESERVATION_INTERRUPTIBLE, interruptible),
    ]
    .into_iter()
    .collect()
}
