//! Dynamic values as Terraform and OpenTofu know them, with null and unknown at every level.

mod at;
mod number;
mod types;
mod unknown;
pub mod wire;

use std::collections::BTreeMap;

use unicode_normalization::{UnicodeNormalization, is_nfc};

pub use number::{InvalidNumber, Number};
pub use types::{InvalidType, Type};
pub use unknown::{Bound, Refinements};

/// A value of any type. Its type stands in the schema, but for [`Value::Dynamic`], which carries it.
///
/// Invariants, kept by the constructors: strings are NFC; a set is sorted and holds no known element twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Absent.
    #[default]
    Null,
    /// Not known before apply.
    Unknown(Refinements),
    /// True or false.
    Bool(bool),
    /// A decimal number.
    Number(Number),
    /// Text.
    String(String),
    /// Ordered elements of one type.
    List(Vec<Value>),
    /// Distinct elements of one type; make it with [`Value::set`].
    Set(Vec<Value>),
    /// Elements by key.
    Map(BTreeMap<String, Value>),
    /// Attributes by name; every attribute of its type is there.
    Object(BTreeMap<String, Value>),
    /// Ordered elements, each of its own type.
    Tuple(Vec<Value>),
    /// A value where the schema says "any type", with the type it has.
    Dynamic(Box<(Type, Value)>),
}

impl Value {
    /// An unknown value of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::Unknown(Refinements::default())
    }

    /// Text, NFC-normalised.
    #[must_use]
    pub fn string(text: impl Into<String>) -> Self {
        let text = text.into();
        if is_nfc(&text) {
            Self::String(text)
        } else {
            Self::String(text.nfc().collect())
        }
    }

    /// A set of these elements: sorted, equal known ones once.
    #[must_use]
    pub fn set(elements: impl IntoIterator<Item = Self>) -> Self {
        let mut elements: Vec<Self> = elements.into_iter().collect();
        elements.sort();
        elements.dedup_by(|a, b| a == b && a.is_wholly_known());
        Self::Set(elements)
    }

    /// An object with these attributes.
    #[must_use]
    pub fn object<'a>(attributes: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Object(
            attributes
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    /// Whether it is null (a dynamic null included).
    #[must_use]
    pub fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Dynamic(inner) => inner.1.is_null(),
            _ => false,
        }
    }

    /// Whether it is unknown itself; what it holds may still be.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::Dynamic(inner) => inner.1.is_unknown(),
            _ => false,
        }
    }

    /// Whether neither it nor anything in it is unknown.
    #[must_use]
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
            Self::List(elements) | Self::Set(elements) | Self::Tuple(elements) => {
                elements.iter().all(Self::is_wholly_known)
            }
            Self::Map(elements) | Self::Object(elements) => elements.values().all(Self::is_wholly_known),
            Self::Dynamic(inner) => inner.1.is_wholly_known(),
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The attributes, if it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Object(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// The same with every refinement taken away, as a core does before it compares.
    #[must_use]
    pub fn unrefined(&self) -> Self {
        match self {
            Self::Unknown(_) => Self::unknown(),
            Self::List(elements) => Self::List(elements.iter().map(Self::unrefined).collect()),
            Self::Set(elements) => Self::set(elements.iter().map(Self::unrefined)),
            Self::Tuple(elements) => Self::Tuple(elements.iter().map(Self::unrefined).collect()),
            Self::Map(elements) => Self::Map(
                elements
                    .iter()
                    .map(|(key, value)| (key.clone(), value.unrefined()))
                    .collect(),
            ),
            Self::Object(elements) => Self::Object(
                elements
                    .iter()
                    .map(|(key, value)| (key.clone(), value.unrefined()))
                    .collect(),
            ),
            Self::Dynamic(inner) => Self::Dynamic(Box::new((inner.0.clone(), inner.1.unrefined()))),
            other => other.clone(),
        }
    }

    /// What it is, in a word, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Unknown(_) => "unknown",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "list",
            Self::Set(_) => "set",
            Self::Map(_) => "map",
            Self::Object(_) => "object",
            Self::Tuple(_) => "tuple",
            Self::Dynamic(inner) => inner.1.kind(),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        Self::List(elements.into_iter().map(Into::into).collect())
    }
}
