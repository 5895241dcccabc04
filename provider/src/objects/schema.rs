//! Comparing by meaning, told to the SDK: a configured value that means what the state has keeps the state's spelling.

use super::meaning::{is_literal, same};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use tfplugin::{Attribute, Schema, Shape, Value};

/// The schema with an equivalence on each attribute whose values can be spelled in several ways.
pub(crate) fn with_meaning(mut schema: Schema) -> Schema {
    schema.attributes.iter_mut().for_each(add);
    schema
}

fn add(attribute: &mut Attribute) {
    let field = camel(&attribute.name);
    if !is_literal(&field) {
        attribute.behaviour.equivalent =
            Some(Arc::new(move |left, right| match (plain_json(left), plain_json(right)) {
                (Some(left), Some(right)) => same(&field, &left, &right),
                _ => false,
            }));
    }
    if let Shape::Nested(_, nested) = &mut attribute.shape {
        nested.iter_mut().for_each(add);
    }
}

/// A known value as JSON with fields named as in a spec; `None` when something in it is unknown.
fn plain_json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Unknown(_) => return None,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => number.as_i64().map_or_else(|| Json::String(number.to_string()), Json::from),
        Value::String(text) => Json::String(text.clone()),
        Value::List(items) | Value::Set(items) | Value::Tuple(items) => {
            Json::Array(items.iter().map(plain_json).collect::<Option<_>>()?)
        }
        Value::Map(map) => Json::Object(members(map.iter().map(|(key, value)| (key.clone(), value)))?),
        Value::Object(map) => {
            let named = map.iter().map(|(name, value)| (camel(name), value));
            Json::Object(members(named)?)
        }
        Value::Dynamic(inner) => return plain_json(&inner.1),
    })
}

fn members<'a>(members: impl Iterator<Item = (String, &'a Value)>) -> Option<Map<String, Json>> {
    members.map(|(key, value)| Some((key, plain_json(value)?))).collect()
}

/// The field that an attribute stands for, as far as meaning goes: how acronyms are written does not matter here.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut field = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        field.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        field.push_str(chars.as_str());
    }
    field
}
