//! Rust types as attribute values, and structs as whole models.

mod collections;
mod scalars;

pub use collections::Set;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::field::Field;
use crate::path::AttributePath;
use crate::schema::{Attribute, Schema, Shape};
use crate::value::Value;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The attributes of each model that was asked for: making them anew for every document takes longer than the document.
static KNOWN: RwLock<Option<HashMap<TypeId, Arc<[Attribute]>>>> = RwLock::new(None);

/// The attributes of `M`, made once.
pub(crate) fn attributes_of<M: Model>() -> Arc<[Attribute]> {
    let key = TypeId::of::<M>();
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(attributes) = known.as_ref().and_then(|known| known.get(&key)) {
        return Arc::clone(attributes);
    }
    drop(known);
    let attributes: Arc<[Attribute]> = M::attributes().into();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().insert(key, Arc::clone(&attributes));
    attributes
}

/// A Rust type that an attribute can hold.
pub trait AttributeValue: Sized + Send + Sync + 'static {
    /// What a known, non-null value is: `T` for [`Field<T>`], else the type itself.
    type Inner: AttributeValue;

    /// The attribute's shape in a schema.
    fn shape() -> Shape;

    /// Reads a value.
    ///
    /// # Errors
    /// [`ConvertError::Unknown`] when the type has no place for an unknown value in it; else what is wrong, and where.
    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError>;

    /// Writes the value.
    fn to_value(&self) -> Value;
}

/// Why a value is not one of a Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// It holds an unknown value where the type has no place for one.
    Unknown,
    /// It does not fit.
    Misfit(Diagnostics),
}

impl ConvertError {
    /// A value of another kind than expected.
    #[must_use]
    pub fn misfit(path: &AttributePath, expected: &str, found: &Value) -> Self {
        let found = match found {
            Value::Number(number) => format!("the number {number}"),
            other => other.kind().to_owned(),
        };
        Self::Misfit(
            Diagnostic::error("Unsuitable value", format!("Expected {expected}, found {found}."))
                .at(path.clone())
                .into(),
        )
    }
}

impl From<ConvertError> for Diagnostics {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Unknown => Self::error(
                "Value not known yet",
                "A value that must be known here depends on something that is created only at apply.",
            ),
            ConvertError::Misfit(diagnostics) => diagnostics,
        }
    }
}

/// A struct whose fields are attributes; made by `#[derive(Model)]`.
pub trait Model: AttributeValue<Inner = Self> + Clone {
    /// The attributes, in the order of the fields.
    fn attributes() -> Vec<Attribute>;

    /// The struct's doc comment.
    fn description() -> &'static str;

    /// A schema of these attributes.
    #[must_use]
    fn schema(version: i64) -> Schema {
        Schema {
            version,
            description: Self::description().to_owned(),
            attributes: Self::attributes(),
            ..Schema::default()
        }
    }

    /// Reads a whole value (a configuration, a plan, a state).
    ///
    /// # Errors
    /// What does not fit, each with its path.
    fn read(value: &Value) -> Result<Self, Diagnostics> {
        Self::from_value(value, &AttributePath::root()).map_err(Diagnostics::from)
    }
}

impl<T: AttributeValue> AttributeValue for Field<T> {
    type Inner = T;

    fn shape() -> Shape {
        T::shape()
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        if value.is_null() {
            return Ok(Self::Null);
        }
        if value.is_unknown() {
            return Ok(Self::Unknown);
        }
        match T::from_value(value, path) {
            Ok(known) => Ok(Self::Known(known)),
            Err(ConvertError::Unknown) => Ok(Self::Unknown),
            Err(misfit) => Err(misfit),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Unknown => Value::unknown(),
            Self::Known(value) => value.to_value(),
        }
    }
}

/// A model without attributes, for providers that need no configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Empty {}

impl AttributeValue for Empty {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Nested(crate::schema::Nesting::Single, Vec::new())
    }

    fn from_value(_: &Value, _: &AttributePath) -> Result<Self, ConvertError> {
        Ok(Self {})
    }

    fn to_value(&self) -> Value {
        Value::Object(std::collections::BTreeMap::new())
    }
}

impl Model for Empty {
    fn attributes() -> Vec<Attribute> {
        Vec::new()
    }

    fn description() -> &'static str {
        ""
    }
}

/// What `#[derive(Model)]` calls; not for use by hand.
#[doc(hidden)]
pub mod derive {
    use std::borrow::Borrow;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::{AttributeValue, ConvertError};
    use crate::diagnostics::Diagnostics;
    use crate::path::AttributePath;
    use crate::schema::{Equivalence, Validator};
    use crate::value::Value;

    /// The attributes of an object to read a struct from.
    pub struct Object<'a> {
        value: &'a Value,
        attributes: Option<&'a BTreeMap<String, Value>>,
        path: &'a AttributePath,
        misfits: Diagnostics,
        unknown: bool,
    }

    impl<'a> Object<'a> {
        pub fn new(value: &'a Value, path: &'a AttributePath) -> Result<Self, ConvertError> {
            let attributes = match value {
                Value::Object(attributes) => Some(attributes),
                Value::Unknown(_) => None, // every field of it is unknown
                other => return Err(ConvertError::misfit(path, "an object", other)),
            };
            Ok(Self {
                value,
                attributes,
                path,
                misfits: Diagnostics::new(),
                unknown: false,
            })
        }

        pub fn field<T: AttributeValue>(&mut self, name: &str) -> Option<T> {
            let unknown = Value::unknown();
            let value = match self.attributes {
                Some(attributes) => attributes.get(name).unwrap_or(&Value::Null),
                None => &unknown,
            };
            let read = T::from_value(value, &self.path.attribute(name));
            self.take(read)
        }

        /// A model whose attributes are this object's own.
        pub fn flattened<T: AttributeValue>(&mut self) -> Option<T> {
            self.take(T::from_value(self.value, self.path))
        }

        fn take<T>(&mut self, read: Result<T, ConvertError>) -> Option<T> {
            match read {
                Ok(value) => Some(value),
                Err(ConvertError::Unknown) => {
                    self.unknown = true;
                    None
                }
                Err(ConvertError::Misfit(misfits)) => {
                    self.misfits.append(misfits);
                    None
                }
            }
        }

        pub fn finish<T>(self, built: Option<T>) -> Result<T, ConvertError> {
            match built {
                Some(built) => Ok(built),
                None if !self.misfits.is_empty() => Err(ConvertError::Misfit(self.misfits)),
                None => Err(ConvertError::Unknown),
            }
        }
    }

    /// An object with the attributes of others beside its own.
    pub fn joined<const N: usize>(own: Value, others: [Value; N]) -> Value {
        let Value::Object(mut attributes) = own else {
            return own;
        };
        for other in others {
            if let Value::Object(other) = other {
                attributes.extend(other);
            }
        }
        Value::Object(attributes)
    }

    pub fn validator<T, B, F>(check: F) -> Validator
    where
        T: AttributeValue + Borrow<B>,
        B: ?Sized,
        F: Fn(&B) -> Result<(), String> + Send + Sync + 'static,
    {
        Arc::new(move |value| match T::from_value(value, &AttributePath::root()) {
            Ok(typed) => check(typed.borrow()),
            Err(_) => Ok(()), // partly unknown: checked again when it is known
        })
    }

    pub fn equivalence<T, B, F>(same: F) -> Equivalence
    where
        T: AttributeValue + Borrow<B>,
        B: ?Sized,
        F: Fn(&B, &B) -> bool + Send + Sync + 'static,
    {
        Arc::new(move |left, right| {
            let root = AttributePath::root();
            match (T::from_value(left, &root), T::from_value(right, &root)) {
                (Ok(left), Ok(right)) => same(left.borrow(), right.borrow()),
                _ => false,
            }
        })
    }
}
