//! Kubernetes' grammar of quantities: sign, digits, point, digits, suffix.

use super::{Format, NANOS};

/// Exponents beyond this make any number zero or more than can be held.
const EXPONENT_LIMIT: i64 = 400;

/// Nanounits and format; nothing when the text is no quantity.
pub(super) fn parse(text: &str) -> Option<(i128, Format)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let whole_len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, rest) = rest.split_at(whole_len);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (multiplier, format) = multiplier(suffix)?;
    let magnitude = match multiplier {
        Multiplier::PowerOfTen(exponent) => scale_by_ten(whole, fraction, exponent),
        Multiplier::PowerOfTwo(exponent) => scale_by_two(whole, fraction, exponent),
    };
    // Kubernetes holds quantities with binary suffixes in 63 bits and prints parts of one in decimal.
    let (magnitude, format) = match format {
        Format::Binary if magnitude > 0 && magnitude < NANOS => (magnitude, Format::Decimal),
        Format::Binary => (magnitude.min(i128::from(i64::MAX) * NANOS), format),
        Format::Decimal | Format::Exponent => (magnitude, format),
    };
    Some((if negative { -magnitude } else { magnitude }, format))
}

enum Multiplier {
    PowerOfTen(i64),
    PowerOfTwo(u32),
}

fn multiplier(suffix: &str) -> Option<(Multiplier, Format)> {
    let decimal = |exponent| Some((Multiplier::PowerOfTen(exponent), Format::Decimal));
    let binary = |exponent| Some((Multiplier::PowerOfTwo(exponent), Format::Binary));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let digits = suffix.strip_prefix(['e', 'E'])?;
            let exponent: i64 = digits.parse().ok()?;
            Some((
                Multiplier::PowerOfTen(exponent.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT)),
                Format::Exponent,
            ))
        }
    }
}

/// The number times ten to the power, in nanounits, rounded up.
fn scale_by_ten(whole: &str, fraction: &str, exponent: i64) -> i128 {
    let mut digits = format!("{whole}{fraction}");
    // The place of the point in the number of nanounits, counted from the left.
    let point = i64::try_from(whole.len())
        .unwrap_or(i64::MAX)
        .saturating_add(exponent)
        .saturating_add(9);
    let Ok(point) = usize::try_from(point) else {
        return i128::from(digits.bytes().any(|digit| digit != b'0'));
    };
    if digits.bytes().all(|digit| digit == b'0') {
        return 0;
    }
    while digits.len() < point {
        digits.push('0');
    }
    let (kept, cut) = digits.split_at(point);
    let rounding = i128::from(cut.bytes().any(|digit| digit != b'0'));
    number(kept).saturating_add(rounding)
}

/// The number times two to the power, in nanounits, rounded up.
fn scale_by_two(whole: &str, fraction: &str, exponent: u32) -> i128 {
    let factor = 1_i128 << exponent;
    let whole = number(whole).saturating_mul(factor).saturating_mul(NANOS);
    // 2^60 nanounits need 28 digits, so a fraction is multiplied in two parts of nine digits; what comes after
    // is less than a nanounit times 2^60 / 10^18 and only rounds up.
    let mut padded: String = fraction.chars().take(18).collect();
    while padded.len() < 18 {
        padded.push('0');
    }
    let (high, low) = padded.split_at(9);
    let high = number(high) * factor;
    let low_scaled = number(low) * factor;
    let rest = i128::from(low_scaled % NANOS != 0 || fraction.bytes().skip(18).any(|digit| digit != b'0'));
    whole
        .saturating_add(high)
        .saturating_add(low_scaled / NANOS)
        .saturating_add(rest)
}

/// Digits as a number, cut off at the largest.
fn number(digits: &str) -> i128 {
    digits.bytes().fold(0_i128, |total, digit| {
        total
            .saturating_mul(10)
            .saturating_add(i128::from(digit.saturating_sub(b'0')))
    })
}
