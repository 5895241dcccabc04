//! Values of a configuration as JSON.

use serde_json::{Map, Value as Json};
use tfplugin::Value;

/// A known value as JSON; `None` when something in it is unknown. `name` gives an attribute's name in JSON; map keys stay as
/// they are.
pub(crate) fn json_of(value: &Value, name: fn(&str) -> String) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Unknown(_) => return None,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Json::from(integer),
            None => serde_json::Number::from_f64(number.to_f64()).map_or(Json::Null, Json::Number),
        },
        Value::String(text) => Json::String(text.clone()),
        Value::List(items) | Value::Set(items) | Value::Tuple(items) => Json::Array(
            items
                .iter()
                .map(|item| json_of(item, name))
                .collect::<Option<_>>()?,
        ),
        Value::Map(map) => members(map.iter().map(|(key, value)| (key.clone(), value)), name)?,
        Value::Object(map) => members(map.iter().map(|(key, value)| (name(key), value)), name)?,
        Value::Dynamic(inner) => return json_of(&inner.1, name),
    })
}

fn members<'a>(members: impl Iterator<Item = (String, &'a Value)>, name: fn(&str) -> String) -> Option<Json> {
    let members: Option<Map<String, Json>> = members
        .map(|(key, value)| Some((key, json_of(value, name)?)))
        .collect();
    members.map(Json::Object)
}

/// JSON as a value that carries its type, as `jsondecode` makes it.
pub(crate) fn value_of(json: &Json) -> Value {
    use std::collections::BTreeMap;
    use tfplugin::Type;
    fn typed(json: &Json) -> (Type, Value) {
        match json {
            Json::Null => (Type::Dynamic, Value::Null),
            Json::Bool(value) => (Type::Bool, Value::Bool(*value)),
            Json::Number(number) => (
                Type::Number,
                number.to_string().parse().map_or(Value::Null, Value::Number),
            ),
            Json::String(text) => (Type::String, Value::string(text.as_str())),
            Json::Array(items) => {
                let (types, values) = items.iter().map(typed).unzip();
                (Type::Tuple(types), Value::Tuple(values))
            }
            Json::Object(members) => {
                let (mut types, mut values) = (BTreeMap::new(), BTreeMap::new());
                for (key, member) in members {
                    let (ty, value) = typed(member);
                    types.insert(key.clone(), ty);
                    values.insert(key.clone(), value);
                }
                (Type::Object(types), Value::Object(values))
            }
        }
    }
    let (ty, value) = typed(json);
    if value.is_null() {
        Value::Null
    } else {
        Value::Dynamic(Box::new((ty, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_survives_being_a_value() {
        let json = json!({ "a_b": [1, "x", true, null], "c": { "d": 1.5 } });
        assert_eq!(json_of(&value_of(&json), str::to_owned), Some(json));
        assert_eq!(json_of(&Value::List(vec![Value::unknown()]), str::to_owned), None);
    }
}
