//! How seriously a plan takes what it finds beyond the rules of the API.

use super::data::Joiner;
use super::settings::ChecksSettings;
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

/// The levels of the kinds of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checks {
    /// What the built-in catalogue and the controller's own judgement tell.
    pub catalogue: Level,
    /// What the account tells.
    pub account: Level,
    /// What the cluster tells.
    pub cluster: Level,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            catalogue: Level::Error,
            account: Level::Warning,
            cluster: Level::Off,
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
        }) = settings
        else {
            return otherwise;
        };
        Self {
            catalogue: Level::parse(catalogue.as_str(), otherwise.catalogue),
            account: Level::parse(account.as_str(), otherwise.account),
            cluster: Level::parse(cluster.as_str(), otherwise.cluster),
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
