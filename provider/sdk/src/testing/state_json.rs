//! A state as a core stores it between runs.

use crate::value::{Type, Value};

/// The JSON text of a known value of type `ty`, numbers with all their digits.
pub(super) fn state_json(value: &Value, ty: &Type) -> String {
    match (ty, value) {
        (_, Value::Null | Value::Unknown(_)) => "null".to_owned(),
        (_, Value::Bool(value)) => value.to_string(),
        (_, Value::Number(number)) => number.to_string(),
        (_, Value::String(text)) => serde_json::Value::String(text.clone()).to_string(),
        (Type::List(element) | Type::Set(element), Value::List(items) | Value::Set(items)) => {
            array(items.iter().map(|item| state_json(item, element)))
        }
        (Type::Tuple(types), Value::Tuple(items)) => {
            array(items.iter().zip(types).map(|(item, ty)| state_json(item, ty)))
        }
        (Type::Map(element), Value::Map(items)) => object(
            items
                .iter()
                .map(|(key, item)| (key.as_str(), state_json(item, element))),
        ),
        (Type::Object(types), Value::Object(items)) => object(items.iter().filter_map(|(name, item)| {
            let ty = types.get(name)?;
            Some((name.as_str(), state_json(item, ty)))
        })),
        (_, Value::Dynamic(inner)) => object([
            ("type", inner.0.to_json().to_string()),
            ("value", state_json(&inner.1, &inner.0)),
        ]),
        _ => "null".to_owned(),
    }
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(key, member)| {
        let key = serde_json::Value::String(key.to_owned());
        format!("{key}:{member}")
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
