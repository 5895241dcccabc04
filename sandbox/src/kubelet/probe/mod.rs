//! Probes: when a container counts as started, ready or broken.
//!
//! [`Tracker`] is the pure part (answers in, verdicts out), `ask` makes the calls, `run` keeps the time.

mod ask;
mod run;

pub(super) use ask::Target;
pub(super) use run::{Verdict, spawn};

use std::time::Duration;

use k8s_openapi::api::core::v1::Probe;

/// A probe's times and thresholds, with Kubernetes' defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    delay: Duration,
    period: Duration,
    patience: Duration,
    successes: u32,
    failures: u32,
}

impl Settings {
    /// Reads them from a probe.
    pub(super) fn of(probe: &Probe) -> Self {
        let seconds = |value: Option<i32>, default: u64| {
            Duration::from_secs(
                value
                    .and_then(|value| u64::try_from(value).ok())
                    .unwrap_or(default),
            )
        };
        let count = |value: Option<i32>, default: u32| {
            value
                .and_then(|value| u32::try_from(value).ok())
                .unwrap_or(default)
                .max(1)
        };
        Self {
            delay: seconds(probe.initial_delay_seconds, 0),
            period: seconds(probe.period_seconds, 10).max(Duration::from_secs(1)),
            patience: seconds(probe.timeout_seconds, 1).max(Duration::from_secs(1)),
            successes: count(probe.success_threshold, 1),
            failures: count(probe.failure_threshold, 3),
        }
    }
}

/// Counts equal answers in a row until they make a verdict.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracker {
    successes: u32,
    failures: u32,
    last: Option<bool>,
    streak: u32,
    verdict: Option<bool>,
}

impl Tracker {
    /// No answer yet, no verdict yet.
    pub(super) fn new(settings: &Settings) -> Self {
        let Settings {
            successes, failures, ..
        } = *settings;
        Self {
            successes,
            failures,
            last: None,
            streak: 0,
            verdict: None,
        }
    }

    /// Takes an answer; a verdict when it is a new one. A failure below the threshold is no verdict.
    pub(super) fn observe(&mut self, good: bool) -> Option<bool> {
        self.streak = if self.last == Some(good) {
            self.streak + 1
        } else {
            1
        };
        self.last = Some(good);
        let threshold = if good { self.successes } else { self.failures };
        if self.streak < threshold || self.verdict == Some(good) {
            return None;
        }
        self.verdict = Some(good);
        Some(good)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_come_at_the_thresholds_and_once() {
        let probe = Probe {
            success_threshold: Some(2),
            failure_threshold: Some(3),
            ..Probe::default()
        };
        let mut tracker = Tracker::new(&Settings::of(&probe));
        let (yes, no) = (true, false);
        let answers = [no, yes, yes, yes, no, no, yes, no, no, no, no, yes, yes];
        let verdicts: Vec<Option<bool>> = answers.iter().map(|answer| tracker.observe(*answer)).collect();
        let mut want = vec![None; 13];
        want[2] = Some(true);
        want[9] = Some(false);
        want[12] = Some(true);
        assert_eq!(verdicts, want);
    }

    #[test]
    fn defaults_are_those_of_kubernetes() {
        let settings = Settings::of(&Probe::default());
        assert_eq!(settings.period, Duration::from_secs(10));
        assert_eq!((settings.successes, settings.failures), (1, 3));
        assert_eq!(settings.patience, Duration::from_secs(1));
    }
}
