//! Resource quantities, as far as `resourceFieldRef` and allocatable need them: exact, in thousandths. Pure.

/// A quantity in thousandths of its unit (of a core, of a byte).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Milli(pub(crate) i128);

/// Reads a Kubernetes quantity without exponent: `100m`, `1.5Gi`, `20G`, `3`.
pub(crate) fn parse(text: &str) -> Option<Milli> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == '+'))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let scale: i128 = match suffix {
        "m" => 1,
        "" => 1000,
        "k" => 1000 * 1000,
        "M" => 1000 * 1000_i128.pow(2),
        "G" => 1000 * 1000_i128.pow(3),
        "T" => 1000 * 1000_i128.pow(4),
        "Ki" => 1000 << 10,
        "Mi" => 1000 << 20,
        "Gi" => 1000 << 30,
        "Ti" => 1000_i128 << 40,
        _ => return None,
    };
    let negative = number.starts_with('-');
    let (whole, part) = number
        .trim_start_matches(['-', '+'])
        .split_once('.')
        .unwrap_or((number.trim_start_matches(['-', '+']), ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let digits: i128 = format!("{whole}{part}").parse().ok()?;
    let places = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
    // Rounded up, as Kubernetes rounds what is finer than a thousandth.
    let value = (digits.checked_mul(scale)? + places - 1) / places;
    Some(Milli(if negative { -value } else { value }))
}

impl Milli {
    /// How many of `divisor` this is, rounded up, as `resourceFieldRef` counts; a divisor of zero means one.
    pub(crate) fn divided(self, divisor: Milli) -> i128 {
        let divisor = if divisor.0 <= 0 { 1000 } else { divisor.0 };
        (self.0 + divisor - 1).div_euclid(divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        for (text, want) in [
            ("100m", Some(100)),
            ("1", Some(1000)),
            ("1.5", Some(1500)),
            ("1.5Gi", Some(1_610_612_736_000)),
            ("20G", Some(20_000_000_000_000)),
            ("0.0001", Some(1)),
            ("-2", Some(-2000)),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(|milli| milli.0), want, "{text}");
        }
    }

    #[test]
    fn divisors_round_up() {
        for (value, divisor, want) in [
            ("256Mi", "0", 268_435_456),
            ("256Mi", "1Mi", 256),
            ("1500m", "1", 2),
            ("1500m", "1m", 1500),
        ] {
            assert_eq!(
                parse(value).unwrap().divided(parse(divisor).unwrap()),
                want,
                "{value}/{divisor}"
            );
        }
    }
}
