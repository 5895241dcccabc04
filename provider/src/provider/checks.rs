//! How seriously a plan takes what it finds beyond the rules of the API.

use super::data::Joiner;
use super::settings::ChecksSettings;
use std::time::Duration;
use tfplugin::validate::parse_duration;
use tfplugin::{Configured, Context};

/// What becomes of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// It is an error, and the plan fails.
    Error,
    /// It is a warning.
    Warning,
    /// It is not looked for.
    Off,
}

impl Level {
    /// The words for the levels.
    pub(super) const WORDS: [&'static str; 3] = ["error", "warning", "off"];

    fn parse(word: Option<&str>, otherwise: Self) -> Self {
        match word {
            Some("error") => Self::Error,
            Some("warning") => Self::Warning,
            Some("off") => Self::Off,
            _ => otherwise,
        }
    }
}

/// How long something may take that takes time.
pub(super) fn time(text: &str) -> Result<(), String> {
    match parse_duration(text)?.is_zero() {
        true => Err(format!(
            "{text:?} is no time in which anything can be found out: expected one above zero, such as \"5s\". To leave the forecast out, \
             set forecast = \"off\"."
        )),
        false => Ok(()),
    }
}

/// The levels of the kinds of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checks {
    /// What the built-in catalogue and the controller's own judgement tell.
    pub catalogue: Level,
    /// What the account tells.
    pub account: Level,
    /// What the cluster tells.
    pub cluster: Level,
    /// What the installed definitions tell.
    pub controller: Level,
    /// What a change does to nodes that run.
    pub forecast: Level,
    /// How long that may take to find out.
    pub forecast_timeout: Duration,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            catalogue: Level::Error,
            account: Level::Warning,
            cluster: Level::Off,
            controller: Level::Error,
            forecast: Level::Warning,
            forecast_timeout: Duration::from_secs(5),
        }
    }
}

impl Checks {
    /// Those that the block sets; the others have their defaults.
    pub(super) fn of(settings: Option<&ChecksSettings>) -> Self {
        let otherwise = Self::default();
        let Some(ChecksSettings {
            catalogue,
            account,
            cluster,
            controller,
            forecast,
            forecast_timeout,
        }) = settings
        else {
            return otherwise;
        };
        Self {
            catalogue: Level::parse(catalogue.as_str(), otherwise.catalogue),
            account: Level::parse(account.as_str(), otherwise.account),
            cluster: Level::parse(cluster.as_str(), otherwise.cluster),
            controller: Level::parse(controller.as_str(), otherwise.controller),
            forecast: Level::parse(forecast.as_str(), otherwise.forecast),
            forecast_timeout: forecast_timeout
                .as_str()
                .and_then(|text| parse_duration(text).ok())
                .unwrap_or(otherwise.forecast_timeout),
        }
    }

    /// Those of the provider; the defaults while it is not configured.
    pub(crate) fn in_context(ctx: &Context<Joiner>) -> Self {
        match ctx.provider() {
            Configured::Ready(data) => data.checks,
            Configured::UnknownUntilApply | Configured::Unconfigured => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_nothing_is_refused() {
        for text in ["0", "0s", "0h0m"] {
            let problem = time(text).expect_err(text);
            assert!(
                problem.contains(text) && problem.contains("above zero") && problem.contains("off"),
                "{problem}"
            );
        }
        assert!(time("soon").is_err());
        assert_eq!(time("1ns"), Ok(()));
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        let settings = ChecksSettings {
            catalogue: "warning".into(),
            ..ChecksSettings::default()
        };
        let checks = Checks::of(Some(&settings));
        assert_eq!(
            (checks.catalogue, checks.account),
            (Level::Warning, Level::Warning)
        );
        assert_eq!(Checks::of(None), Checks::default());
    }
}
