//! The two wire encodings of values. Decoding is by type, so a wrong value is named with its path.

mod json;
mod msgpack;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub use json::{from_json, from_json_bytes};
pub use msgpack::{decode, encode};

use tfplugin_proto::tfplugin6 as proto;

use super::{Type, Value};
use crate::path::AttributePath;

/// Bytes that are no value of the type that the schema gives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}expected {expected}, found {found}", at(.path))]
pub struct WireError {
    /// Where in the value.
    pub path: AttributePath,
    /// What the type asks for.
    pub expected: String,
    /// What was there.
    pub found: String,
}

fn at(path: &AttributePath) -> String {
    if path.is_root() {
        String::new()
    } else {
        format!("{path}: ")
    }
}

impl WireError {
    pub(crate) fn new(path: &AttributePath, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            path: path.clone(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Reads a value as a core sends it: msgpack, or JSON when there is no msgpack; absent means null.
pub(crate) fn from_proto(value: Option<&proto::DynamicValue>, ty: &Type) -> Result<Value, WireError> {
    match value {
        None => Ok(Value::Null),
        Some(value) if !value.msgpack.is_empty() => decode(&value.msgpack, ty),
        Some(value) if !value.json.is_empty() => from_json_bytes(&value.json, ty),
        Some(_) => Ok(Value::Null),
    }
}

/// Writes a value as msgpack.
pub(crate) fn to_proto(value: &Value, ty: &Type) -> Result<proto::DynamicValue, WireError> {
    Ok(proto::DynamicValue {
        msgpack: encode(value, ty)?,
        json: Vec::new(),
    })
}
