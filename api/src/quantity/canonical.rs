//! Kubernetes' canonical form: no fraction, the largest suffix possible.

use super::{Format, NANOS};

const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The canonical text of an amount.
pub(super) fn text(nanos: i128, format: Format) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    // Below 1024 and for parts of one the binary suffixes have nothing to say.
    let binary = format == Format::Binary && nanos % NANOS == 0 && (nanos / NANOS).unsigned_abs() >= 1024;
    match format {
        Format::Binary if binary => base_1024(nanos / NANOS),
        Format::Exponent => decimal(nanos, |power| match (i64::from(power) - 3) * 3 {
            0 => String::new(),
            exponent => format!("e{exponent}"),
        }),
        Format::Binary | Format::Decimal => decimal(nanos, |power| {
            DECIMAL
                .get(power as usize)
                .copied()
                .unwrap_or_default()
                .to_owned()
        }),
    }
}

fn base_1024(mut value: i128) -> String {
    let mut power = 0;
    while value % 1024 == 0 && power + 1 < BINARY.len() {
        value /= 1024;
        power += 1;
    }
    format!("{value}{}", BINARY[power])
}

/// `suffix` gets how many times 1000 went into the nanounits.
fn decimal(nanos: i128, suffix: impl Fn(u32) -> String) -> String {
    let (mut value, mut power) = (nanos, 0);
    // Beyond 10^18 there is no suffix, and the exponent form goes on.
    while value % 1000 == 0 {
        value /= 1000;
        power += 1;
    }
    let mut text = suffix(power);
    if text.is_empty() && power > 3 {
        // 10^21 and more in suffix form: spell it out with the last suffix.
        while power > 9 {
            value = value.saturating_mul(1000);
            power -= 1;
        }
        text = DECIMAL[9].to_owned();
    }
    format!("{value}{text}")
}
