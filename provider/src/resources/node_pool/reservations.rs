//! Pools that want reserved capacity of which their node class has none that they can use.

use crate::feasible::{Finding, Weight, admits};
use crate::objects::Foreseen;
use crate::provider::Joiner;
use joiner_api::labels::{CAPACITY_TYPE, ZONE};
use joiner_api::rules::{JsonPath, Segment};
use joiner_aws::selectors::FoundReservation;
use serde_json::Value as Json;

const RESERVED: &str = "reserved";
/// How many reservations a message names.
const SHOWN: usize = 5;

/// Compares a pool that names reserved capacity with the reservations of its class, where the account told them when the class was
/// planned.
pub(super) fn check(data: &Joiner, object: &Foreseen) -> Vec<Finding> {
    let Some(class) = object.json["spec"]["template"]["spec"]["nodeClassRef"]["name"].as_str() else {
        return Vec::new();
    };
    if object.is_unknown(&["spec", "template", "spec", "requirements"]) {
        return Vec::new();
    }
    let reservations = match (data.found.reservations(class), data.class(class)) {
        (Some(found), _) => found,
        // It was planned, and has no term.
        (None, Some(planned)) if planned.spec.capacity_reservation_selector_terms.is_empty() => {
            Vec::new().into()
        }
        (None, _) => return Vec::new(),
    };
    unused(&object.json, class, &reservations).into_iter().collect()
}

fn unused(object: &Json, class: &str, reservations: &[FoundReservation]) -> Option<Finding> {
    let requirements = object["spec"]["template"]["spec"]["requirements"].as_array()?;
    let (index, values) = requirements.iter().enumerate().find_map(|(index, it)| {
        let names = it["key"] == CAPACITY_TYPE && it["operator"] == "In";
        let values: Vec<&str> = it["values"].as_array()?.iter().filter_map(Json::as_str).collect();
        (names && values.contains(&RESERVED)).then_some((index, values))
    })?;
    let zones = zones(requirements);
    let (fitting, others): (Vec<_>, Vec<_>) = reservations.iter().partition(|it| {
        let in_zone = zones
            .as_ref()
            .is_none_or(|zones| zones.contains(&it.zone.as_str()));
        in_zone && admits(object, &it.instance_type)
    });
    if !fitting.is_empty() && others.is_empty() {
        return None;
    }
    let only = values.iter().all(|value| *value == RESERVED);
    let mut shown: Vec<String> = others
        .iter()
        .take(SHOWN)
        .map(|it| format!("{} ({} in {})", it.id, it.instance_type, it.zone))
        .collect();
    if others.len() > SHOWN {
        shown.push(format!("{} more", others.len() - SHOWN));
    }
    let (weight, summary, detail) = match (fitting.is_empty(), reservations.is_empty()) {
        (true, true) => (
            if only { Weight::Wrong } else { Weight::Doubtful },
            "The node class has no capacity reservation",
            format!(
                "The pool wants reserved capacity, and EC2NodeClass {class:?} finds no reservation that is active. Let its \
                 capacity_reservation_selector_terms find one, or remove {RESERVED:?} here."
            ),
        ),
        (true, false) => (
            if only { Weight::Wrong } else { Weight::Doubtful },
            "No capacity reservation fits the pool",
            format!(
                "The pool's requirements exclude what each reservation of EC2NodeClass {class:?} holds: {}. Allow that type and zone, select \
                 other reservations, or remove {RESERVED:?} here.",
                shown.join(", ")
            ),
        ),
        (false, _) => (
            Weight::Doubtful,
            "Capacity reservations do not fit the pool",
            format!(
                "The pool's requirements exclude what some reservations of EC2NodeClass {class:?} hold: {}. Unless another pool uses them, they \
                 are paid for and stay empty: allow that type and zone.",
                shown.join(", ")
            ),
        ),
    };
    let names = ["spec", "template", "spec", "requirements"];
    let list = names.iter().map(|name| Segment::Field((*name).to_owned()));
    let place = [Segment::Index(index), Segment::Field("values".to_owned())];
    Some(Finding {
        path: JsonPath(list.chain(place).collect()),
        weight,
        summary,
        detail,
    })
}

/// The zones that the pool names; none: it names none.
fn zones(requirements: &[Json]) -> Option<Vec<&str>> {
    let named = requirements
        .iter()
        .find(|it| it["key"] == ZONE && it["operator"] == "In")?;
    Some(
        named["values"]
            .as_array()?
            .iter()
            .filter_map(Json::as_str)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasible::pool_with;
    use crate::resources::ec2_node_class::reservation;
    use serde_json::json;

    fn pool(ways: Json, more: Json) -> Json {
        let mut requirements = vec![json!({ "key": CAPACITY_TYPE, "operator": "In", "values": ways })];
        requirements.extend(more.as_array().cloned().unwrap_or_default());
        pool_with(&json!(requirements))
    }

    #[test]
    fn reserved_capacity_that_cannot_be_used_is_told() {
        let there = [
            reservation("cr-1", "m5.large", "a"),
            reservation("cr-2", "c5.large", "a"),
        ];
        let family = |name: &str| json!([{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": [name] }]);
        let zone = json!([{ "key": ZONE, "operator": "In", "values": ["b"] }]);
        let (only, also, never) = (
            json!(["reserved"]),
            json!(["reserved", "on-demand"]),
            json!(["spot"]),
        );
        for (ways, more, found, want) in [
            (&never, family("r5"), &there[..], None),
            (&also, json!([]), &there[..], None),
            (
                &also,
                family("m5"),
                &there[..],
                Some((Weight::Doubtful, "some reservations")),
            ),
            (
                &also,
                family("r5"),
                &there[..],
                Some((Weight::Doubtful, "each reservation")),
            ),
            (
                &only,
                family("r5"),
                &there[..],
                Some((Weight::Wrong, "each reservation")),
            ),
            (
                &only,
                zone,
                &there[..],
                Some((Weight::Wrong, "cr-1 (m5.large in a), cr-2 (c5.large in a)")),
            ),
            (
                &only,
                json!([]),
                &[][..],
                Some((Weight::Wrong, "finds no reservation")),
            ),
            (
                &also,
                json!([]),
                &[][..],
                Some((Weight::Doubtful, "finds no reservation")),
            ),
        ] {
            let object = pool(ways.clone(), more);
            let told = unused(&object, "c", found);
            assert_eq!(
                told.as_ref().map(|it| it.weight),
                want.map(|(weight, _)| weight),
                "{object}"
            );
            if let (Some(told), Some((_, words))) = (told, want) {
                assert!(told.detail.contains(words), "{}", told.detail);
                assert_eq!(told.path.to_string(), "spec.template.spec.requirements[0].values");
            }
        }
    }
}
