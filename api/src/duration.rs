//! Go's durations as they stand in manifests: `30s`, `1h30m`, and `Never` where a wait can be switched off.
//!
//! Input: text. Output: exact nanoseconds. Invariant: the text is kept as written, so that an object read and
//! written again shows no difference; comparing goes by meaning (`60m` equals `1h`).

use std::{fmt, str::FromStr, time};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The text that switches a duration off.
pub const NEVER: &str = "Never";

/// A length of time in Go's notation, 0 to about 292 years.
#[derive(Clone, Debug)]
pub struct GoDuration {
    nanos: u64,
    text: String,
}

/// A [`GoDuration`], or "never".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NillableDuration {
    /// Written `Never`.
    Never,
    /// Any other text.
    After(GoDuration),
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not Go's grammar.
    #[error("{0:?} is no duration; write numbers with the units h, m and s, for example 30s or 1h30m")]
    Grammar(String),
    /// More than Go's int64 of nanoseconds.
    #[error("{0:?} is longer than a duration can be (about 2562047h)")]
    TooLong(String),
}

impl GoDuration {
    /// A duration of whole seconds, written as Go would.
    pub fn from_secs(seconds: u32) -> Self {
        let nanos = u64::from(seconds) * SECOND;
        Self {
            nanos,
            text: go_text(nanos),
        }
    }

    /// The time as the standard library has it.
    pub fn as_std(&self) -> time::Duration {
        time::Duration::from_nanos(self.nanos)
    }

    /// Nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.nanos
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as Go prints this duration, e.g. `1h30m0s` for `90m`.
    pub fn canonical(&self) -> String {
        go_text(self.nanos)
    }
}

impl NillableDuration {
    /// The duration, or nothing for "never".
    pub fn as_std(&self) -> Option<time::Duration> {
        match self {
            Self::Never => None,
            Self::After(duration) => Some(duration.as_std()),
        }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Never => NEVER,
            Self::After(duration) => duration.text(),
        }
    }
}

impl PartialEq for GoDuration {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for GoDuration {}

impl std::hash::Hash for GoDuration {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl PartialOrd for GoDuration {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for GoDuration {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for NillableDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        Ok(Self {
            nanos: parse_nanos(text)?,
            text: text.to_owned(),
        })
    }
}

impl FromStr for NillableDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        if text == NEVER {
            Ok(Self::Never)
        } else {
            text.parse().map(Self::After)
        }
    }
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Serialize for NillableDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The CRD's pattern lets through what overflows Go's int64. One such object must not make a whole list
        // unreadable, so it counts as the longest duration; `rules` reports it.
        match text.parse() {
            Err(DurationError::TooLong(_)) => Ok(Self { nanos: LONGEST, text }),
            parsed => parsed.map_err(de::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for NillableDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == NEVER {
            return Ok(Self::Never);
        }
        GoDuration::deserialize(de::IntoDeserializer::<D::Error>::into_deserializer(text)).map(Self::After)
    }
}

const SECOND: u64 = 1_000_000_000;
const LONGEST: u64 = i64::MAX as u64;

/// Go's `time.ParseDuration` for durations that are not negative.
fn parse_nanos(text: &str) -> Result<u64, DurationError> {
    let grammar = || DurationError::Grammar(text.to_owned());
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(grammar());
    }
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(grammar)?;
        let (number, tail) = rest.split_at(digits);
        let unit_len = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_len);
        let unit: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => u128::from(SECOND),
            "m" => u128::from(SECOND) * 60,
            "h" => u128::from(SECOND) * 3600,
            _ => return Err(grammar()),
        };
        total = amount(number, unit)
            .and_then(|part| part.checked_add(total))
            .ok_or_else(|| {
                if is_number(number) {
                    DurationError::TooLong(text.to_owned())
                } else {
                    grammar()
                }
            })?;
        if total > u128::from(LONGEST) {
            return Err(DurationError::TooLong(text.to_owned()));
        }
        rest = tail;
    }
    u64::try_from(total).map_err(|_| DurationError::TooLong(text.to_owned()))
}

fn is_number(number: &str) -> bool {
    number.chars().any(|c| c.is_ascii_digit()) && number.chars().filter(|c| *c == '.').count() <= 1
}

/// `number` (digits with at most one point) times `unit`, rounded down to a nanosecond.
fn amount(number: &str, unit: u128) -> Option<u128> {
    if !is_number(number) {
        return None;
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More digits than a nanosecond of an hour can show make no difference.
    let fraction = fraction.get(..fraction.len().min(18))?;
    let part = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u128>().ok()? * unit / 10_u128.pow(u32::try_from(fraction.len()).ok()?)
    };
    whole.checked_mul(unit)?.checked_add(part)
}

/// Go's `Duration.String`.
fn go_text(nanos: u64) -> String {
    if nanos < SECOND {
        return match nanos {
            0 => "0s".to_owned(),
            1..1_000 => format!("{nanos}ns"),
            1_000..1_000_000 => format!("{}µs", decimal(nanos, 1_000)),
            _ => format!("{}ms", decimal(nanos, 1_000_000)),
        };
    }
    let (hours, minutes, rest) = (
        nanos / (3600 * SECOND),
        nanos / (60 * SECOND) % 60,
        nanos % (60 * SECOND),
    );
    let seconds = decimal(rest, SECOND);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

fn decimal(value: u64, unit: u64) -> String {
    let fraction = value % unit;
    if fraction == 0 {
        return (value / unit).to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{fraction:0width$}");
    format!("{}.{}", value / unit, digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Go's own `time.ParseDuration`; one row a text.
    const TABLE: &str = include_str!("../tests/data/duration.tsv");

    #[test]
    fn agrees_with_go() {
        let rows: Vec<&str> = TABLE.lines().filter(|row| !row.starts_with('#')).collect();
        assert!(rows.len() > 140, "the table has shrunk to {} rows", rows.len());
        for row in rows {
            let columns: Vec<&str> = row.split('\t').collect();
            let parsed = columns[0].parse::<GoDuration>();
            if columns[1] == "error" {
                assert!(parsed.is_err(), "{row}");
                continue;
            }
            let parsed = parsed.unwrap();
            assert_eq!(
                [parsed.nanos().to_string().as_str(), parsed.canonical().as_str()],
                columns[1..],
                "{row}"
            );
        }
    }

    #[test]
    fn tells_grammar_from_length() {
        for text in ["", "1", "h", "-1h", "1d", "1.2.3s", "5 m", "Never", "never", "."] {
            assert_eq!(
                text.parse::<GoDuration>(),
                Err(DurationError::Grammar(text.to_owned())),
                "{text}"
            );
        }
        for text in ["2562048h", "99999999999999999999h"] {
            assert_eq!(
                text.parse::<GoDuration>(),
                Err(DurationError::TooLong(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn keeps_the_text_and_compares_by_meaning() {
        let written: NillableDuration = serde_json::from_str("\"60m\"").unwrap();
        assert_eq!(serde_json::to_string(&written).unwrap(), "\"60m\"");
        assert_eq!(written, "1h".parse().unwrap());
        let never: NillableDuration = serde_json::from_str("\"Never\"").unwrap();
        assert_eq!(never.as_std(), None);
        let long: GoDuration = serde_json::from_str("\"99999999h\"").unwrap();
        assert_eq!((long.nanos(), long.text()), (LONGEST, "99999999h"));
    }
}
