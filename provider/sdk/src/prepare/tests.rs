//! The steps of a plan, each by itself.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{defaults, replacement, spelling, unknowns, validators, write_only};
use crate::field::Field;
use crate::model::Model;
use crate::schema::Schema;
use crate::testing::{UNKNOWN, value_from_json};
use crate::value::Value;

#[derive(Clone, Debug, Default, tfplugin_derive::Model)]
struct Part {
    #[tf(required, requires_replace)]
    kind: Field<String>,
    #[tf(default = 1, validate = crate::validate::between(1..=9))]
    count: Field<i64>,
    #[tf(computed)]
    mark: Field<String>,
    #[tf(equivalent = same_but_case)]
    label: Field<String>,
    #[tf(write_only)]
    secret: Field<String>,
}

#[derive(Clone, Debug, tfplugin_derive::Model)]
struct Whole {
    #[tf(required)]
    name: Field<String>,
    #[tf(computed, use_state_for_unknown)]
    id: Field<String>,
    #[tf(computed)]
    revision: Field<i64>,
    one: Field<Part>,
    #[tf(default = Part { kind: "standard".into(), ..Part::default() })]
    base: Field<Part>,
    list: Field<Vec<Part>>,
    map: Field<BTreeMap<String, Part>>,
    set: Field<crate::Set<SetPart>>,
    #[tf(optional, computed, requires_replace_if_configured)]
    zone: Field<String>,
}

#[derive(Clone, Debug, Default, tfplugin_derive::Model)]
struct SetPart {
    #[tf(required, requires_replace)]
    kind: Field<String>,
    #[tf(default = 1, validate = crate::validate::between(1..=9))]
    count: Field<i64>,
    #[tf(computed)]
    mark: Field<String>,
}

fn same_but_case(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}

fn schema() -> Schema {
    Whole::schema(0)
}

fn value(json: Json) -> Value {
    value_from_json(&json, &schema().ty()).unwrap()
}

fn standard() -> Json {
    json!({"kind": "standard", "count": 1})
}

#[test]
fn defaults_fill_what_is_not_configured_at_every_depth() {
    for (config, want) in [
        (json!({"name": "a"}), json!({"name": "a", "base": standard()})),
        (
            json!({"base": {"kind": "own", "count": 2}}),
            json!({"base": {"kind": "own", "count": 2}}),
        ),
        (
            json!({"base": {"kind": "own"}}),
            json!({"base": {"kind": "own", "count": 1}}),
        ),
        (json!({"base": UNKNOWN}), json!({"base": UNKNOWN})),
        (
            json!({"one": {"kind": "k", "count": UNKNOWN}}),
            json!({"one": {"kind": "k", "count": UNKNOWN}, "base": standard()}),
        ),
        (
            json!({"list": [{"kind": "k"}, UNKNOWN]}),
            json!({"list": [{"kind": "k", "count": 1}, UNKNOWN], "base": standard()}),
        ),
        (
            json!({"map": {"x": {"kind": "k"}}}),
            json!({"map": {"x": {"kind": "k", "count": 1}}, "base": standard()}),
        ),
        (
            json!({"set": [{"kind": "k"}, {"kind": "l", "count": 5}]}),
            json!({"set": [{"kind": "k", "count": 1}, {"kind": "l", "count": 5}], "base": standard()}),
        ),
    ] {
        let config = value(config);
        let mut planned = config.clone();
        defaults::apply(&schema(), &config, &Value::Null, &mut planned);
        assert_eq!(planned, value(want), "{config:?}");
    }
}

#[test]
fn only_computed_and_unconfigured_attributes_become_unknown() {
    let prior = value(
        json!({"name": "a", "id": "1", "revision": 1, "zone": "z", "list": [{"kind": "k", "mark": "m"}]}),
    );
    let config = value(json!({"name": "b", "list": [{"kind": "k"}, {"kind": "l"}]}));
    let mut planned = value(json!({
        "name": "b", "id": "1", "revision": 1, "zone": "z", "list": [{"kind": "k", "mark": "m"}, {"kind": "l"}],
    }));
    unknowns::mark(&schema(), &config, &prior, &mut planned);
    assert_eq!(
        planned,
        value(json!({
            "name": "b", "id": "1", "revision": UNKNOWN, "zone": UNKNOWN,
            "list": [{"kind": "k", "mark": UNKNOWN}, {"kind": "l", "mark": UNKNOWN}],
        }))
    );
    let mut planned = value(json!({"name": "b", "id": UNKNOWN, "revision": 7, "zone": "z"}));
    unknowns::mark_unchanged(&schema(), &config, &prior, &mut planned);
    assert_eq!(
        planned,
        value(json!({"name": "b", "id": UNKNOWN, "revision": 7, "zone": UNKNOWN}))
    );
}

#[test]
fn equal_meanings_keep_their_spelling() {
    let before =
        value(json!({"one": {"kind": "k", "label": "Big"}, "list": [{"kind": "k", "label": "Big"}]}));
    for (label, want) in [("BIG", "Big"), ("small", "small"), ("Big", "Big")] {
        let mut planned =
            value(json!({"one": {"kind": "k", "label": label}, "list": [{"kind": "k", "label": label}]}));
        spelling::keep(&schema(), &before, &mut planned);
        let want =
            value(json!({"one": {"kind": "k", "label": want}, "list": [{"kind": "k", "label": want}]}));
        assert_eq!(planned, want, "{label}");
    }
}

#[test]
fn replacing_changes_are_found_and_sets_are_named_as_a_whole() {
    let prior =
        value(json!({"zone": "z", "one": {"kind": "k"}, "list": [{"kind": "k"}], "set": [{"kind": "k"}]}));
    for (config, planned, want) in [
        (
            json!({}),
            json!({"zone": "y", "one": {"kind": "k"}, "list": [{"kind": "k"}], "set": [{"kind": "k"}]}),
            vec![],
        ),
        (
            json!({"zone": "y"}),
            json!({"zone": "y", "one": {"kind": "k"}, "list": [{"kind": "k"}], "set": [{"kind": "k"}]}),
            vec!["zone"],
        ),
        (
            json!({}),
            json!({"zone": "z", "one": {"kind": "l"}, "list": [{"kind": UNKNOWN}], "set": [{"kind": "l"}]}),
            vec!["list[0].kind", "one.kind", "set"],
        ),
    ] {
        let found = replacement::paths(
            &schema(),
            &value(config),
            &prior,
            &value(planned.clone()),
            Vec::new(),
        );
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            want,
            "{planned}"
        );
    }
    assert!(
        replacement::paths(
            &schema(),
            &value(json!({})),
            &Value::Null,
            &prior,
            vec!["zone".into()]
        )
        .is_empty()
    );
    let asked = vec!["zone".into(), "name".into(), "nowhere".into()];
    let planned =
        value(json!({"zone": "y", "one": {"kind": "k"}, "list": [{"kind": "k"}], "set": [{"kind": "k"}]}));
    let found = replacement::paths(&schema(), &value(json!({})), &prior, &planned, asked);
    assert_eq!(found, ["zone".into()], "only what changes, and is there");
}

#[test]
fn a_null_is_no_value_of_a_required_attribute() {
    let paths = |config: Json| validators::run(&schema(), &value(config)).paths();
    assert_eq!(
        paths(
            json!({"list": [{"kind": "k"}, {"count": 2}, UNKNOWN], "map": {"x": {}}, "set": [{"count": 2}]})
        ),
        ["name", "list[1].kind", "map[\"x\"].kind", "set"]
    );
    assert_eq!(paths(json!({"name": UNKNOWN, "one": null})), [""; 0]);
}

#[test]
fn validators_and_write_only_reach_every_depth() {
    let bad = json!({"kind": "k", "count": 0, "secret": "s"});
    let bad_in_set = json!({"kind": "k", "count": 0});
    let mut config = value(
        json!({"name": "n", "one": bad, "list": [{"kind": "k"}, bad], "map": {"x": bad}, "set": [bad_in_set]}),
    );
    let found = validators::run(&schema(), &config);
    let paths: Vec<String> = found
        .iter()
        .filter_map(|found| found.path.as_ref().map(ToString::to_string))
        .collect();
    assert_eq!(paths, ["one.count", "list[1].count", "map[\"x\"].count", "set"]);
    write_only::clear(&schema(), &mut config);
    for part in [
        config.attribute("one"),
        config.at(&crate::AttributePath::from("list").index(1)).unwrap(),
    ] {
        assert!(part.attribute("secret").is_null());
    }
}
