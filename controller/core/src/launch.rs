//! Which offerings a claim tries: one way of paying, the cheapest types first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::{CapacityType, InstanceType, Offering};
use crate::money::Price;
use crate::requirements::{Requirements, Values};
use crate::resources::{ResourceName, Resources};
use crate::schedule::{Misfit, refuse_types};
use crate::text::{Labels, Text};

/// The most instance types one request names; EC2 refuses more.
pub const MAX_TYPES: usize = 60;

/// Devices whose presence makes a type one that nobody gets by chance.
const DEVICES: [&str; 6] = [
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "habana.ai/gaudi",
];

/// Labels that tell the markets of reservations apart.
const MARKET_LABELS: [&str; 2] = [
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/capacity-reservation-interruptible",
];

/// What to ask the cloud for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How it is paid for.
    pub capacity_type: CapacityType,
    /// What to buy one of, cheapest first; at least one.
    pub choices: Vec<Choice>,
}

/// One offering of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The instance type.
    pub instance_type: Text,
    /// The zone's name.
    pub zone: Text,
    /// The zone's id, where known.
    pub zone_id: Text,
    /// What it costs.
    pub price: Price,
    /// The capacity reservation to use, for reserved capacity.
    pub reservation: Option<Text>,
}

/// Chooses the offerings for a claim with `requirements` that must hold `requests`. The first way of paying that has
/// any is taken: reserved, then spot, then on-demand.
///
/// # Errors
/// [`Misfit::Types`] where no type that is large enough and compatible is on sale.
pub fn plan(
    requirements: &Requirements,
    requests: &Resources,
    types: &[InstanceType],
) -> Result<Plan, Misfit> {
    let on_sale: Vec<(&InstanceType, &Offering)> = types
        .iter()
        .filter(|it| it.suits(requirements) && requests.fits(&it.allocatable()))
        .flat_map(|it| it.offerings_for(requirements).map(move |offering| (it, offering)))
        .collect();
    let order = [CapacityType::Reserved, CapacityType::Spot, CapacityType::OnDemand];
    let sensible = |kind| sensible(&on_sale, kind, requirements.has_min_values());
    let Some((capacity_type, mut chosen)) = order
        .into_iter()
        .map(|kind| (kind, sensible(kind)))
        .find(|(_, chosen)| !chosen.is_empty())
    else {
        return Err(refuse_types(types, requirements, requests));
    };
    chosen.sort_by(|(a, ao), (b, bo)| (ao.price, &a.name, &ao.zone).cmp(&(bo.price, &b.name, &bo.zone)));
    if capacity_type == CapacityType::Reserved {
        of_one_market(&mut chosen);
    }
    let kept = keep_types(&chosen, requirements);
    let choices = chosen
        .into_iter()
        .filter(|(it, _)| kept.contains(&it.name))
        .map(|(it, offering)| Choice {
            instance_type: it.name.clone(),
            zone: offering.zone.clone(),
            zone_id: offering.zone_id.clone(),
            price: offering.price,
            reservation: offering
                .reservation
                .as_ref()
                .map(|reservation| reservation.id.clone()),
        });
    Ok(Plan {
        capacity_type,
        choices: choices.collect(),
    })
}

/// The offerings of one way of paying that are worth asking for: devices and bare metal only where there is nothing
/// else, spot only where it is not dearer than on-demand. A pool that wants several values gets all of them.
fn sensible<'a>(
    on_sale: &[(&'a InstanceType, &'a Offering)],
    capacity_type: CapacityType,
    every_value_counts: bool,
) -> Vec<(&'a InstanceType, &'a Offering)> {
    let of = |kind: CapacityType| {
        on_sale
            .iter()
            .filter(move |(_, offering)| offering.capacity_type == kind)
    };
    if every_value_counts {
        return of(capacity_type).copied().collect();
    }
    let plain = on_sale.iter().any(|(it, _)| !is_exotic(it));
    let ceiling = match capacity_type {
        CapacityType::Spot => {
            let on_demand = of(CapacityType::OnDemand).filter(|(it, _)| !plain || !is_exotic(it));
            on_demand
                .map(|(_, offering)| offering.price)
                .min()
                .unwrap_or(Price::MAX)
        }
        CapacityType::Reserved | CapacityType::OnDemand => Price::MAX,
    };
    of(capacity_type)
        .filter(|(it, offering)| (!plain || !is_exotic(it)) && offering.price <= ceiling)
        .copied()
        .collect()
}

/// Of reserved offerings from cheap to dear, those of the cheapest one's kind, since one request is of one market; and of several
/// reservations of a type in a zone the one that holds the most, of equals the first by id: two choices of a request may not be equal.
fn of_one_market(chosen: &mut Vec<(&InstanceType, &Offering)>) {
    let market = |offering: &Offering| {
        MARKET_LABELS.map(|key| offering.extra.get(key).and_then(|it| it.single()).cloned())
    };
    let Some(first) = chosen.first().map(|(_, offering)| market(offering)) else {
        return;
    };
    chosen.retain(|(_, offering)| market(offering) == first);
    let mut best: BTreeMap<(Text, Text), &Offering> = BTreeMap::new();
    for &(it, offering) in chosen.iter() {
        let place = (it.name.clone(), offering.zone.clone());
        if best.get(&place).is_none_or(|known| rank(known) < rank(offering)) {
            best.insert(place, offering);
        }
    }
    chosen.retain(|(it, offering)| {
        best.get(&(it.name.clone(), offering.zone.clone()))
            .is_some_and(|known| std::ptr::eq(*known, *offering))
    });
}

/// Which of several reservations is used: the higher, the sooner.
fn rank(offering: &Offering) -> Option<(u32, Reverse<Text>)> {
    let reservation = offering.reservation.as_ref()?;
    Some((reservation.remaining, Reverse(reservation.id.clone())))
}

fn is_exotic(it: &InstanceType) -> bool {
    let metal = it
        .requirements
        .get("karpenter.k8s.aws/instance-size")
        .and_then(|size| size.single())
        .map_or_else(|| it.name.contains("metal"), |size| size.contains("metal"));
    metal
        || DEVICES
            .iter()
            .any(|device| it.capacity.get(&ResourceName::from(*device)) > 0)
}

/// The names of the types to keep, given offerings from cheap to dear: the cheapest, and what `minValues` needs.
fn keep_types(chosen: &[(&InstanceType, &Offering)], requirements: &Requirements) -> BTreeSet<Text> {
    let mut seen = BTreeSet::new();
    let types: Vec<&InstanceType> = chosen
        .iter()
        .map(|(it, _)| *it)
        .filter(|it| seen.insert(it.name.clone()))
        .collect();
    crate::schedule::keep(&types, requirements, MAX_TYPES)
        .into_iter()
        .map(|it| it.name.clone())
        .collect()
}

/// The labels that a node of this type, bought by this offering, is known to carry: every label of which only one
/// value is left. They go on the claim after launch.
pub fn labels(it: &InstanceType, offering: &Offering) -> Labels {
    let mut known = it.requirements.clone();
    for requirement in offering.requirements().iter() {
        known.replace(requirement.clone());
    }
    known.labels()
}

/// As [`labels`], found by names; what was bought may differ from what was planned first.
pub fn labels_of(
    types: &[InstanceType],
    name: &str,
    zone: &str,
    capacity_type: CapacityType,
    reservation: Option<&str>,
) -> Option<Labels> {
    let it = types.iter().find(|it| &*it.name == name)?;
    let offering = it.offerings.iter().find(|offering| {
        let of = offering.reservation.as_ref().map(|it| &*it.id);
        &*offering.zone == zone && offering.capacity_type == capacity_type && of == reservation
    })?;
    Some(labels(it, offering))
}

/// How many different values of `key` the types name.
pub(crate) fn values_of<'a>(it: &'a InstanceType, key: &str) -> impl Iterator<Item = &'a Text> {
    let values = match it.requirements.get(key).map(|requirement| requirement.values()) {
        Some(Values::Only(values)) => Some(values),
        _ => None,
    };
    values.into_iter().flatten()
}
