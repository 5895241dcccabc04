//! MessagePack with unknown values as extensions: code 0 without, code 12 with refinements.

use std::collections::BTreeMap;

use rmpv::Value as Raw;

use super::WireError;
use crate::path::AttributePath;
use crate::value::{Bound, Number, Refinements, Type, Value};

const REFINED: i8 = 12;
/// Cores refuse longer refinements.
const MAX_REFINEMENT_BYTES: usize = 1024;
/// Cores cut string prefixes at this length before sending.
const MAX_PREFIX_BYTES: usize = 256;

/// Reads one value of type `ty`.
///
/// # Errors
/// [`WireError`] with the path of the first part that is not of its type.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, WireError> {
    let mut rest = bytes;
    let root = AttributePath::root();
    let raw = rmpv::decode::read_value(&mut rest)
        .map_err(|error| WireError::new(&root, "MessagePack", error.to_string()))?;
    if !rest.is_empty() {
        return Err(WireError::new(
            &root,
            "one MessagePack value",
            format!("{} bytes after it", rest.len()),
        ));
    }
    read(raw, ty, &root)
}

/// Writes one value of type `ty`, every attribute of every object included.
///
/// # Errors
/// [`WireError`] with the path of the first part that is not of its type.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, WireError> {
    let raw = write(value, ty, &AttributePath::root())?;
    let mut bytes = Vec::with_capacity(256);
    rmpv::encode::write_value(&mut bytes, &raw).map_err(|error| {
        WireError::new(
            &AttributePath::root(),
            "a value that can be encoded",
            error.to_string(),
        )
    })?;
    Ok(bytes)
}

fn read(raw: Raw, ty: &Type, path: &AttributePath) -> Result<Value, WireError> {
    let wrong = |raw: &Raw| WireError::new(path, ty.to_string(), describe(raw));
    match (ty, raw) {
        (_, Raw::Nil) => Ok(Value::Null),
        (_, Raw::Ext(code, payload)) => read_unknown(code, &payload, path).map(Value::Unknown),
        (Type::Dynamic, raw) => read_dynamic(raw, path),
        (Type::Bool, Raw::Boolean(value)) => Ok(Value::Bool(value)),
        (Type::Number, raw) => read_number(&raw).map(Value::Number).ok_or_else(|| wrong(&raw)),
        (Type::String, Raw::String(text)) => match text.into_str() {
            Some(text) => Ok(Value::string(text)),
            None => Err(WireError::new(path, "UTF-8 text", "other bytes")),
        },
        (Type::List(element), Raw::Array(items)) => read_items(items, element, path).map(Value::List),
        (Type::Set(element), Raw::Array(items)) => {
            let items: Result<Vec<_>, _> = items.into_iter().map(|item| read(item, element, path)).collect();
            items.map(Value::set)
        }
        (Type::Tuple(types), Raw::Array(items)) => {
            if items.len() != types.len() {
                return Err(WireError::new(
                    path,
                    format!("{} elements", types.len()),
                    items.len().to_string(),
                ));
            }
            let items = items.into_iter().zip(types).enumerate();
            items
                .map(|(index, (item, ty))| read(item, ty, &path.index(index)))
                .collect::<Result<_, _>>()
                .map(Value::Tuple)
        }
        (Type::Map(element), Raw::Map(entries)) => {
            let mut map = BTreeMap::new();
            for (key, item) in entries {
                let key = read_key(key, path)?;
                let item = read(item, element, &path.key(key.clone()))?;
                map.insert(key, item);
            }
            Ok(Value::Map(map))
        }
        (Type::Object(types), Raw::Map(entries)) => read_object(entries, types, path),
        (_, raw) => Err(wrong(&raw)),
    }
}

fn read_items(items: Vec<Raw>, element: &Type, path: &AttributePath) -> Result<Vec<Value>, WireError> {
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| read(item, element, &path.index(index)))
        .collect()
}

fn read_object(
    entries: Vec<(Raw, Raw)>,
    types: &BTreeMap<String, Type>,
    path: &AttributePath,
) -> Result<Value, WireError> {
    let mut object = BTreeMap::new();
    for (key, item) in entries {
        let name = read_key(key, path)?;
        let ty = types.get(&name).ok_or_else(|| {
            WireError::new(
                path,
                "an attribute of the schema",
                format!("the attribute {name:?}"),
            )
        })?;
        let item = read(item, ty, &path.attribute(name.clone()))?;
        object.insert(name, item);
    }
    match types.keys().find(|name| !object.contains_key(*name)) {
        Some(missing) => Err(WireError::new(
            path,
            format!("the attribute {missing:?}"),
            "nothing",
        )),
        None => Ok(Value::Object(object)),
    }
}

fn read_key(key: Raw, path: &AttributePath) -> Result<String, WireError> {
    match &key {
        Raw::String(text) => match Value::string(text.as_str().unwrap_or_default()) {
            Value::String(text) => Ok(text),
            _ => Ok(String::new()),
        },
        other => Err(WireError::new(path, "a string key", describe(other))),
    }
}

fn read_dynamic(raw: Raw, path: &AttributePath) -> Result<Value, WireError> {
    let Raw::Array(mut parts) = raw else {
        return Err(WireError::new(path, "a type and a value", describe(&raw)));
    };
    let (Some(value), Some(ty), true) = (parts.pop(), parts.pop(), parts.is_empty()) else {
        return Err(WireError::new(
            path,
            "a type and a value",
            "another number of parts",
        ));
    };
    let bytes = match &ty {
        Raw::Binary(bytes) => bytes.as_slice(),
        Raw::String(text) => text.as_bytes(),
        other => return Err(WireError::new(path, "a type as JSON", describe(other))),
    };
    let json = serde_json::from_slice(bytes)
        .map_err(|error| WireError::new(path, "a type as JSON", error.to_string()))?;
    let ty = Type::from_json(&json).map_err(|error| WireError::new(path, "a type", error.to_string()))?;
    let value = read(value, &ty, path)?;
    Ok(Value::Dynamic(Box::new((ty, value))))
}

fn read_number(raw: &Raw) -> Option<Number> {
    match raw {
        Raw::Integer(integer) => integer
            .as_i64()
            .map(Number::from)
            .or_else(|| integer.as_u64().map(Number::from)),
        Raw::F64(float) => Number::try_from(*float).ok(),
        Raw::F32(float) => Number::try_from(f64::from(*float)).ok(),
        Raw::String(text) => text.as_str()?.parse().ok(),
        _ => None,
    }
}

fn read_unknown(code: i8, payload: &[u8], path: &AttributePath) -> Result<Refinements, WireError> {
    if code != REFINED || payload.len() <= 1 {
        return Ok(Refinements::default());
    }
    let broken = |found: String| WireError::new(path, "refinements of an unknown value", found);
    if payload.len() > MAX_REFINEMENT_BYTES {
        return Err(broken(format!("{} bytes", payload.len())));
    }
    let raw = rmpv::decode::read_value(&mut &payload[..]).map_err(|error| broken(error.to_string()))?;
    let Raw::Map(entries) = raw else {
        return Err(broken(describe(&raw)));
    };
    let mut refinements = Refinements::default();
    for (key, value) in entries {
        match key.as_i64() {
            Some(1) => refinements.null = value.as_bool(),
            Some(2) => refinements.prefix = value.as_str().map(str::to_owned),
            Some(3) => refinements.min = read_bound(&value),
            Some(4) => refinements.max = read_bound(&value),
            Some(5) => refinements.min_length = value.as_u64(),
            Some(6) => refinements.max_length = value.as_u64(),
            _ => {} // later levels may add keys
        }
    }
    Ok(refinements)
}

fn read_bound(raw: &Raw) -> Option<Bound> {
    match raw.as_array()?.as_slice() {
        [number, inclusive] => Some(Bound {
            number: read_number(number)?,
            inclusive: inclusive.as_bool()?,
        }),
        _ => None,
    }
}

fn write(value: &Value, ty: &Type, path: &AttributePath) -> Result<Raw, WireError> {
    match (ty, value) {
        (_, Value::Null) => Ok(Raw::Nil),
        (Type::Dynamic, Value::Unknown(_)) => Ok(unknown()),
        (_, Value::Unknown(refinements)) => Ok(write_unknown(refinements)),
        (Type::Dynamic, Value::Dynamic(inner)) => {
            let item = write(&inner.1, &inner.0, path)?;
            Ok(Raw::Array(vec![Raw::Binary(inner.0.to_wire()), item]))
        }
        (Type::Bool, Value::Bool(value)) => Ok(Raw::Boolean(*value)),
        (Type::Number, Value::Number(number)) => Ok(write_number(number)),
        (Type::String, Value::String(text)) => Ok(Raw::from(text.as_str())),
        (Type::List(element), Value::List(items)) => {
            let items = items
                .iter()
                .enumerate()
                .map(|(index, item)| write(item, element, &path.index(index)));
            items.collect::<Result<_, _>>().map(Raw::Array)
        }
        (Type::Set(element), Value::Set(items)) => items
            .iter()
            .map(|item| write(item, element, path))
            .collect::<Result<_, _>>()
            .map(Raw::Array),
        (Type::Tuple(types), Value::Tuple(items)) if types.len() == items.len() => {
            let items = items.iter().zip(types).enumerate();
            items
                .map(|(index, (item, ty))| write(item, ty, &path.index(index)))
                .collect::<Result<_, _>>()
                .map(Raw::Array)
        }
        (Type::Map(element), Value::Map(items)) => {
            let items = items.iter().map(|(key, item)| {
                Ok((
                    Raw::from(key.as_str()),
                    write(item, element, &path.key(key.as_str()))?,
                ))
            });
            items.collect::<Result<_, _>>().map(Raw::Map)
        }
        (Type::Object(types), Value::Object(items)) => {
            if let Some(extra) = items.keys().find(|name| !types.contains_key(*name)) {
                return Err(WireError::new(
                    path,
                    "attributes of the schema",
                    format!("the attribute {extra:?}"),
                ));
            }
            let attributes = types.iter().map(|(name, ty)| {
                let item = items.get(name).unwrap_or(&Value::Null);
                Ok((
                    Raw::from(name.as_str()),
                    write(item, ty, &path.attribute(name.as_str()))?,
                ))
            });
            attributes.collect::<Result<_, _>>().map(Raw::Map)
        }
        (_, other) => Err(WireError::new(path, ty.to_string(), other.kind())),
    }
}

/// As text, which go-cty parses with the precision that it parses a stored state's JSON with. It holds other numbers more shortly, and
/// Terraform compares the states of a refresh as they lie in memory: equal numbers would count as a change.
fn write_number(number: &Number) -> Raw {
    Raw::from(number.to_string())
}

fn unknown() -> Raw {
    Raw::Ext(0, vec![0])
}

fn write_unknown(refinements: &Refinements) -> Raw {
    let mut entries = Vec::new();
    if refinements.null == Some(false) {
        entries.push((Raw::from(1), Raw::Boolean(false)));
    }
    if let Some(prefix) = refinements.prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
        let cut = (0..=prefix.len().min(MAX_PREFIX_BYTES))
            .rev()
            .find(|end| prefix.is_char_boundary(*end))
            .unwrap_or(0);
        entries.push((Raw::from(2), Raw::from(&prefix[..cut])));
    }
    for (key, bound) in [(3, &refinements.min), (4, &refinements.max)] {
        if let Some(bound) = bound {
            let pair = vec![write_number(&bound.number), Raw::Boolean(bound.inclusive)];
            entries.push((Raw::from(key), Raw::Array(pair)));
        }
    }
    if let Some(min) = refinements.min_length.filter(|min| *min > 0) {
        entries.push((Raw::from(5), Raw::from(min)));
    }
    if let Some(max) = refinements.max_length {
        entries.push((Raw::from(6), Raw::from(max)));
    }
    if entries.is_empty() {
        return unknown();
    }
    let mut payload = Vec::new();
    match rmpv::encode::write_value(&mut payload, &Raw::Map(entries)) {
        Ok(()) if payload.len() <= MAX_REFINEMENT_BYTES => Raw::Ext(REFINED, payload),
        _ => unknown(), // knowing less is always allowed
    }
}

fn describe(raw: &Raw) -> String {
    match raw {
        Raw::Nil => "null".to_owned(),
        Raw::Boolean(_) => "bool".to_owned(),
        Raw::Integer(_) | Raw::F32(_) | Raw::F64(_) => format!("the number {raw}"),
        Raw::String(_) => "string".to_owned(),
        Raw::Binary(_) => "bytes".to_owned(),
        Raw::Array(_) => "list".to_owned(),
        Raw::Map(_) => "map".to_owned(),
        Raw::Ext(..) => "unknown".to_owned(),
    }
}
