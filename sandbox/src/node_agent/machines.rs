//! Which machines there are, and what a change of an instance means for its node. Pure.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::feed::Instance;

/// The instances that have booted or do so.
#[derive(Debug, Default)]
pub(super) struct Machines {
    booted: BTreeSet<String>,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Nothing,
    Boot,
    Remove,
}

impl Machines {
    /// Takes a change. Instances of other clusters are none of this agent's business.
    pub(super) fn take(&mut self, instance: &Instance, cluster: &str) -> Action {
        if instance.cluster.as_deref().is_some_and(|name| name != cluster) {
            return Action::Nothing;
        }
        match instance.state.as_str() {
            "pending" | "running" if self.booted.insert(instance.id.clone()) => Action::Boot,
            "terminated" | "shutting-down" if self.booted.remove(&instance.id) => Action::Remove,
            _ => Action::Nothing,
        }
    }
}

/// What is left of the boot time at `now`; all of it when the launch time cannot be read.
pub(super) fn remaining(boot_time: Duration, launched: &str, now: Timestamp) -> Duration {
    let since = launched
        .parse::<Timestamp>()
        .map(|launched| now.duration_since(launched));
    let since = since
        .ok()
        .and_then(|since| Duration::try_from(since).ok())
        .unwrap_or_default();
    boot_time.saturating_sub(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_boots_once_and_goes_once() {
        let mut machines = Machines::default();
        let mut take = |id: &str, state: &str, cluster: Option<&str>| {
            let instance = Instance {
                id: id.into(),
                state: state.into(),
                cluster: cluster.map(str::to_owned),
                ..Instance::default()
            };
            machines.take(&instance, "c")
        };
        for (id, state, cluster, want) in [
            ("i-1", "pending", Some("c"), Action::Boot),
            ("i-1", "running", Some("c"), Action::Nothing),
            ("i-2", "running", Some("other"), Action::Nothing),
            ("i-3", "terminated", Some("c"), Action::Nothing),
            ("i-1", "shutting-down", Some("c"), Action::Remove),
            ("i-1", "terminated", Some("c"), Action::Nothing),
            ("i-4", "running", None, Action::Boot),
        ] {
            assert_eq!(take(id, state, cluster), want, "{id} {state}");
        }
    }

    #[test]
    fn only_the_rest_of_the_boot_time_is_waited() {
        let now = "2026-01-01T00:00:02Z".parse().unwrap();
        let five = Duration::from_secs(5);
        for (launched, want) in [
            ("2026-01-01T00:00:00Z", 3),
            ("2025-12-31T00:00:00Z", 0),
            ("2026-01-01T00:00:09Z", 5),
            ("?", 5),
        ] {
            assert_eq!(remaining(five, launched, now).as_secs(), want, "{launched}");
        }
        assert_eq!(remaining(Duration::ZERO, "?", now), Duration::ZERO);
    }
}
