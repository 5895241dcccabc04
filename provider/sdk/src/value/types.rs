//! Types of values, and their JSON spelling on the wire: `"string"`, `["list","number"]`, `["object",{"a":"bool"}]`.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};

/// The type of a [`Value`](crate::Value).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// True or false.
    Bool,
    /// A decimal number of any size.
    Number,
    /// NFC-normalised text.
    String,
    /// Any type; the value carries its own.
    Dynamic,
    /// Ordered elements of one type.
    List(Box<Type>),
    /// Distinct elements of one type without order.
    Set(Box<Type>),
    /// Elements of one type by string key.
    Map(Box<Type>),
    /// Named attributes, each of its own type.
    Object(BTreeMap<String, Type>),
    /// Ordered elements, each of its own type.
    Tuple(Vec<Type>),
}

/// A type's JSON that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is not a type: expected \"string\", \"number\", \"bool\", \"dynamic\" or [\"list\"|\"set\"|\"map\"|\"object\"|\"tuple\", ...]"
)]
pub struct InvalidType(String);

impl Type {
    /// A list of `element`.
    #[must_use]
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    /// A set of `element`.
    #[must_use]
    pub fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    /// A map to `element`.
    #[must_use]
    pub fn map(element: Self) -> Self {
        Self::Map(Box::new(element))
    }

    /// An object with these attributes.
    #[must_use]
    pub fn object<'a>(attributes: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Object(
            attributes
                .into_iter()
                .map(|(name, ty)| (name.to_owned(), ty))
                .collect(),
        )
    }

    /// Whether it is, or holds, [`Type::Dynamic`]; such a type cannot be in a set.
    #[must_use]
    pub fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Object(attributes) => attributes.values().any(Self::has_dynamic),
            Self::Tuple(elements) => elements.iter().any(Self::has_dynamic),
        }
    }

    /// The JSON spelling.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Bool => json!("bool"),
            Self::Number => json!("number"),
            Self::String => json!("string"),
            Self::Dynamic => json!("dynamic"),
            Self::List(element) => json!(["list", element.to_json()]),
            Self::Set(element) => json!(["set", element.to_json()]),
            Self::Map(element) => json!(["map", element.to_json()]),
            Self::Object(attributes) => {
                let attributes: serde_json::Map<String, Json> = attributes
                    .iter()
                    .map(|(name, ty)| (name.clone(), ty.to_json()))
                    .collect();
                json!(["object", attributes])
            }
            Self::Tuple(elements) => json!(["tuple", elements.iter().map(Self::to_json).collect::<Vec<_>>()]),
        }
    }

    /// Reads the JSON spelling. A third part of an object (its optional attributes) is ignored.
    ///
    /// # Errors
    /// [`InvalidType`] with the offending part.
    pub fn from_json(json: &Json) -> Result<Self, InvalidType> {
        let invalid = || InvalidType(json.to_string());
        if let Some(name) = json.as_str() {
            return match name {
                "bool" => Ok(Self::Bool),
                "number" => Ok(Self::Number),
                "string" => Ok(Self::String),
                "dynamic" => Ok(Self::Dynamic),
                _ => Err(invalid()),
            };
        }
        let (kind, of) = match json.as_array().map(Vec::as_slice) {
            Some([Json::String(kind), of, ..]) => (kind.as_str(), of),
            _ => return Err(invalid()),
        };
        match kind {
            "list" => Ok(Self::list(Self::from_json(of)?)),
            "set" => Ok(Self::set(Self::from_json(of)?)),
            "map" => Ok(Self::map(Self::from_json(of)?)),
            "object" => {
                let attributes = of.as_object().ok_or_else(invalid)?;
                attributes
                    .iter()
                    .map(|(name, ty)| Ok((name.clone(), Self::from_json(ty)?)))
                    .collect::<Result<_, _>>()
                    .map(Self::Object)
            }
            "tuple" => {
                let elements = of.as_array().ok_or_else(invalid)?;
                elements
                    .iter()
                    .map(Self::from_json)
                    .collect::<Result<_, _>>()
                    .map(Self::Tuple)
            }
            _ => Err(invalid()),
        }
    }

    pub(crate) fn to_wire(&self) -> Vec<u8> {
        self.to_json().to_string().into_bytes()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Dynamic => f.write_str("any type"),
            Self::List(element) => write!(f, "list of {element}"),
            Self::Set(element) => write!(f, "set of {element}"),
            Self::Map(element) => write!(f, "map of {element}"),
            Self::Object(_) => f.write_str("object"),
            Self::Tuple(_) => f.write_str("tuple"),
        }
    }
}
