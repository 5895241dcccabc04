//! The cores' rules, case by case.

use serde_json::{Value as Json, json};

use super::{compatible, plan_valid, proposed_new, unknowns_left, write_only_set};
use crate::field::Field;
use crate::model::Model;
use crate::schema::Schema;
use crate::testing::{UNKNOWN, value_from_json};
use crate::value::{Refinements, Value};

#[derive(Clone, Debug, tfplugin_derive::Model)]
struct Part {
    #[tf(required)]
    kind: Field<String>,
    #[tf(computed)]
    mark: Field<String>,
}

#[derive(Clone, Debug, tfplugin_derive::Model)]
struct Whole {
    #[tf(required)]
    name: Field<String>,
    note: Field<String>,
    #[tf(optional, computed)]
    zone: Field<String>,
    #[tf(computed)]
    id: Field<String>,
    #[tf(write_only)]
    secret: Field<String>,
    part: Field<Part>,
    parts: Field<Vec<Part>>,
    named: Field<std::collections::BTreeMap<String, Part>>,
    bag: Field<crate::Set<Part>>,
    #[tf(optional, computed)]
    made: Field<Part>,
}

fn schema() -> Schema {
    Whole::schema(0)
}

fn value(json: Json) -> Value {
    value_from_json(&json, &schema().ty()).unwrap()
}

#[test]
fn proposes_configuration_over_state() {
    let part = |kind: &str, mark: Json| json!({ "kind": kind, "mark": mark });
    for (what, prior, config, want) in [
        ("create", Json::Null, json!({"name": "a"}), json!({"name": "a"})),
        (
            "computed values of the state stay",
            json!({"name": "a", "id": "1", "zone": "z"}),
            json!({"name": "b"}),
            json!({"name": "b", "id": "1", "zone": "z"}),
        ),
        (
            "configured wins over state",
            json!({"name": "a", "zone": "z"}),
            json!({"name": "a", "zone": "y"}),
            json!({"name": "a", "zone": "y"}),
        ),
        (
            "what is no longer configured goes",
            json!({"name": "a", "note": "n", "part": part("k", json!("m"))}),
            json!({"name": "a"}),
            json!({"name": "a"}),
        ),
        (
            "lists go together by index",
            json!({"name": "a", "parts": [part("k", json!("m"))]}),
            json!({"name": "a", "parts": [{"kind": "l"}, {"kind": "k"}]}),
            json!({"name": "a", "parts": [part("l", json!("m")), {"kind": "k"}]}),
        ),
        (
            "maps by key",
            json!({"name": "a", "named": {"x": part("k", json!("m"))}}),
            json!({"name": "a", "named": {"x": {"kind": "l"}, "y": {"kind": "k"}}}),
            json!({"name": "a", "named": {"x": part("l", json!("m")), "y": {"kind": "k"}}}),
        ),
        (
            "sets by what is configured",
            json!({"name": "a", "bag": [part("k", json!("m")), part("l", json!("n"))]}),
            json!({"name": "a", "bag": [{"kind": "l"}, {"kind": "new"}]}),
            json!({"name": "a", "bag": [part("l", json!("n")), {"kind": "new"}]}),
        ),
        (
            "an optional computed object that was configured goes",
            json!({"name": "a", "made": part("k", json!("m"))}),
            json!({"name": "a"}),
            json!({"name": "a"}),
        ),
        (
            "unknown stays unknown",
            json!({"name": "a", "part": part("k", json!("m"))}),
            json!({"name": "a", "part": UNKNOWN}),
            json!({"name": "a", "part": UNKNOWN}),
        ),
    ] {
        assert_eq!(
            proposed_new(&schema(), &value(prior), &value(config)),
            value(want),
            "{what}"
        );
    }
}

#[test]
fn accepts_valid_plans_and_names_what_is_wrong_with_others() {
    for (prior, config, planned, want) in [
        (
            Json::Null,
            json!({"name": "a"}),
            json!({"name": "a", "id": UNKNOWN, "zone": UNKNOWN}),
            "",
        ),
        (Json::Null, json!({"name": UNKNOWN}), json!({"name": UNKNOWN}), ""),
        (
            Json::Null,
            json!({"name": "a"}),
            Json::Null,
            "planned for absence",
        ),
        (
            Json::Null,
            json!({"name": "a"}),
            json!({"name": "b"}),
            "name: planned String(\"b\")",
        ),
        (
            json!({"name": "A"}),
            json!({"name": "a"}),
            json!({"name": "A"}),
            "",
        ),
        (
            Json::Null,
            json!({"name": "a"}),
            json!({"name": "a", "note": "n"}),
            "note: planned a value",
        ),
        (
            Json::Null,
            json!({"name": "a"}),
            json!({"name": "a", "note": UNKNOWN}),
            "note: planned a value",
        ),
        (
            Json::Null,
            json!({"name": "a", "zone": "z"}),
            json!({"name": "a", "zone": UNKNOWN}),
            "zone: planned Unknown",
        ),
        (
            Json::Null,
            json!({"name": "a", "secret": "s"}),
            json!({"name": "a"}),
            "",
        ),
        (
            Json::Null,
            json!({"name": "a", "part": {"kind": "k"}}),
            json!({"name": "a", "part": {"kind": "k", "mark": UNKNOWN}}),
            "",
        ),
        (
            Json::Null,
            json!({"name": "a", "part": {"kind": "k"}}),
            json!({"name": "a", "part": UNKNOWN}),
            "part: planned unknown for a configured value",
        ),
        (
            Json::Null,
            json!({"name": "a", "parts": [{"kind": "k"}, UNKNOWN]}),
            json!({"name": "a", "parts": [{"kind": "k", "mark": "m"}, UNKNOWN]}),
            "",
        ),
        (
            Json::Null,
            json!({"name": "a", "parts": [{"kind": "k"}]}),
            json!({"name": "a", "parts": [{"kind": "l"}]}),
            "parts[0].kind: planned",
        ),
        (
            Json::Null,
            json!({"name": "a", "parts": [{"kind": "k"}]}),
            json!({"name": "a", "parts": []}),
            "parts: 0 elements planned, 1 configured",
        ),
        (
            Json::Null,
            json!({"name": "a", "named": {"x": {"kind": "k"}}}),
            json!({"name": "a", "named": {"y": {"kind": "k"}}}),
            "named: the planned keys",
        ),
        (
            json!({"name": "a", "parts": [{"kind": "k"}, {"kind": "l"}]}),
            json!({"name": "a", "parts": [{"kind": "l"}, {"kind": "k"}]}),
            json!({"name": "a", "parts": [{"kind": "k"}, {"kind": "l"}]}),
            "",
        ),
    ] {
        let found = plan_valid(
            &schema(),
            &value(prior),
            &value(config.clone()),
            &value(planned.clone()),
        );
        let text = found
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        assert_eq!(want.is_empty(), text.is_empty(), "{config} -> {planned}: {text}");
        assert!(text.contains(want), "{config} -> {planned}: {text}");
    }
}

#[test]
fn results_must_be_what_was_planned() {
    for (planned, actual, want) in [
        (json!({"id": UNKNOWN}), json!({"id": "1"}), ""),
        (json!({"id": UNKNOWN}), json!({}), ""),
        (json!({"name": "a"}), json!({"name": "b"}), "name: was planned"),
        (json!({"name": "a"}), json!({}), "name: was planned"),
        (json!({}), json!({"name": "a"}), "name: was planned null"),
        (
            json!({"name": "a"}),
            json!({"name": UNKNOWN}),
            "name: was planned as String(\"a\"), but is unknown",
        ),
        (
            json!({"parts": [{"kind": "k"}]}),
            json!({"parts": []}),
            "parts: 1 elements were planned, there are 0",
        ),
        (
            json!({"named": {"x": {"kind": "k"}}}),
            json!({"named": {}}),
            "named[\"x\"]: the planned element has vanished",
        ),
        (
            json!({"named": {}}),
            json!({"named": {"x": {"kind": "k"}}}),
            "named[\"x\"]: a new element",
        ),
        (
            json!({"bag": [{"kind": "k", "mark": UNKNOWN}]}),
            json!({"bag": [{"kind": "k", "mark": "m"}]}),
            "",
        ),
        (
            json!({"bag": [{"kind": "k"}]}),
            json!({"bag": [{"kind": "l"}]}),
            "has no counterpart",
        ),
    ] {
        let found = compatible(&value(planned.clone()), &value(actual.clone()));
        let text = found
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        assert_eq!(want.is_empty(), text.is_empty(), "{planned} -> {actual}: {text}");
        assert!(text.contains(want), "{planned} -> {actual}: {text}");
    }
    let promise = Value::Unknown(Refinements::with_prefix("https://"));
    assert_eq!(compatible(&promise, &"http://x".into()).len(), 1);
    assert!(compatible(&promise, &"https://x".into()).is_empty());
    assert_eq!(compatible(&promise, &Value::Null).len(), 1);
}

#[test]
fn finds_unknowns_and_write_only_values() {
    let state = value(json!({"name": "a", "secret": "s", "parts": [{"kind": "k", "mark": UNKNOWN}]}));
    assert_eq!(
        unknowns_left(&state)
            .iter()
            .map(|found| found.path.to_string())
            .collect::<Vec<_>>(),
        ["parts[0].mark"]
    );
    assert_eq!(
        write_only_set(&schema(), &state)
            .iter()
            .map(|found| found.path.to_string())
            .collect::<Vec<_>>(),
        ["secret"]
    );
}
