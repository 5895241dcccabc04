//! Texts, truth values and numbers.

use super::{AttributeValue, ConvertError};
use crate::path::AttributePath;
use crate::schema::Shape;
use crate::value::{Number, Type, Value};

fn unknown_or_misfit<T>(path: &AttributePath, expected: &str, found: &Value) -> Result<T, ConvertError> {
    if found.is_unknown() {
        Err(ConvertError::Unknown)
    } else {
        Err(ConvertError::misfit(path, expected, found))
    }
}

impl AttributeValue for String {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Plain(Type::String)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::String(text) => Ok(text.clone()),
            other => unknown_or_misfit(path, "a string", other),
        }
    }

    fn to_value(&self) -> Value {
        Value::string(self.as_str())
    }
}

impl AttributeValue for bool {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Plain(Type::Bool)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => unknown_or_misfit(path, "true or false", other),
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl AttributeValue for Number {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Plain(Type::Number)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::Number(number) => Ok(number.clone()),
            other => unknown_or_misfit(path, "a number", other),
        }
    }

    fn to_value(&self) -> Value {
        Value::Number(self.clone())
    }
}

impl AttributeValue for f64 {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Plain(Type::Number)
    }

    fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
        match value {
            Value::Number(number) => Ok(number.to_f64()),
            other => unknown_or_misfit(path, "a number", other),
        }
    }

    fn to_value(&self) -> Value {
        // The shortest decimal that is this float: what a user wrote as 0.1 stays 0.1.
        self.to_string().parse().map_or(Value::Null, Value::Number)
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl AttributeValue for $integer {
            type Inner = Self;

            fn shape() -> Shape {
                Shape::Plain(Type::Number)
            }

            fn from_value(value: &Value, path: &AttributePath) -> Result<Self, ConvertError> {
                let Value::Number(number) = value else {
                    return unknown_or_misfit(path, "a whole number", value);
                };
                let fits = match number.as_i64() {
                    Some(integer) => Self::try_from(integer).ok(),
                    None => number.as_u64().and_then(|integer| Self::try_from(integer).ok()),
                };
                fits.ok_or_else(|| {
                    let expected = format!("a whole number between {} and {}", Self::MIN, Self::MAX);
                    ConvertError::misfit(path, &expected, value)
                })
            }

            fn to_value(&self) -> Value {
                Value::Number((*self).into())
            }
        }
    )*};
}
integers!(i8, u8, i16, u16, i32, u32, i64, u64);

impl AttributeValue for Value {
    type Inner = Self;

    fn shape() -> Shape {
        Shape::Plain(Type::Dynamic)
    }

    fn from_value(value: &Value, _: &AttributePath) -> Result<Self, ConvertError> {
        Ok(value.clone())
    }

    fn to_value(&self) -> Value {
        self.clone()
    }
}
