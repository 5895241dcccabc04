//! Numbers of any size and precision, kept in decimal.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use bigdecimal::{BigDecimal, ToPrimitive};

/// A decimal number without bounds. Equal numbers are equal however they were written: `1`, `1.0` and `1e0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(BigDecimal);

/// A text or float that is no (finite, decimal) number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a finite decimal number")]
pub struct InvalidNumber(String);

/// The largest decimal exponent a written number may have: keeps `1e999999999` from filling the memory.
const MAX_EXPONENT: i64 = 10_000;

impl Number {
    /// Zero.
    #[must_use]
    pub fn zero() -> Self {
        Self(BigDecimal::default())
    }

    /// The exact value as `i64`, if it is one.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if self.0.is_integer() {
            self.0.to_i64()
        } else {
            None
        }
    }

    /// The exact value as `u64`, if it is one.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if self.0.is_integer() {
            self.0.to_u64()
        } else {
            None
        }
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::NAN)
    }

    /// Whether it has no fraction.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    /// The decimal beneath.
    #[must_use]
    pub fn as_decimal(&self) -> &BigDecimal {
        &self.0
    }
}

impl FromStr for Number {
    type Err = InvalidNumber;

    fn from_str(text: &str) -> Result<Self, InvalidNumber> {
        let invalid = || InvalidNumber(text.to_owned());
        let decimal = BigDecimal::from_str(text).map_err(|_| invalid())?;
        let (_, scale) = decimal.as_bigint_and_exponent();
        if scale.abs() > MAX_EXPONENT {
            return Err(invalid());
        }
        Ok(Self(decimal.normalized()))
    }
}

impl TryFrom<f64> for Number {
    type Error = InvalidNumber;

    fn try_from(float: f64) -> Result<Self, InvalidNumber> {
        BigDecimal::try_from(float)
            .map(|decimal| Self(decimal.normalized()))
            .map_err(|_| InvalidNumber(float.to_string()))
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(integer: $integer) -> Self {
                Self(BigDecimal::from(integer).normalized())
            }
        }
    )*};
}
from_integers!(i8, u8, i16, u16, i32, u32, i64, u64);

impl From<BigDecimal> for Number {
    fn from(decimal: BigDecimal) -> Self {
        Self(decimal.normalized())
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.normalized().hash(state);
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_plain_string())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
