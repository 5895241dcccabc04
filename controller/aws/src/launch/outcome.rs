//! What CreateFleet's answer means.

use super::error::LaunchError;
use super::lost::sorted;
use super::order::{ClaimKey, Order};
use crate::error::Error;
use crate::instances::Instance;
use crate::unavailable::Shortage;
use joiner_core::catalogue::CapacityType;
use std::collections::BTreeSet;

/// Codes of errors that mean "not now", not "never".
const SHORT_OF_CAPACITY: [&str; 10] = [
    "InsufficientInstanceCapacity",
    "MaxSpotInstanceCountExceeded",
    "VcpuLimitExceeded",
    "UnfulfillableCapacity",
    "Unsupported",
    "InsufficientFreeAddressesInSubnet",
    "MaxFleetCountExceeded",
    "SpotMaxPriceTooLow",
    "ReservationCapacityExceeded",
    "InvalidCapacityReservationState.Unavailable",
];
const NO_SPOT_ROLE: &str = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

/// An instance that was bought for a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bought {
    /// Name of the claim.
    pub claim: String,
    /// Such as `i-0123`.
    pub instance_id: String,
    /// Such as `m5.large`.
    pub instance_type: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// How it is paid for.
    pub capacity_type: CapacityType,
    /// The image.
    pub image_id: String,
    /// The subnet.
    pub subnet_id: String,
    /// The capacity reservation that it was launched into.
    pub reservation: Option<String>,
}

/// What an order gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The instances, by name of the claim.
    pub bought: Vec<Bought>,
    /// Claims that got none, since EC2 had fewer than were ordered.
    pub unserved: Vec<String>,
    /// What EC2 was short of on the way, with its codes; mark them.
    pub shortages: Vec<(Shortage, String)>,
}

/// One entry of the answer's errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FleetError {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) instance_type: String,
    pub(super) zone: String,
    pub(super) subnet: String,
}

/// One instance of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FleetInstance {
    pub(super) id: String,
    pub(super) instance_type: String,
    pub(super) zone: String,
    pub(super) image_id: String,
    pub(super) subnet_id: String,
}

/// Hands the instances to the claims, or says why there are none.
pub(super) fn outcome(
    order: &Order<'_>,
    mut instances: Vec<FleetInstance>,
    errors: &[FleetError],
) -> Result<Launched, LaunchError> {
    let capacity_type = order.plan.capacity_type;
    let shortages = shortages(capacity_type, errors);
    if instances.is_empty() {
        return Err(failure(errors, shortages));
    }
    instances.sort_by(|a, b| a.id.cmp(&b.id));
    let mut launched = Launched {
        shortages,
        ..Launched::default()
    };
    let mut instances = instances.into_iter();
    for ClaimKey { name, uid: _ } in sorted(order.claims) {
        match instances.next() {
            Some(instance) => launched.bought.push(Bought {
                claim: name.clone(),
                reservation: reservation(order, &instance),
                instance_id: instance.id,
                instance_type: instance.instance_type,
                zone: instance.zone,
                capacity_type,
                image_id: instance.image_id,
                subnet_id: instance.subnet_id,
            }),
            None => launched.unserved.push(name.clone()),
        }
    }
    Ok(launched)
}

/// The reservation that the plan has for the type and zone of an instance.
fn reservation(order: &Order<'_>, instance: &FleetInstance) -> Option<String> {
    let choice = order
        .plan
        .choices
        .iter()
        .find(|it| *it.instance_type == *instance.instance_type && *it.zone == *instance.zone)?;
    choice.reservation.as_ref().map(ToString::to_string)
}

/// What the error of the call as a whole means: where EC2 is short of everything (a quota of the account), each of the
/// plan's offerings is.
pub(super) fn refused(order: &Order<'_>, cause: Error) -> LaunchError {
    if !SHORT_OF_CAPACITY.contains(&cause.code()) {
        return LaunchError::of(cause);
    }
    let capacity_type = order.plan.capacity_type.as_str();
    let shortages = order.plan.choices.iter().map(|choice| {
        let offering = Shortage::Offering {
            capacity_type: capacity_type.to_owned(),
            instance_type: choice.instance_type.to_string(),
            zone: choice.zone.to_string(),
        };
        (offering, cause.code().to_owned())
    });
    LaunchError::InsufficientCapacity {
        shortages: shortages.collect(),
        detail: cause.to_string(),
    }
}

/// The parts of an order as one result: an error only where no part gave an instance, and then the first.
pub(super) fn merge<'a>(
    parts: impl Iterator<Item = (&'a Order<'a>, Result<Launched, LaunchError>)>,
) -> Result<Launched, LaunchError> {
    let mut all = Launched::default();
    let mut first = None;
    for (order, result) in parts {
        match result {
            Ok(launched) => {
                all.bought.extend(launched.bought);
                all.unserved.extend(launched.unserved);
                all.shortages.extend(launched.shortages);
            }
            Err(error) => {
                all.unserved
                    .extend(order.claims.iter().map(|claim| claim.name.clone()));
                if let LaunchError::InsufficientCapacity { shortages, .. } = &error {
                    all.shortages.extend(shortages.iter().cloned());
                }
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if all.bought.is_empty() => Err(error),
        Some(error) => {
            tracing::warn!(%error, "some claims of an order got no instance");
            Ok(all)
        }
        None => Ok(all),
    }
}

/// An instance of an earlier, identical order.
pub(super) fn again(instance: &Instance) -> FleetInstance {
    FleetInstance {
        id: instance.id.clone(),
        instance_type: instance.instance_type.clone(),
        zone: instance.zone.clone(),
        image_id: instance.image_id.clone(),
        subnet_id: instance.subnet_id.clone(),
    }
}

fn shortages(capacity_type: CapacityType, errors: &[FleetError]) -> Vec<(Shortage, String)> {
    let mut found = Vec::new();
    for error in errors {
        if error.code == NO_SPOT_ROLE {
            let spot = Shortage::CapacityType {
                capacity_type: CapacityType::Spot.as_str().to_owned(),
            };
            found.push((spot, error.code.clone()));
        } else if error.code == "InsufficientFreeAddressesInSubnet" && !error.subnet.is_empty() {
            found.push((
                Shortage::Subnet {
                    id: error.subnet.clone(),
                },
                error.code.clone(),
            ));
        } else if SHORT_OF_CAPACITY.contains(&error.code.as_str()) && !error.instance_type.is_empty() {
            let offering = Shortage::Offering {
                capacity_type: capacity_type.as_str().to_owned(),
                instance_type: error.instance_type.clone(),
                zone: error.zone.clone(),
            };
            found.push((offering, error.code.clone()));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn failure(errors: &[FleetError], shortages: Vec<(Shortage, String)>) -> LaunchError {
    let is_short =
        |error: &FleetError| SHORT_OF_CAPACITY.contains(&error.code.as_str()) || error.code == NO_SPOT_ROLE;
    let words: BTreeSet<String> = errors
        .iter()
        .map(|error| format!("{}: {}", error.code, error.message))
        .collect();
    let mut detail = words.into_iter().collect::<Vec<_>>().join("; ");
    if detail.is_empty() {
        // An instant fleet without instances and without errors: EC2 gave up on all pools.
        "no instance and no reason was returned".clone_into(&mut detail);
    }
    match errors.iter().find(|error| !is_short(error)) {
        Some(other) => LaunchError::Fleet {
            code: other.code.clone(),
            detail,
        },
        None => LaunchError::InsufficientCapacity { shortages, detail },
    }
}
