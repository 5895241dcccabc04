//! Values of a configuration as JSON.

use serde_json::{Map, Value as Json};
use tfplugin::json::dynamic_from_json;
use tfplugin::{Number, Type, Value};

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

/// JSON as a value of a type, as a core converts: a list may be a set, a map an object, a number a text. Attributes that are not there
/// are null. The error names the place below `path`.
pub(crate) fn value_of(json: &Json, ty: &Type, path: &str) -> Result<Value, String> {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    let elements = |items: &[Json], element: &Type| {
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| value_of(item, element, &format!("{path}[{index}]")))
            .collect::<Result<Vec<Value>, String>>()
    };
    Ok(match (ty, json) {
        (_, Json::Null) => Value::Null,
        (Type::Dynamic, json) => dynamic_from_json(json),
        (Type::Bool, Json::Bool(value)) => Value::Bool(*value),
        (Type::Number, Json::Number(number)) => {
            let number: Result<Number, _> = number.to_string().parse();
            Value::Number(number.map_err(|_| format!("{path}: a number is too large"))?)
        }
        (Type::Number, Json::String(text)) => {
            let number: Result<Number, _> = text.parse();
            Value::Number(number.map_err(|_| format!("{path}: expected a number, found {text:?}"))?)
        }
        (Type::String, Json::String(text)) => Value::string(text.as_str()),
        (Type::String, Json::Number(_) | Json::Bool(_)) => Value::string(json.to_string()),
        (Type::List(element), Json::Array(items)) => Value::List(elements(items, element)?),
        (Type::Set(element), Json::Array(items)) => Value::set(elements(items, element)?),
        (Type::Map(element), Json::Object(members)) => {
            let members = members
                .iter()
                .map(|(key, member)| Ok((key.clone(), value_of(member, element, &below(key))?)));
            Value::Map(members.collect::<Result<_, String>>()?)
        }
        (Type::Object(types), Json::Object(members)) => {
            if let Some(name) = members.keys().find(|name| !types.contains_key(*name)) {
                return Err(format!("there is no attribute {}", below(name)));
            }
            let members = types.iter().map(|(name, ty)| {
                let member = members.get(name).unwrap_or(&Json::Null);
                Ok((name.clone(), value_of(member, ty, &below(name))?))
            });
            Value::Object(members.collect::<Result<_, String>>()?)
        }
        (ty, json) => return Err(format!("{path}: expected {ty}, found {json}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_becomes_a_value_as_a_core_converts() {
        let object = |members: &[(&str, Type)]| {
            Type::Object(
                members
                    .iter()
                    .map(|(name, ty)| ((*name).to_owned(), ty.clone()))
                    .collect(),
            )
        };
        let ty = object(&[
            ("a", Type::String),
            ("b", Type::list(Type::Number)),
            ("c", Type::Bool),
        ]);
        let value = value_of(&json!({ "a": 1, "b": ["2", 3] }), &ty, "").expect("it fits");
        assert_eq!(
            json_of(&value, str::to_owned),
            Some(json!({ "a": "1", "b": [2, 3], "c": null }))
        );
        for (json, words) in [
            (json!({ "d": 1 }), "no attribute d"),
            (json!({ "b": ["x"] }), "b[0]: expected a number"),
            (json!({ "c": [] }), "c: expected bool"),
        ] {
            let error = value_of(&json, &ty, "").expect_err(words);
            assert!(error.contains(words), "{error} lacks {words}");
        }
    }

    #[test]
    fn json_survives_being_a_value() {
        let json = json!({ "a_b": [1, "x", true, null], "c": { "d": 1.5 } });
        assert_eq!(json_of(&dynamic_from_json(&json), str::to_owned), Some(json));
        assert_eq!(json_of(&Value::List(vec![Value::unknown()]), str::to_owned), None);
    }
}
