//! JSON as it stands in state files. Numbers are read from their text, so that none loses digits.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::WireError;
use crate::path::AttributePath;
use crate::value::{Type, Value};

/// Reads a value of type `ty` from JSON text. Attributes that the type lacks are ignored, missing ones are null:
/// a state of the same schema version may come from an older provider.
///
/// # Errors
/// [`WireError`] with the path of the first part that is not of its type.
pub fn from_json_bytes(json: &[u8], ty: &Type) -> Result<Value, WireError> {
    let root = AttributePath::root();
    let raw: Box<RawValue> =
        serde_json::from_slice(json).map_err(|error| WireError::new(&root, "JSON", error.to_string()))?;
    read(&raw, ty, &root)
}

/// As [`from_json_bytes`], from parsed JSON (whose numbers have at most 64 bits).
///
/// # Errors
/// [`WireError`] with the path of the first part that is not of its type.
pub fn from_json(json: &serde_json::Value, ty: &Type) -> Result<Value, WireError> {
    from_json_bytes(json.to_string().as_bytes(), ty)
}

fn read(raw: &RawValue, ty: &Type, path: &AttributePath) -> Result<Value, WireError> {
    let text = raw.get().trim();
    if text == "null" {
        return Ok(Value::Null);
    }
    let wrong = || WireError::new(path, ty.to_string(), kind(text));
    match ty {
        Type::Bool => match text {
            "true" | "\"true\"" => Ok(Value::Bool(true)),
            "false" | "\"false\"" => Ok(Value::Bool(false)),
            _ => Err(wrong()),
        },
        Type::Number => {
            let digits = if text.starts_with('"') {
                parse::<String>(raw, path, "string")?
            } else {
                text.to_owned()
            };
            digits.parse().map(Value::Number).map_err(|_| wrong())
        }
        Type::String => match text.as_bytes().first() {
            Some(b'"') => Ok(Value::string(parse::<String>(raw, path, "string")?)),
            Some(b'[' | b'{') | None => Err(wrong()),
            Some(_) => Ok(Value::string(text)), // a number or bool whose attribute became a string
        },
        Type::List(element) => read_items(raw, element, path).map(Value::List),
        Type::Set(element) => read_items(raw, element, path).map(Value::set),
        Type::Tuple(types) => {
            let items: Vec<Box<RawValue>> = parse(raw, path, "list")?;
            if items.len() != types.len() {
                return Err(WireError::new(
                    path,
                    format!("{} elements", types.len()),
                    items.len().to_string(),
                ));
            }
            let items = items.iter().zip(types).enumerate();
            items
                .map(|(index, (item, ty))| read(item, ty, &path.index(index)))
                .collect::<Result<_, _>>()
                .map(Value::Tuple)
        }
        Type::Map(element) => {
            let items: BTreeMap<String, Box<RawValue>> = parse(raw, path, "map")?;
            let items = items.into_iter().map(|(key, item)| {
                let item = read(&item, element, &path.key(key.clone()))?;
                Ok((key, item))
            });
            items.collect::<Result<_, _>>().map(Value::Map)
        }
        Type::Object(types) => {
            let items: BTreeMap<String, Box<RawValue>> = parse(raw, path, "object")?;
            let attributes = types.iter().map(|(name, ty)| {
                let value = match items.get(name) {
                    Some(item) => read(item, ty, &path.attribute(name.clone()))?,
                    None => Value::Null,
                };
                Ok((name.clone(), value))
            });
            attributes.collect::<Result<_, _>>().map(Value::Object)
        }
        Type::Dynamic => {
            let mut parts: BTreeMap<String, Box<RawValue>> = parse(raw, path, "an object of type and value")?;
            let (Some(ty), Some(value)) = (parts.remove("type"), parts.remove("value")) else {
                return Err(WireError::new(
                    path,
                    "an object of type and value",
                    "another object",
                ));
            };
            let ty = Type::from_json(&parse::<serde_json::Value>(&ty, path, "a type")?)
                .map_err(|error| WireError::new(path, "a type", error.to_string()))?;
            let value = read(&value, &ty, path)?;
            Ok(Value::Dynamic(Box::new((ty, value))))
        }
    }
}

fn read_items(raw: &RawValue, element: &Type, path: &AttributePath) -> Result<Vec<Value>, WireError> {
    let items: Vec<Box<RawValue>> = parse(raw, path, "list")?;
    items
        .iter()
        .enumerate()
        .map(|(index, item)| read(item, element, &path.index(index)))
        .collect()
}

fn parse<T: DeserializeOwned>(raw: &RawValue, path: &AttributePath, expected: &str) -> Result<T, WireError> {
    serde_json::from_str(raw.get()).map_err(|_| WireError::new(path, expected, kind(raw.get().trim())))
}

fn kind(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'{') => "object".to_owned(),
        Some(b'[') => "list".to_owned(),
        Some(b'"') => "string".to_owned(),
        Some(b't' | b'f') => "bool".to_owned(),
        _ => text.chars().take(40).collect(),
    }
}
