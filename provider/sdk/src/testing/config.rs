//! Configurations written as JSON.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::failure::Failure;
use crate::path::AttributePath;
use crate::value::{Type, Value, wire};

/// Stands in JSON for a value that is not known before apply, of any type.
pub const UNKNOWN: &str = "\u{1}unknown";

/// A value of type `ty` from JSON. Attributes that are not there are null; [`UNKNOWN`] is unknown.
///
/// # Errors
/// A member without an attribute, or of another type.
pub fn value_from_json(json: &Json, ty: &Type) -> Result<Value, Failure> {
    read(json, ty, &AttributePath::root())
}

fn read(json: &Json, ty: &Type, path: &AttributePath) -> Result<Value, Failure> {
    if json.as_str() == Some(UNKNOWN) {
        return Ok(Value::unknown());
    }
    match (ty, json) {
        (_, Json::Null) => Ok(Value::Null),
        (Type::Object(types), Json::Object(members)) => {
            if let Some(extra) = members.keys().find(|name| !types.contains_key(*name)) {
                return Err(Failure::Test(format!(
                    "the configuration has {extra:?} at {path:?}, the schema has not"
                )));
            }
            let attributes = types.iter().map(|(name, ty)| {
                let member = members.get(name).unwrap_or(&Json::Null);
                Ok((name.clone(), read(member, ty, &path.attribute(name.as_str()))?))
            });
            attributes
                .collect::<Result<BTreeMap<_, _>, _>>()
                .map(Value::Object)
        }
        (Type::List(element), Json::Array(items)) => elements(items, element, path).map(Value::List),
        (Type::Set(element), Json::Array(items)) => elements(items, element, path).map(Value::set),
        (Type::Map(element), Json::Object(members)) => {
            let members = members
                .iter()
                .map(|(key, member)| Ok((key.clone(), read(member, element, &path.key(key.as_str()))?)));
            members.collect::<Result<BTreeMap<_, _>, _>>().map(Value::Map)
        }
        (Type::Dynamic, json) => {
            let (ty, value) = dynamic(json);
            Ok(Value::Dynamic(Box::new((ty, value))))
        }
        (ty, json) => wire::from_json(json, ty)
            .map_err(|error| Failure::Test(format!("the configuration at {path}: {error}"))),
    }
}

/// A value of any type with the type that it has; what is not known is taken for a text.
fn dynamic(json: &Json) -> (Type, Value) {
    match json {
        Json::String(text) if text == UNKNOWN => (Type::String, Value::unknown()),
        Json::Array(items) => {
            let (types, items) = items.iter().map(dynamic).unzip();
            (Type::Tuple(types), Value::Tuple(items))
        }
        Json::Object(members) => {
            let typed = members
                .iter()
                .map(|(name, member)| (name.clone(), dynamic(member)))
                .collect::<BTreeMap<_, _>>();
            let types = typed.iter().map(|(name, (ty, _))| (name.clone(), ty.clone()));
            let types = types.collect();
            let members = typed.into_iter().map(|(name, (_, value))| (name, value));
            (Type::Object(types), Value::Object(members.collect()))
        }
        leaf => match crate::json::dynamic_from_json(leaf) {
            Value::Dynamic(inner) => *inner,
            other => (Type::Dynamic, other),
        },
    }
}

fn elements(items: &[Json], element: &Type, path: &AttributePath) -> Result<Vec<Value>, Failure> {
    items
        .iter()
        .enumerate()
        .map(|(index, item)| read(item, element, &path.index(index)))
        .collect()
}
