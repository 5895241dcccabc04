//! A NodeOverlay, by all that can be told of it. All of it is doubt: an overlay that corrects nothing does no harm.

use super::finding::{Finding, spec};
use super::pool::read;
use super::requirements;
use super::types::Types;
use joiner_api::{NodeOverlay, Requirement};
use joiner_core::catalogue::Catalogue;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What of the overlay corrects nothing. `unknown` tells whether something at or below a path of fields is not known yet.
pub(crate) fn overlay(
    object: &Json,
    unknown: &dyn Fn(&[&str]) -> bool,
    region: Option<&str>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let corrections = ["price", "priceAdjustment", "capacity"];
    let says = |field: &&str| unknown(&["spec", *field]) || !is_empty(&object["spec"][*field]);
    if !corrections.iter().any(says) {
        found.push(Finding::doubtful(
            spec(&[]),
            "The overlay corrects nothing",
            "It has no price, no priceAdjustment and no capacity. Set one of them, or remove the overlay."
                .to_owned(),
        ));
    }
    if !unknown(&["spec", "requirements"])
        && let Ok(overlay) = serde_json::from_value::<NodeOverlay>(object.clone())
    {
        let written: Vec<Requirement> = overlay
            .spec
            .requirements
            .into_iter()
            .map(|it| Requirement {
                key: it.key,
                operator: it.operator,
                values: it.values,
                min_values: None,
            })
            .collect();
        let mut unmet = Vec::new();
        requirements::check(
            &written,
            &Types::of(region, None),
            &spec(&["requirements"]),
            &mut unmet,
        );
        found.extend(
            unmet
                .into_iter()
                .map(|it| Finding::doubtful(it.path, it.summary, it.detail)),
        );
    }
    found
}

fn is_empty(value: &Json) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// An overlay among `others` of which the controller takes but one, this or that, by its own judgement.
pub(crate) fn conflict(object: &Json, others: &[Json], region: Option<&str>) -> Option<Finding> {
    let parsed = |object: &Json| {
        let object = serde_json::from_value::<NodeOverlay>(object.clone()).ok()?;
        joiner_map::overlay(&object).ok()
    };
    let own = parsed(object)?;
    // Every pool, as far as its labels do not matter.
    let any = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {}, "spec": { "template": { "spec": {} } },
    });
    let pool = Arc::new(joiner_map::pool(&read(&any)?));
    let (other, left_out) = others.iter().filter_map(parsed).find_map(|other| {
        if other.weight != own.weight || other.name == own.name {
            return None;
        }
        let mut catalogue = Catalogue {
            pools: BTreeMap::from([(pool.name.clone(), Types::of(region, None).all())]),
            ..Catalogue::default()
        };
        let both = [own.clone(), other];
        let left_out = joiner_map::apply_overlays(&both, &[Arc::clone(&pool)], &mut catalogue);
        let [_, other] = both;
        let (left_out, _) = left_out.into_iter().next()?;
        Some((other.name, left_out))
    })?;
    Some(Finding::doubtful(
        spec(&["weight"]),
        "Two overlays correct the same",
        format!(
            "NodeOverlay {other:?} of this configuration has the weight {}, too, and corrects the same instance types: the controller leaves \
             {left_out:?} out. Give them different weights, or requirements that no type meets both of.",
            own.weight
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, change: impl FnOnce(&mut Json)) -> Json {
        let mut spec = json!({
            "requirements": [{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5", "m6i"] }],
            "price": "1", "weight": 7,
        });
        change(&mut spec);
        json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": { "name": name }, "spec": spec })
    }

    fn find(object: &Json) -> Vec<(String, String)> {
        let found = overlay(object, &|_| false, Some("eu-central-1"));
        found
            .into_iter()
            .map(|it| (it.path.to_string(), it.detail))
            .collect()
    }

    #[test]
    fn an_overlay_of_nothing_is_told() {
        assert_eq!(find(&object("o", |_| {})), []);
        let family = find(&object("o", |spec| {
            spec["requirements"][0]["values"] = json!(["m55"])
        }));
        assert_eq!(family[0].0, "spec.requirements[0].values", "{family:?}");
        assert!(family[0].1.contains("did you mean \"m5\""), "{family:?}");
        let nothing = object("o", |spec| spec["price"] = Json::Null);
        assert!(find(&nothing)[0].1.contains("Set one of them"));
        let price = |path: &[&str]| path == ["spec", "price"];
        assert_eq!(overlay(&nothing, &price, None), []);
    }

    #[test]
    fn overlays_of_equal_weight_that_correct_the_same_are_told() {
        let own = object("a", |_| {});
        for (other, want) in [
            (object("b", |spec| spec["price"] = json!("2")), true),
            (object("b", |spec| spec["weight"] = json!(8)), false),
            (
                object("b", |spec| spec["requirements"][0]["values"] = json!(["c5"])),
                false,
            ),
            (
                object("b", |spec| {
                    spec["price"] = Json::Null;
                    spec["capacity"] = json!({ "example.com/x": "1" });
                }),
                false,
            ),
            (object("a", |spec| spec["price"] = json!("2")), false),
        ] {
            let found = conflict(&own, std::slice::from_ref(&other), Some("eu-central-1"));
            assert_eq!(found.is_some(), want, "{other}: {found:?}");
            assert!(found.is_none_or(|it| it.detail.contains("\"a\" out") && it.detail.contains("weight 7")));
        }
    }
}
