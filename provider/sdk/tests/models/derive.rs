//! What the derive makes of a struct.

use std::collections::BTreeMap;

use tfplugin::schema::JsonName;
use tfplugin::{
    AttributePath, AttributeValue, Field, Mode, Model, Nesting, Set, Shape, Type, Value, check_schema,
};

use crate::model::{Part, Thing};

fn attribute(name: &str) -> tfplugin::Attribute {
    Thing::schema(0).attribute(name).cloned().unwrap()
}

#[test]
fn the_schema_is_what_cores_accept() {
    assert_eq!(check_schema(&Thing::schema(2)), Vec::<String>::new());
    assert_eq!(Thing::schema(2).version, 2);
    assert_eq!(Thing::description(), "A thing.\n\nWith two paragraphs.");
    assert_eq!(attribute("name").description, "Its name.");
}

#[test]
fn options_reach_the_attributes() {
    for (name, mode) in [
        ("name", Mode::Required),
        ("type", Mode::OptionalComputed),
        ("policy", Mode::OptionalComputed),
        ("labels", Mode::Optional),
        ("id", Mode::Computed),
        ("secret", Mode::Optional),
    ] {
        assert_eq!(attribute(name).mode, mode, "{name}");
    }
    assert!(attribute("name").behaviour.requires_replace);
    assert!(attribute("type").behaviour.requires_replace_if_configured);
    assert!(attribute("id").behaviour.use_state_for_unknown);
    assert!(attribute("secret").sensitive && attribute("secret").write_only);
    assert_eq!(attribute("count_of").deprecated.as_deref(), Some("use copies"));
    assert_eq!(attribute("policy").behaviour.default, Some("Keep".into()));
    assert_eq!(attribute("copies").behaviour.default, Some(3.into()));
    assert_eq!(attribute("policy").behaviour.validators.len(), 2);
    assert_eq!(
        attribute("cluster_dns").json,
        JsonName::Named("clusterDNS".to_owned())
    );
    assert_eq!(attribute("id").json, JsonName::Skipped);
}

#[test]
fn shapes_follow_the_types() {
    let plain = |name: &str| match attribute(name).shape {
        Shape::Plain(ty) => ty,
        Shape::Nested(..) => panic!("{name} is nested"),
    };
    let nested = |name: &str| match attribute(name).shape {
        Shape::Nested(nesting, attributes) => (nesting, attributes.len()),
        Shape::Plain(_) => panic!("{name} is plain"),
    };
    assert_eq!(plain("labels"), Type::map(Type::String));
    assert_eq!(plain("loose"), Type::list(Type::String));
    assert_eq!(plain("big"), Type::Number);
    assert_eq!(plain("extra"), Type::Dynamic);
    assert_eq!(nested("lead"), (Nesting::Single, 4));
    assert_eq!(nested("parts"), (Nesting::List, 4));
    assert_eq!(nested("named"), (Nesting::Map, 4));
    assert_eq!(nested("bag"), (Nesting::Set, 4));
}

fn part(kind: &str) -> Part {
    Part {
        kind: kind.into(),
        mark: Field::Unknown,
        ..Part::default()
    }
}

#[test]
fn models_come_back_from_values() {
    let thing = Thing {
        name: "a".into(),
        kind: Field::Unknown,
        copies: Field::Known(7),
        big: Field::Known("1e30".parse().unwrap()),
        labels: Field::Known(BTreeMap::from([("x/y".to_owned(), "z".to_owned())])),
        loose: Field::Known(vec![Field::Known("a".to_owned()), Field::Unknown, Field::Null]),
        parts: Field::Known(vec![part("wheel"), part("axle")]),
        bag: Field::Known(Set(vec![part("bolt")])),
        lead: Field::Known(part("door")),
        ..Thing::default()
    };
    assert_eq!(Thing::read(&thing.to_value()).unwrap(), thing);
}

#[test]
fn unknown_parts_are_seen_where_they_can_be() {
    let mut value = Thing {
        name: "a".into(),
        parts: Field::Known(vec![part("a")]),
        ..Thing::default()
    }
    .to_value();
    let put = |value: &mut Value, path: &str, part: Value| *value.at_mut(&path.into()).unwrap() = part;
    put(
        &mut value,
        "cluster_dns",
        Value::List(vec!["a".into(), Value::unknown()]),
    );
    put(&mut value, "parts", Value::List(vec![Value::unknown()]));
    put(&mut value, "lead", Value::unknown());
    let thing = Thing::read(&value).unwrap();
    assert_eq!(
        thing.cluster_dns,
        Field::Unknown,
        "a list of texts has no place for an unknown one"
    );
    assert!(
        thing.parts.known().unwrap()[0].kind.is_unknown(),
        "an unknown element has unknown fields"
    );
    assert_eq!(thing.lead, Field::Unknown);
}

#[test]
fn misfits_are_all_named_with_their_paths() {
    let mut value = Thing {
        name: "a".into(),
        parts: Field::Known(vec![part("a")]),
        ..Thing::default()
    }
    .to_value();
    *value.at_mut(&"copies".into()).unwrap() = (-1).into();
    *value.at_mut(&"cluster_dns".into()).unwrap() = Value::List(vec![Value::Null]);
    let path = AttributePath::from("parts").index(0).attribute("count");
    *value.at_mut(&path).unwrap() = Value::Number("1.5".parse().unwrap());
    let errors = Thing::read(&value).unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "error at copies: Unsuitable value: Expected a whole number between 0 and 4294967295, found the number -1.",
            "error at cluster_dns[0]: Unsuitable value: Expected a string, found null.",
            "error at parts[0].count: Unsuitable value: Expected a whole number between -9223372036854775808 and \
             9223372036854775807, found the number 1.5.",
        ]
    );
}

/// What several models share.
#[derive(Clone, Debug, Default, PartialEq, Model)]
struct Shared {
    /// Its name.
    #[tf(required, json_skip)]
    name: Field<String>,
    /// How much it weighs.
    #[tf(default = 1)]
    weight: Field<i64>,
}

/// A model with them.
#[derive(Clone, Debug, Default, PartialEq, Model)]
struct Whole {
    #[tf(flatten)]
    shared: Shared,
    /// Its own.
    colour: Field<String>,
}

#[test]
fn a_flattened_model_gives_its_attributes() {
    let schema = Whole::schema(0);
    let names: Vec<&str> = schema
        .attributes
        .iter()
        .map(|attribute| attribute.name.as_str())
        .collect();
    assert_eq!(names, ["name", "weight", "colour"]);
    let whole = Whole {
        shared: Shared {
            name: "n".into(),
            weight: Field::Unknown,
        },
        colour: "red".into(),
    };
    let value = whole.to_value();
    assert_eq!(
        value,
        Value::object([
            ("name", "n".into()),
            ("weight", Value::unknown()),
            ("colour", "red".into())
        ])
    );
    assert_eq!(Whole::read(&value), Ok(whole.clone()));
    let document = tfplugin::json::to_json(&whole).expect("JSON");
    assert_eq!(document.value, serde_json::json!({ "colour": "red" }));
    let read = tfplugin::json::from_json::<Whole>(&serde_json::json!({ "weight": 2, "colour": "red" }))
        .expect("read");
    assert_eq!(
        (read.model.shared.weight, read.ignored.len()),
        (Field::Known(2), 0)
    );
    let wrong = Value::object([
        ("name", Value::Bool(true)),
        ("weight", Value::Bool(true)),
        ("colour", "red".into()),
    ]);
    assert_eq!(
        Whole::read(&wrong).expect_err("misfits").paths(),
        ["name", "weight"]
    );
}
