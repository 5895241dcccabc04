//! What is known of an unknown value.

use super::{Number, Value};

/// Promises about a value that is not known yet. Empty when nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refinements {
    /// It will be null (`true`) or will not be (`false`).
    pub null: Option<bool>,
    /// A string that will begin so.
    pub prefix: Option<String>,
    /// A number not below this.
    pub min: Option<Bound>,
    /// A number not above this.
    pub max: Option<Bound>,
    /// A collection with at least so many elements.
    pub min_length: Option<u64>,
    /// A collection with at most so many elements.
    pub max_length: Option<u64>,
}

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound {
    /// Where the range ends.
    pub number: Number,
    /// Whether the end itself is in the range.
    pub inclusive: bool,
}

impl Refinements {
    /// A value that will not be null.
    #[must_use]
    pub fn not_null() -> Self {
        Self {
            null: Some(false),
            ..Self::default()
        }
    }

    /// A string that will not be null and will begin so.
    #[must_use]
    pub fn with_prefix(prefix: impl Into<String>) -> Self {
        Self {
            null: Some(false),
            prefix: Some(prefix.into()),
            ..Self::default()
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `value` can be what was promised; an unknown value always can.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        if let Value::Unknown(_) = value {
            return true;
        }
        if self.null.is_some_and(|null| null != value.is_null()) {
            return false;
        }
        let length_fits = |length: usize| {
            let length = length as u64;
            self.min_length.is_none_or(|min| min <= length) && self.max_length.is_none_or(|max| length <= max)
        };
        match value {
            Value::String(text) => self
                .prefix
                .as_ref()
                .is_none_or(|prefix| text.starts_with(prefix.as_str())),
            Value::Number(number) => {
                self.min
                    .as_ref()
                    .is_none_or(|min| min.number < *number || (min.inclusive && min.number == *number))
                    && self
                        .max
                        .as_ref()
                        .is_none_or(|max| *number < max.number || (max.inclusive && max.number == *number))
            }
            Value::List(elements) | Value::Set(elements) => length_fits(elements.len()),
            Value::Map(elements) => length_fits(elements.len()),
            _ => true,
        }
    }
}
