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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tfplugin::json::dynamic_from_json;

    #[test]
    fn json_survives_being_a_value() {
        let json = json!({ "a_b": [1, "x", true, null], "c": { "d": 1.5 } });
        assert_eq!(json_of(&dynamic_from_json(&json), str::to_owned), Some(json));
        assert_eq!(json_of(&Value::List(vec![Value::unknown()]), str::to_owned), None);
    }
}
