//! Models as JSON and back.

use std::collections::BTreeMap;

use serde_json::json;
use tfplugin::json::{JsonStep, from_json, locate, to_json};
use tfplugin::{AttributePath, Field};

use crate::model::{Part, Thing};

fn thing() -> Thing {
    Thing {
        name: "a".into(),
        cluster_dns: Field::Known(vec!["10.0.0.10".to_owned()]),
        labels: Field::Known(BTreeMap::from([("snake_key".to_owned(), "v".to_owned())])),
        parts: Field::Known(vec![
            Part {
                kind: "wheel".into(),
                life_time: "1h".into(),
                ..Part::default()
            },
            Part {
                kind: Field::Unknown,
                ..Part::default()
            },
        ]),
        count_of: Field::Known(0.1),
        copies: Field::Known(3),
        policy: Field::Unknown,
        id: "hidden".into(),
        ..Thing::default()
    }
}

#[test]
fn names_are_camel_case_and_unknown_leaves_are_listed() {
    let document = to_json(&thing()).unwrap();
    assert_eq!(
        document.value,
        json!({
            "name": "a", "clusterDNS": ["10.0.0.10"], "labels": {"snake_key": "v"}, "countOf": 0.1, "copies": 3,
            "parts": [{"kind": "wheel", "lifeTime": "1h"}, {}],
        })
    );
    let unknown: Vec<Vec<JsonStep>> = vec![
        vec!["policy".into()],
        vec!["parts".into(), 1.into(), "kind".into()],
    ];
    assert_eq!(document.unknown, unknown);
}

#[test]
fn json_comes_back_and_unknown_members_are_listed() {
    let json = json!({
        "name": "a", "clusterDNS": ["x"], "parts": [{"kind": "k", "newThing": 1}], "copies": 3, "labels": {"k": "v"},
    });
    let read = from_json::<Thing>(&json).unwrap();
    assert_eq!(read.model.name, "a".into());
    assert_eq!(read.model.parts.known().unwrap()[0].kind, "k".into());
    assert_eq!(read.model.copies, Field::Known(3));
    let ignored: Vec<Vec<JsonStep>> = vec![vec!["parts".into(), 0.into(), "newThing".into()]];
    assert_eq!(read.ignored, ignored);
    let wrong = from_json::<Thing>(&json!({"parts": [{"kind": {}}]})).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "error at parts[0].kind: Unsuitable value: Expected string, found {}."
    );
}

#[test]
fn numbers_that_json_cannot_hold_are_errors() {
    let thing = Thing {
        big: Field::Known("123456789012345678901234567890".parse().unwrap()),
        ..Thing::default()
    };
    assert!(
        to_json(&thing)
            .unwrap_err()
            .to_string()
            .starts_with("error at big: Number too large")
    );
}

#[test]
fn places_in_json_are_attributes() {
    let base = AttributePath::from("spec");
    for (steps, want) in [
        (vec!["clusterDNS".into(), 0.into()], "spec.cluster_dns[0]"),
        (
            vec!["parts".into(), 1.into(), "lifeTime".into()],
            "spec.parts[1].life_time",
        ),
        (
            vec!["named".into(), "a.b".into(), "kind".into()],
            "spec.named[\"a.b\"].kind",
        ),
        (vec!["labels".into(), "x/y".into()], "spec.labels[\"x/y\"]"),
        (vec!["bag".into(), 0.into(), "kind".into()], "spec.bag"),
        (vec!["unheardOf".into()], "spec"),
        (vec![], "spec"),
    ] {
        let steps: Vec<JsonStep> = steps;
        assert_eq!(locate::<Thing>(&base, &steps).to_string(), want, "{steps:?}");
    }
}
