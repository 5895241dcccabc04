//! Values of single options: durations as Go writes them, ratios, yes and no, policies, spread constraints.

use std::time::Duration;

use clap::ValueEnum;
use joiner_core::snapshot::DefaultSpread;

/// Levels as Karpenter names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Debug,
    Info,
    #[value(alias = "warning")]
    Warn,
    Error,
}

/// What pods' preferences mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreferencePolicy {
    /// They are required until the pod cannot be placed otherwise.
    #[value(name = "Respect")]
    Respect,
    /// They do not exist.
    #[value(name = "Ignore")]
    Ignore,
}

/// What minValues mean when the compatible types do not have that many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MinValuesPolicy {
    /// The pod stays pending.
    #[value(name = "Strict")]
    Strict,
    /// The number is lowered.
    #[value(name = "BestEffort")]
    BestEffort,
}

/// Spread constraints of pods that have none of their own: `defaultConstraints` of the scheduler's `PodTopologySpread` plugin, as
/// JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DefaultConstraints(pub Vec<DefaultSpread>);

/// Reads them; nothing means none.
pub(super) fn default_constraints(text: &str) -> Result<DefaultConstraints, String> {
    if text.trim().is_empty() {
        return Ok(DefaultConstraints::default());
    }
    let remedy = "write the scheduler's defaultConstraints as JSON: \
        [{\"maxSkew\": 1, \"topologyKey\": \"topology.kubernetes.io/zone\", \"whenUnsatisfiable\": \"DoNotSchedule\"}]";
    let list = serde_json::from_str(text).map_err(|error| format!("{error}; {remedy}"))?;
    joiner_map::read::default_constraints(&list)
        .map(DefaultConstraints)
        .map_err(|error| format!("{}: {}; {remedy}", error.path(), error.inner()))
}

/// A duration as Go writes it: `10s`, `1m30s`, `200ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<jiff::SignedDuration>()
        .ok()
        .and_then(|duration| Duration::try_from(duration).ok())
        .ok_or_else(|| format!("\"{text}\" is not a duration: write it like \"10s\", \"1m30s\" or \"200ms\""))
}

/// A refresh interval; AWS is asked at most once a minute.
pub(super) fn at_least_a_minute(text: &str) -> Result<Duration, String> {
    let interval = duration(text)?;
    if interval < Duration::from_secs(60) {
        return Err(format!(
            "\"{text}\" is shorter than a minute: use at least \"1m\""
        ));
    }
    Ok(interval)
}

/// A share between 0 and 1 with four decimals, in ten-thousandths: `0.075` is 750.
pub(super) fn ratio(text: &str) -> Result<u32, String> {
    let wrong = || {
        format!(
            "\"{text}\" is not a share: write a number from 0 to 1 with at most four decimals, like \"0.075\""
        )
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 4 || !part.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong());
    }
    let whole: u32 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| wrong())?
    };
    let part: u32 = format!("{part:0<4}").parse().map_err(|_| wrong())?;
    match whole.checked_mul(10_000).and_then(|tens| tens.checked_add(part)) {
        Some(value) if value <= 10_000 => Ok(value),
        _ => Err(wrong()),
    }
}

/// Yes or no as Go's `strconv.ParseBool` reads it.
pub(super) fn boolish(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("\"{text}\" is neither true nor false")),
    }
}
