//! Zones that a pool wants and in which its node class has no subnet.

use crate::feasible::{Finding, Weight};
use crate::objects::Foreseen;
use crate::provider::Joiner;
use joiner_api::labels::ZONE;
use joiner_api::rules::{JsonPath, Segment};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Compares the pool's zones with those of its class, where the account told them when the class was planned.
pub(super) fn check(data: &Joiner, object: &Foreseen) -> Vec<Finding> {
    let spec = &object.json["spec"]["template"]["spec"];
    let Some(class) = spec["nodeClassRef"]["name"].as_str() else {
        return Vec::new();
    };
    if object.is_unknown(&["spec", "template", "spec", "requirements"]) {
        return Vec::new();
    }
    match data.zones(class) {
        Some(zones) => missing(&spec["requirements"], class, &zones),
        None => Vec::new(),
    }
}

fn missing(requirements: &Json, class: &str, zones: &BTreeSet<String>) -> Vec<Finding> {
    let written = requirements.as_array().into_iter().flatten().enumerate();
    written
        .filter(|(_, requirement)| requirement["key"] == ZONE && requirement["operator"] == "In")
        .filter_map(|(index, requirement)| {
            let wanted: Vec<&str> = requirement["values"]
                .as_array()?
                .iter()
                .filter_map(Json::as_str)
                .collect();
            let lacking: Vec<&str> = wanted.iter().filter(|zone| !zones.contains(**zone)).copied().collect();
            let weight = match lacking.len() {
                0 => return None,
                all if all == wanted.len() => Weight::Wrong,
                _ => Weight::Doubtful,
            };
            let names = ["spec", "template", "spec", "requirements"];
            let list = names.iter().map(|name| Segment::Field((*name).to_owned()));
            let place = [Segment::Index(index), Segment::Field("values".to_owned())];
            Some(Finding {
                path: JsonPath(list.chain(place).collect()),
                weight,
                summary: "The node class has no subnet there",
                detail: format!(
                    "EC2NodeClass {class:?} has no subnet in {}; its subnets are in {}. Remove the zone here, or let the class' \
                     subnet_selector_terms find a subnet there.",
                    lacking.join(", "),
                    zones.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
                ),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_zone_without_a_subnet_is_told() {
        let zones: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
        let wanting = |values: Json| json!([{ "key": ZONE, "operator": "In", "values": values }]);
        assert!(missing(&wanting(json!(["a", "b"])), "c", &zones).is_empty());
        let some = missing(&wanting(json!(["a", "d"])), "c", &zones);
        assert_eq!(some[0].weight, Weight::Doubtful);
        let none = missing(&wanting(json!(["d"])), "c", &zones);
        assert_eq!(
            (none[0].weight, none[0].path.to_string().as_str()),
            (Weight::Wrong, "spec.template.spec.requirements[0].values")
        );
    }
}
