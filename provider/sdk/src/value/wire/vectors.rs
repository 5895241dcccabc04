//! Values of every kind as go-cty encodes them, in `vectors.json`: each is read as go-cty reads it, and written with the same bytes, but for
//! numbers, which are written as texts.
//!
//! `make vectors` writes that file, with the program in `tests/peers/values`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::{decode, encode};
use crate::value::{Bound, Number, Refinements, Type, Value};

/// What is written with other bytes of the same meaning, and why.
const IN_OTHER_BYTES: [(&str, &str); 2] = [
    (
        "set with unknown",
        "the order of a set's elements means nothing: ours begins with it",
    ),
    ("set with null", "as above"),
];

#[derive(Deserialize)]
struct Vector {
    name: String,
    r#type: Json,
    value: Json,
    msgpack: String,
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("vectors.json")).expect("a list of vectors")
}

fn hex(text: &str) -> Vec<u8> {
    let digits = |start: usize| u8::from_str_radix(&text[start..start + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

fn number(json: &Json) -> Number {
    let text = json.as_str().expect("digits");
    text.parse().expect("a number")
}

fn bound(json: &Json) -> Option<Bound> {
    let parts = json.as_array()?;
    Some(Bound {
        number: number(&parts[0]),
        inclusive: parts[1].as_bool()?,
    })
}

/// What a vector says that a value means.
fn meant(json: &Json) -> Value {
    let (kind, of) = match json {
        Json::Null => return Value::Null,
        Json::Bool(value) => return Value::Bool(*value),
        Json::String(text) => return Value::String(text.clone()),
        Json::Object(member) => member.iter().next().expect("one member"),
        other => panic!("no value: {other}"),
    };
    let all = || of.as_array().into_iter().flatten().map(meant);
    let members = || -> BTreeMap<String, Value> {
        let members = of.as_object().into_iter().flatten();
        members
            .map(|(name, value)| (name.clone(), meant(value)))
            .collect()
    };
    match kind.as_str() {
        "number" => Value::Number(number(of)),
        "list" => Value::List(all().collect()),
        "set" => Value::set(all()),
        "tuple" => Value::Tuple(all().collect()),
        "map" => Value::Map(members()),
        "object" => Value::Object(members()),
        "dynamic" => Value::Dynamic(Box::new((
            Type::from_json(&of[0]).expect("a type"),
            meant(&of[1]),
        ))),
        "unknown" => Value::Unknown(Refinements {
            null: of["not_null"].as_bool().map(|not_null| !not_null),
            prefix: of["prefix"].as_str().map(str::to_owned),
            min: bound(&of["min"]),
            max: bound(&of["max"]),
            min_length: of["min_length"].as_u64(),
            max_length: of["max_length"].as_u64(),
        }),
        other => panic!("no kind of value: {other}"),
    }
}

fn holds_a_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::List(items) | Value::Tuple(items) => items.iter().any(holds_a_number),
        Value::Set(items) => items.iter().any(holds_a_number),
        Value::Map(items) | Value::Object(items) => items.values().any(holds_a_number),
        Value::Dynamic(inner) => holds_a_number(&inner.1),
        Value::Unknown(refinements) => refinements.min.is_some() || refinements.max.is_some(),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[test]
fn values_are_read_as_go_cty_reads_them_and_written_as_it_writes_them() {
    let (mut wrong, mut others) = (Vec::new(), Vec::new());
    let vectors = vectors();
    assert!(vectors.len() > 130, "{} vectors", vectors.len());
    for Vector {
        name,
        r#type,
        value,
        msgpack,
    } in &vectors
    {
        let ty = Type::from_json(r#type).expect("a type");
        let (bytes, want) = (hex(msgpack), meant(value));
        let read = decode(&bytes, &ty);
        if read.as_ref() != Ok(&want) {
            wrong.push(format!("{name}: read as {read:?}, not {want:?}"));
            continue;
        }
        match encode(&want, &ty) {
            Ok(written) if written == bytes => {}
            Ok(written) => {
                if !holds_a_number(&want) {
                    others.push(name.as_str());
                }
                let again = decode(&written, &ty);
                if again.as_ref() != Ok(&want) {
                    wrong.push(format!(
                        "{name}: written and read again as {again:?}, not {want:?}"
                    ));
                }
            }
            Err(error) => wrong.push(format!("{name}: not written: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: Vec<&str> = IN_OTHER_BYTES.iter().map(|(name, _)| *name).collect();
    assert_eq!(others, known, "written with other bytes");
}
