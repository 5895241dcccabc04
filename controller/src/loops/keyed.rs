//! Runs a step for each name that was touched: never two of one name at a time, and again when it was touched meanwhile, when
//! its own wake has come, or, with growing pauses, when it failed.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use jiff::{SignedDuration, Timestamp};
use joiner_core::text::Text;
use tracing::{debug, error};

use crate::act::Failed;
use crate::observe::Bell;

const FIRST_PAUSE: SignedDuration = SignedDuration::from_millis(250);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(1);

/// What a step says: when to look at this name again, if nothing touches it before.
pub(super) type Done = Result<Option<Timestamp>, Failed>;

/// Runs for ever.
pub(super) async fn run<F, Fut>(name: &'static str, bell: &Bell, step: F)
where
    F: Fn(Text) -> Fut,
    Fut: Future<Output = Done>,
{
    let mut running = FuturesUnordered::new();
    let mut plan = Plan::default();
    loop {
        for key in plan.start(Timestamp::now()) {
            let work = step(key.clone());
            running.push(async move { (key, work.await) });
        }
        let pause = plan.pause(Timestamp::now());
        tokio::select! {
            _ = bell.heard() => plan.touch(bell.take()),
            Some((key, done)) = running.next(), if !running.is_empty() => {
                match &done {
                    Ok(_) => {}
                    Err(Failed::Conflict { .. } | Failed::NotFound { .. }) => {
                        debug!(controller = name, key = %key, "object has changed, deciding again");
                    }
                    Err(failed) => error!(controller = name, key = %key, error = %failed.chain(), "step failed, trying again"),
                }
                plan.done(key, done.map_err(drop), Timestamp::now());
            }
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Who runs, who is to run, and when.
#[derive(Debug, Default)]
struct Plan {
    touched: BTreeSet<Text>,
    busy: BTreeSet<Text>,
    wakes: BTreeMap<Text, Timestamp>,
    failures: BTreeMap<Text, u32>,
}

impl Plan {
    fn touch(&mut self, names: BTreeSet<Text>) {
        self.touched.extend(names);
    }

    /// The names to start now; they count as running from here on.
    fn start(&mut self, now: Timestamp) -> Vec<Text> {
        let due = self
            .wakes
            .iter()
            .filter(|(_, wake)| **wake <= now)
            .map(|(name, _)| name.clone());
        self.touched.extend(due);
        let free: Vec<Text> = self
            .touched
            .iter()
            .filter(|name| !self.busy.contains(*name))
            .cloned()
            .collect();
        for name in &free {
            self.touched.remove(name);
            self.wakes.remove(name);
            self.busy.insert(name.clone());
        }
        free
    }

    fn done(&mut self, name: Text, done: Result<Option<Timestamp>, ()>, now: Timestamp) {
        self.busy.remove(&name);
        let wake = match done {
            Ok(wake) => {
                self.failures.remove(&name);
                wake
            }
            Err(()) => {
                let failures = self.failures.entry(name.clone()).or_default();
                let pause = FIRST_PAUSE
                    .saturating_mul(1 << (*failures).min(8))
                    .min(LONGEST_PAUSE);
                *failures += 1;
                Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX))
            }
        };
        if let Some(wake) = wake {
            self.wakes.insert(name, wake);
        }
    }

    /// How long nothing is due.
    fn pause(&self, now: Timestamp) -> Duration {
        let next = self
            .wakes
            .values()
            .min()
            .map(|wake| wake.duration_since(now).max(SignedDuration::ZERO));
        next.map_or(Duration::from_secs(3600), |pause| pause.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + millis).unwrap()
    }

    fn touched(plan: &mut Plan, name: &str) {
        plan.touch(BTreeSet::from([Text::from(name)]));
    }

    #[test]
    fn one_name_never_runs_twice_at_a_time() {
        let mut plan = Plan::default();
        touched(&mut plan, "a");
        assert_eq!(plan.start(at(0)), ["a".into()]);
        touched(&mut plan, "a");
        assert!(plan.start(at(1)).is_empty(), "still running");
        plan.done("a".into(), Ok(None), at(2));
        assert_eq!(plan.start(at(2)), ["a".into()], "touched meanwhile");
        plan.done("a".into(), Ok(None), at(3));
        assert!(plan.start(at(3)).is_empty());
    }

    #[test]
    fn wakes_come_when_asked_for_and_failures_with_growing_pauses() {
        let mut plan = Plan::default();
        touched(&mut plan, "a");
        plan.start(at(0));
        plan.done("a".into(), Ok(Some(at(100))), at(0));
        assert_eq!(plan.pause(at(40)), Duration::from_millis(60));
        assert!(plan.start(at(99)).is_empty());
        let mut now = 100;
        for pause in [250, 500, 1000, 2000] {
            assert_eq!(plan.start(at(now)), ["a".into()]);
            plan.done("a".into(), Err(()), at(now));
            assert_eq!(plan.pause(at(now)), Duration::from_millis(pause));
            now += i64::try_from(pause).unwrap();
        }
        plan.start(at(now));
        plan.done("a".into(), Ok(None), at(now));
        assert!(plan.failures.is_empty() && plan.wakes.is_empty());
    }
}
