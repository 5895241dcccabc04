//! Prices, as whole micro-dollars an hour: sums and comparisons are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// US dollars an hour, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

impl Price {
    /// No cost.
    pub const ZERO: Price = Price(0);
    /// Dearer than anything on sale; what an unknown price sorts as.
    pub const MAX: Price = Price(u64::MAX);

    /// `micro` millionths of a dollar an hour.
    pub const fn from_micros(micro: u64) -> Price {
        Price(micro)
    }

    /// The price in millionths of a dollar an hour.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Reads a decimal number of dollars an hour, as AWS writes prices: `0.0960000000`.
    /// Digits beyond the sixth decimal are rounded half up. `None` for anything that is no such number.
    pub fn parse_dollars(text: &str) -> Option<Price> {
        let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let mut micros = 0u64;
        for position in 0..6 {
            let digit = fraction
                .as_bytes()
                .get(position)
                .map_or(0, |byte| u64::from(byte - b'0'));
            micros = micros * 10 + digit;
        }
        let round_up = fraction.as_bytes().get(6).is_some_and(|byte| *byte >= b'5');
        whole
            .checked_mul(1_000_000)?
            .checked_add(micros)?
            .checked_add(u64::from(round_up))
            .map(Price)
    }

    /// The price times `count`, at most [`Price::MAX`].
    pub const fn times(self, count: u64) -> Price {
        Price(self.0.saturating_mul(count))
    }
}

impl Add for Price {
    type Output = Price;

    fn add(self, other: Price) -> Price {
        Price(self.0.saturating_add(other.0))
    }
}

impl Sum for Price {
    fn sum<I: Iterator<Item = Price>>(prices: I) -> Price {
        prices.fold(Price::ZERO, Add::add)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Price::MAX {
            return write!(f, "unknown");
        }
        let (dollars, mut micros, mut digits) = (self.0 / 1_000_000, self.0 % 1_000_000, 6);
        while digits > 2 && micros % 10 == 0 {
            (micros, digits) = (micros / 10, digits - 1);
        }
        write!(f, "${dollars}.{micros:0digits$}/h")
    }
}

#[cfg(test)]
mod tests {
    use super::Price;

    #[test]
    fn dollars_are_read_exactly() {
        for (text, want) in [
            ("0.0960000000", Some(96_000)),
            ("12", Some(12_000_000)),
            (".5", Some(500_000)),
            ("0.0000005", Some(1)),
            ("0.0000004", Some(0)),
            ("", None),
            (".", None),
            ("-1", None),
            ("1e3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(Price::parse_dollars(text).map(Price::micros), want, "{text:?}");
        }
    }

    #[test]
    fn prices_print_with_the_digits_they_need() {
        for (micros, want) in [
            (96_000, "$0.096/h"),
            (1_500_000, "$1.50/h"),
            (1, "$0.000001/h"),
            (0, "$0.00/h"),
        ] {
            assert_eq!(Price::from_micros(micros).to_string(), want);
        }
        assert_eq!(Price::MAX.to_string(), "unknown");
    }
}
