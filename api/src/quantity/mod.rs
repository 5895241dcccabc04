//! Kubernetes' quantities (`100m`, `2.5Gi`, `1e3`) in exact integer arithmetic.
//!
//! Input: text or a JSON number. Output: nanounits. Invariant: the text is kept as written, so that an object
//! read and written again shows no difference; comparing goes by value (`0.5Gi` equals `512Mi`).
//!
//! Kubernetes holds any decimal number; here what exceeds 1.7e29 counts as that much.

mod canonical;
mod parse;

use std::{cmp::Ordering, fmt, hash, iter::Sum, ops, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS: i128 = 1_000_000_000;
const NANOS_PER_MILLI: i128 = 1_000_000;

/// An exact amount of a resource.
#[derive(Clone)]
pub struct Quantity {
    nanos: i128,
    format: Format,
    /// As written; absent when computed.
    text: Option<Box<str>>,
}

/// Which suffixes a quantity is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Powers of 1000: n, u, m, k, M, G, T, P, E.
    Decimal,
    /// Powers of 1024: Ki, Mi, Gi, Ti, Pi, Ei.
    Binary,
    /// Powers of ten: e3, E3.
    Exponent,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no quantity; write a number with at most one suffix, for example 500m, 2, 1.5Gi or 20G")]
pub struct QuantityError {
    text: String,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self {
        nanos: 0,
        format: Format::Decimal,
        text: None,
    };

    /// A whole number of units, printed in decimal: cores, pods, devices.
    pub fn from_units(units: i64) -> Self {
        Self::new(i128::from(units) * NANOS, Format::Decimal)
    }

    /// Thousandths of a unit: millicores.
    pub fn from_milli(milli: i64) -> Self {
        Self::new(i128::from(milli) * NANOS_PER_MILLI, Format::Decimal)
    }

    /// Bytes, printed in powers of 1024.
    pub fn from_bytes(bytes: i64) -> Self {
        Self::new(i128::from(bytes) * NANOS, Format::Binary)
    }

    fn new(nanos: i128, format: Format) -> Self {
        Self {
            nanos,
            format,
            text: None,
        }
    }

    /// Whole units, rounded away from zero as Kubernetes does, cut off at the limits of `i64`.
    pub fn value(&self) -> i64 {
        saturate(div_away(self.nanos, NANOS))
    }

    /// Thousandths of a unit, rounded away from zero as Kubernetes does, cut off at the limits of `i64`.
    pub fn milli(&self) -> i64 {
        saturate(div_away(self.nanos, NANOS_PER_MILLI))
    }

    /// Billionths of a unit: the exact value.
    pub fn nanos(&self) -> i128 {
        self.nanos
    }

    /// Whether nothing is left.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// The suffixes it is written with.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The text as written, or the canonical form of a computed quantity.
    pub fn text(&self) -> String {
        self.text
            .as_deref()
            .map_or_else(|| self.to_string(), str::to_owned)
    }
}

/// Kubernetes' canonical form: the largest suffix that needs no fraction, e.g. `1536Mi` for `1.5Gi`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&canonical::text(self.nanos, self.format))
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({})", self.text())
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::ZERO
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (nanos, format) = parse::parse(text).ok_or_else(|| QuantityError {
            text: text.to_owned(),
        })?;
        Ok(Self {
            nanos,
            format,
            text: Some(text.into()),
        })
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl hash::Hash for Quantity {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

/// The format of a sum is the first part's, unless that is zero.
impl ops::AddAssign<&Quantity> for Quantity {
    fn add_assign(&mut self, other: &Quantity) {
        self.combine(other, i128::saturating_add);
    }
}

/// The format of a difference is the first part's, unless that is zero.
impl ops::SubAssign<&Quantity> for Quantity {
    fn sub_assign(&mut self, other: &Quantity) {
        self.combine(other, i128::saturating_sub);
    }
}

impl ops::Add<&Quantity> for Quantity {
    type Output = Quantity;

    fn add(mut self, other: &Quantity) -> Quantity {
        self += other;
        self
    }
}

impl ops::Sub<&Quantity> for Quantity {
    type Output = Quantity;

    fn sub(mut self, other: &Quantity) -> Quantity {
        self -= other;
        self
    }
}

impl<'a> Sum<&'a Quantity> for Quantity {
    fn sum<I: Iterator<Item = &'a Quantity>>(parts: I) -> Quantity {
        parts.fold(Quantity::ZERO, |total, part| total + part)
    }
}

impl Quantity {
    fn combine(&mut self, other: &Quantity, op: impl Fn(i128, i128) -> i128) {
        if self.is_zero() {
            self.format = other.format;
        }
        self.nanos = op(self.nanos, other.nanos);
        self.text = None;
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as 500m, 2 or 1.5Gi")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

fn div_away(nanos: i128, unit: i128) -> i128 {
    let (quotient, rest) = (nanos / unit, nanos % unit);
    quotient + rest.signum()
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests;
