//! Lists, sets and maps. Of structs they are nested attributes, of anything else plain collections.

use std::collections::{BTreeMap, BTreeSet};

use super::{AttributeValue, ConvertError};
use crate::diagnostics::Diagnostics;
use crate::path::AttributePath;
use crate::schema::{Nesting, Shape};
use crate::value::Value;

/// Distinct values without order. Diagnostics cannot point into a set, so prefer a list with an `equivalent` function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set<T>(pub Vec<T>);

/// Reads every element, so that all misfits are reported; one unknown element makes the whole unknown.
fn collect<'a, T: AttributeValue>(
    elements: impl Iterator<Item = (AttributePath, &'a Value)>,
) -> Result<Vec<T>, ConvertError> {
    let (mut read, mut misfits, mut unknown) = (Vec::new(), Diagnostics::new(), false);
    for (path, element) in elements {
        match T::from_value(element, &path) {
            Ok(element) => read.push(element),
            Err(ConvertError::Unknown) => unknown = true,
            Err(ConvertError::Misfit(more)) => misfits.append(more),
        }
    }
    match (misfits.is_empty(), unknown) {
        (false, _) => Err(ConvertError::Misfit(misfits)),
        (true, true) => Err(ConvertError::Unknown),
        (true, false) => Ok(read),
    }
}

impl<T: AttributeValue> AttributeValue for Vec<T> {
    type Inner = Self;

    fn shape() -> Shape {
        T::shape().collected(Nesting::List)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::List(elements) | Value::Tuple(elements) => collect(
                elements
                    .iter()
                    .enumerate()
                    .map(|(index, element)| (path.index(index), element)),
            ),
            Value::Unknown(_) => Err(ConvertError::Unknown),
            other => Err(ConvertError::misfit(path, "a list", other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::List(self.iter().map(T::to_value).collect())
    }
}

impl<T: AttributeValue> AttributeValue for Set<T> {
    type Inner = Self;

    fn shape() -> Shape {
        T::shape().collected(Nesting::Set)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::Set(elements) => collect(elements.iter().map(|element| (path.clone(), element))).map(Self),
            Value::Unknown(_) => Err(ConvertError::Unknown),
            other => Err(ConvertError::misfit(path, "a set", other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::set(self.0.iter().map(T::to_value))
    }
}

impl<T: AttributeValue + Ord> AttributeValue for BTreeSet<T> {
    type Inner = Self;

    fn shape() -> Shape {
        T::shape().collected(Nesting::Set)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        Set::<T>::from_value(value, path).map(|set| set.0.into_iter().collect())
    }

    fn to_value(&self) -> Value {
        Value::set(self.iter().map(T::to_value))
    }
}

impl<T: AttributeValue> AttributeValue for BTreeMap<String, T> {
    type Inner = Self;

    fn shape() -> Shape {
        T::shape().collected(Nesting::Map)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::Map(elements) => {
                let read = collect(
                    elements
                        .iter()
                        .map(|(key, element)| (path.key(key.as_str()), element)),
                )?;
                Ok(elements.keys().cloned().zip(read).collect())
            }
            Value::Unknown(_) => Err(ConvertError::Unknown),
            other => Err(ConvertError::misfit(path, "a map", other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::Map(
            self.iter()
                .map(|(key, element)| (key.clone(), element.to_value()))
                .collect(),
        )
    }
}
