//! What to do about a release that is already there when one is to be created.

use super::Status;
use std::time::Duration;

/// A release found under the name that is to be created.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// State of its newest revision.
    pub status: Status,
    /// Number of that revision.
    pub revision: u32,
    /// Whether our provider made that revision, with what is asked for now.
    pub ours: bool,
    /// Whether the process that worked on it is known to have ended; `None` when that cannot be known.
    pub worker_ended: Option<bool>,
    /// Time since that revision was last worked on.
    pub age: Duration,
}

/// The way on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Takeover {
    /// Nothing in the way: install.
    Install,
    /// Helm itself can go on from there: upgrade, and say why.
    Continue { explanation: String },
    /// Mark the newest revision as failed first, for Helm refuses to touch a pending one; then upgrade, and say why.
    Release { explanation: String },
    /// Someone may be working on it: look again later.
    Wait { explanation: String },
    /// It is someone else's.
    Refuse { explanation: String },
}

/// How long an unfinished operation of unknown state is believed to be alive.
pub(crate) const STALE_AFTER: Duration = Duration::from_secs(10 * 60);
/// How long the orphaned Helm of an ended provider may still run.
pub(crate) const ORPHAN_GRACE: Duration = Duration::from_secs(5);

/// Decides about `found`. `adopt`: take a working release over, too.
pub(crate) fn decide(name: &str, found: Option<&Found>, adopt: Adopt) -> Takeover {
    let Some(found) = found else {
        return Takeover::Install;
    };
    let Found {
        status,
        revision,
        ours,
        worker_ended,
        age,
    } = found;
    match status {
        Status::Uninstalled => Takeover::Install,
        Status::Failed | Status::Unknown => Takeover::Continue {
            explanation: format!(
                "release {name} was there already, left {status} at revision {revision}; it was taken over and upgraded"
            ),
        },
        Status::Deployed | Status::Superseded if *ours || adopt == Adopt::Yes => Takeover::Continue {
            explanation: format!(
                "release {name} was there already at revision {revision}; it was taken over and upgraded"
            ),
        },
        Status::Deployed | Status::Superseded => Takeover::Refuse {
            explanation: format!(
                "release {name} exists already and works (revision {revision}), and is not in this state. Import it (ID: NAMESPACE/{name}), \
                 or set adopt = true to take it over"
            ),
        },
        Status::PendingInstall | Status::PendingUpgrade | Status::PendingRollback | Status::Uninstalling => {
            let abandoned = match worker_ended {
                Some(true) => *age >= ORPHAN_GRACE,
                Some(false) => false,
                None => *age >= STALE_AFTER,
            };
            let minutes = age.as_secs() / 60;
            if abandoned {
                Takeover::Release {
                    explanation: format!(
                        "release {name} was left {status} at revision {revision} by a run that ended before Helm did; \
                         that revision was marked as failed and the release upgraded from there"
                    ),
                }
            } else {
                Takeover::Wait {
                    explanation: format!(
                        "release {name} is {status} at revision {revision} since {minutes} min, and the process that works on it may be alive"
                    ),
                }
            }
        }
    }
}

/// Whether a working release that is not in the state may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adopt {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_way_on() {
        let found = |status, ours, worker_ended, seconds| {
            Some(Found {
                status,
                revision: 2,
                ours,
                worker_ended,
                age: Duration::from_secs(seconds),
            })
        };
        let word = |takeover: &Takeover| match takeover {
            Takeover::Install => "install",
            Takeover::Continue { .. } => "continue",
            Takeover::Release { .. } => "release",
            Takeover::Wait { .. } => "wait",
            Takeover::Refuse { .. } => "refuse",
        };
        for (found, adopt, want) in [
            (None, Adopt::No, "install"),
            (found(Status::Uninstalled, false, None, 0), Adopt::No, "install"),
            (found(Status::Failed, false, None, 0), Adopt::No, "continue"),
            (found(Status::Deployed, false, None, 0), Adopt::No, "refuse"),
            (found(Status::Deployed, false, None, 0), Adopt::Yes, "continue"),
            (found(Status::Deployed, true, None, 0), Adopt::No, "continue"),
            (
                found(Status::PendingInstall, true, Some(true), 6),
                Adopt::No,
                "release",
            ),
            (
                found(Status::PendingInstall, true, Some(true), 1),
                Adopt::No,
                "wait",
            ),
            (
                found(Status::PendingInstall, true, Some(false), 9999),
                Adopt::No,
                "wait",
            ),
            (found(Status::PendingUpgrade, false, None, 30), Adopt::No, "wait"),
            (
                found(Status::PendingUpgrade, false, None, 601),
                Adopt::No,
                "release",
            ),
            (
                found(Status::Uninstalling, false, None, 601),
                Adopt::No,
                "release",
            ),
        ] {
            let decided = decide("r", found.as_ref(), adopt);
            assert_eq!(word(&decided), want, "{found:?} {adopt:?}");
        }
    }
}
