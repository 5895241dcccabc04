//! What the account tells of a class' capacity reservations and of its placement group.

use super::account::{at, finding, unmatched};
use crate::feasible::{Finding, Weight};
use crate::objects::Foreseen;
use crate::provider::Joiner;
use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_api::rules::{JsonPath, Segment};
use joiner_aws::selectors::{FoundPlacementGroup, FoundReservation, placement_group, reservations};
use joiner_aws::{Aws, Error};
use std::collections::BTreeSet;

const RESERVATIONS: &str = "capacityReservationSelectorTerms";
const GROUP: &str = "placementGroupSelector";

/// Asks for the reservations, if the class has terms for them.
pub(super) async fn check_reservations(
    data: &Joiner,
    aws: &Aws,
    class: &EC2NodeClass,
    object: &Foreseen,
) -> Result<Vec<Finding>, Error> {
    let terms = &class.spec.capacity_reservation_selector_terms;
    if terms.is_empty() || object.is_unknown(&["spec", RESERVATIONS]) {
        return Ok(Vec::new());
    }
    let matches = reservations(aws, terms, Timestamp::now()).await?;
    if let Some(name) = class.metadata.name.as_deref() {
        data.found.found_reservations(name, &matches.found);
    }
    Ok(unmatched(&matches))
}

/// Compares the reservations with the zones of the subnets, where the account told both.
pub(super) fn without_subnet(data: &Joiner, class: &EC2NodeClass) -> Option<Finding> {
    let name = class.metadata.name.as_deref()?;
    elsewhere(&data.found.reservations(name)?, &data.zones(name)?)
}

/// Reservations in zones without a subnet: nothing can be launched into them.
fn elsewhere(reservations: &[FoundReservation], zones: &BTreeSet<String>) -> Option<Finding> {
    let lost: Vec<String> = reservations
        .iter()
        .filter(|it| !zones.contains(&it.zone))
        .map(|it| format!("{} ({} in {})", it.id, it.instance_type, it.zone))
        .collect();
    let weight = match lost.len() {
        0 => return None,
        all if all == reservations.len() => Weight::Wrong,
        _ => Weight::Doubtful,
    };
    let zones: Vec<&str> = zones.iter().map(String::as_str).collect();
    Some(finding(
        at(RESERVATIONS),
        weight,
        "Reservations are in zones without a subnet",
        format!(
            "{} cannot be used: the class has subnets in {} alone. Let subnet_selector_terms find a subnet in the reservation's zone, or select \
             other reservations.",
            lost.join(", "),
            zones.join(", ")
        ),
    ))
}

/// Asks for the placement group, if the class names one. It may be made in the same apply, so that it is not there is a doubt.
pub(super) async fn check_group(
    aws: &Aws,
    class: &EC2NodeClass,
    object: &Foreseen,
) -> Result<Vec<Finding>, Error> {
    let Some(selector) = &class.spec.placement_group_selector else {
        return Ok(Vec::new());
    };
    if object.is_unknown(&["spec", GROUP]) {
        return Ok(Vec::new());
    }
    let (field, named) = match (&selector.id, &selector.name) {
        (Some(id), _) => ("id", id),
        (None, Some(name)) => ("name", name),
        (None, None) => return Ok(Vec::new()),
    };
    let group = placement_group(aws, selector).await?;
    let region = aws.region().await?;
    Ok(odd_group(group.as_ref(), field, named, &region)
        .into_iter()
        .collect())
}

fn odd_group(group: Option<&FoundPlacementGroup>, field: &str, named: &str, region: &str) -> Option<Finding> {
    let mut path: JsonPath = at(GROUP);
    path.0.push(Segment::Field(field.to_owned()));
    match group {
        Some(group) if group.is_usable() => None,
        Some(group) => Some(finding(
            path,
            Weight::Wrong,
            "The placement group cannot be used",
            format!(
                "Placement group {} ({}) is {}, and instances start in one that is available. Name another one, or make it anew.",
                group.id, group.name, group.state
            ),
        )),
        // A name may be made in this apply; an id that is written down cannot.
        None if field == "name" => Some(finding(
            path,
            Weight::Doubtful,
            "There is no such placement group",
            format!(
                "The account has no placement group {named:?} in {region}. If this apply makes it, all is well; if not, correct the name."
            ),
        )),
        None => Some(finding(
            path,
            Weight::Wrong,
            "There is no such placement group",
            format!(
                "The account has no placement group {named:?} in {region}. Correct the ID, or check the region."
            ),
        )),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use joiner_api::{CapacityReservationType, InstanceMatchCriteria};
    use joiner_aws::selectors::Strategy;

    pub(crate) fn reservation(id: &str, instance_type: &str, zone: &str) -> FoundReservation {
        FoundReservation {
            id: id.into(),
            instance_type: instance_type.into(),
            zone: zone.into(),
            owner: String::new(),
            criteria: InstanceMatchCriteria::Targeted,
            kind: CapacityReservationType::Default,
            interruptible: false,
            state: "active".into(),
            end: None,
            available: 1,
            tags: Default::default(),
        }
    }

    #[test]
    fn a_reservation_without_a_subnet_is_told() {
        let zones: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
        let (near, far) = (
            reservation("cr-1", "m5.large", "a"),
            reservation("cr-2", "m5.large", "d"),
        );
        assert_eq!(elsewhere(std::slice::from_ref(&near), &zones), None);
        let some = elsewhere(&[near, far.clone()], &zones).expect("one");
        assert_eq!(some.weight, Weight::Doubtful);
        assert!(
            some.detail.starts_with("cr-2 (m5.large in d) cannot be used"),
            "{}",
            some.detail
        );
        let all = elsewhere(&[far], &zones).expect("all");
        assert_eq!(
            (all.weight, all.path.to_string().as_str()),
            (Weight::Wrong, "spec.capacityReservationSelectorTerms")
        );
    }

    #[test]
    fn a_group_that_is_not_there_or_goes_is_told() {
        let group = |state: &str| FoundPlacementGroup {
            id: "pg-1".into(),
            name: "g".into(),
            strategy: Strategy::Cluster,
            state: state.into(),
        };
        let told = |group: Option<&FoundPlacementGroup>, field: &str| {
            odd_group(group, field, "x", "r").map(|it| (it.weight, it.path.to_string()))
        };
        let place = |field: &str| format!("spec.placementGroupSelector.{field}");
        assert_eq!(told(Some(&group("available")), "name"), None);
        assert_eq!(
            told(Some(&group("deleting")), "id"),
            Some((Weight::Wrong, place("id")))
        );
        assert_eq!(told(None, "name"), Some((Weight::Doubtful, place("name"))));
        assert_eq!(told(None, "id"), Some((Weight::Wrong, place("id"))));
    }
}
