//! Ready-made checks for `#[tf(validate(...))]`. Each error says what was found and what is expected.

use std::ops::RangeInclusive;
use std::time::Duration;

/// One of these texts, letter for letter.
pub fn one_of(
    allowed: &'static [&'static str],
) -> impl Fn(&str) -> Result<(), String> + Send + Sync + 'static {
    move |text| {
        if allowed.contains(&text) {
            return Ok(());
        }
        let same_but_case = allowed.iter().find(|value| value.eq_ignore_ascii_case(text));
        let hint = same_but_case.map_or(String::new(), |value| format!(" Did you mean {value:?}?"));
        Err(format!("{text:?} is not one of {}.{hint}", allowed.join(", ")))
    }
}

/// A text that is not empty.
///
/// # Errors
/// When it is.
pub fn not_empty(text: &str) -> Result<(), String> {
    if text.is_empty() {
        Err("The text is empty; leave the attribute out instead.".to_owned())
    } else {
        Ok(())
    }
}

/// A number within a range, both ends included.
pub fn between<T>(range: RangeInclusive<T>) -> impl Fn(&T) -> Result<(), String> + Send + Sync + 'static
where
    T: PartialOrd + std::fmt::Display + Send + Sync + 'static,
{
    move |number| {
        if range.contains(number) {
            Ok(())
        } else {
            Err(format!(
                "{number} is not between {} and {}.",
                range.start(),
                range.end()
            ))
        }
    }
}

/// A list with a number of elements within a range, both ends included.
pub fn length_between<T: 'static>(
    range: RangeInclusive<usize>,
) -> impl Fn(&[T]) -> Result<(), String> + Send + Sync + 'static {
    move |elements| {
        if range.contains(&elements.len()) {
            Ok(())
        } else {
            Err(format!(
                "There are {} elements; between {} and {} are allowed.",
                elements.len(),
                range.start(),
                range.end()
            ))
        }
    }
}

/// A duration as Go writes it: `30m`, `1h30m`, `500ms`.
///
/// # Errors
/// When the text is none.
pub fn duration(text: &str) -> Result<(), String> {
    parse_duration(text).map(|_| ())
}

/// Reads a duration as Go writes it: decimal numbers, each with a unit of h, m, s, ms, us, ns; no sign.
///
/// # Errors
/// When the text is none.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let invalid =
        || format!("{text:?} is not a duration; write numbers with units, such as \"30m\" or \"1h30m\".");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut total) = (text, Duration::ZERO);
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .ok_or_else(invalid)?;
        let number: f64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let unit = rest
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(rest.len());
        let seconds = match &rest[..unit] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(invalid()),
        };
        rest = &rest[unit..];
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| invalid())?;
        total = total.checked_add(part).ok_or_else(invalid)?;
    }
    Ok(total)
}
