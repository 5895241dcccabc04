//! Leadership: at most one replica acts.
//!
//! Input: the lease object; output: "you lead" once, then an error when leadership is lost, upon which the process ends (as
//! client-go does), so that nothing half-done goes on. The decision is pure; time in it is this machine's, for clocks of two
//! machines differ: a lease is dead when *we* have not seen it renewed for its whole duration.

mod driver;

pub(crate) use driver::{Identity, Leadership};

use jiff::{SignedDuration, Timestamp};

/// How long a lease holds without renewal. Karpenter's value, as are the next two.
pub(crate) const DURATION: SignedDuration = SignedDuration::from_secs(15);
/// How long the leader tries to renew before it gives up leadership.
pub(crate) const RENEW_DEADLINE: SignedDuration = SignedDuration::from_secs(10);
/// Pause between two tries.
pub(crate) const RETRY: SignedDuration = SignedDuration::from_secs(2);

/// What a lease said, and since when it has said exactly that, by this machine's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observed {
    /// Who holds it; empty: released.
    pub holder: String,
    /// How long it holds without renewal.
    pub duration: SignedDuration,
    /// How often it has changed hands.
    pub transitions: i32,
    /// When this process first saw the record in this form.
    pub since: Timestamp,
}

/// What to do about a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Take it; it has then changed hands so many times.
    Acquire { transitions: i32 },
    /// It is ours: renew it.
    Renew { transitions: i32 },
    /// Somebody else leads; look again at this time at the latest.
    Yield { until: Timestamp },
}

/// Decides for candidate `me` at `now`. No lease at all (`None`) is there to be taken.
pub(crate) fn evaluate(lease: Option<&Observed>, me: &str, now: Timestamp) -> Verdict {
    let Some(lease) = lease else {
        return Verdict::Acquire { transitions: 0 };
    };
    if lease.holder == me {
        return Verdict::Renew {
            transitions: lease.transitions,
        };
    }
    let dies = lease
        .since
        .saturating_add(lease.duration)
        .unwrap_or(Timestamp::MAX);
    if lease.holder.is_empty() || dies <= now {
        return Verdict::Acquire {
            transitions: lease.transitions.saturating_add(1),
        };
    }
    Verdict::Yield { until: dies }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn lease(holder: &str, since: i64) -> Observed {
        Observed {
            holder: holder.to_owned(),
            duration: DURATION,
            transitions: 4,
            since: at(since),
        }
    }

    #[test]
    fn verdicts() {
        for (name, lease, now, want) in [
            ("no lease", None, 0, Verdict::Acquire { transitions: 0 }),
            (
                "released",
                Some(lease("", 0)),
                0,
                Verdict::Acquire { transitions: 5 },
            ),
            ("ours", Some(lease("me", 0)), 5, Verdict::Renew { transitions: 4 }),
            (
                "ours, long not renewed",
                Some(lease("me", 0)),
                500,
                Verdict::Renew { transitions: 4 },
            ),
            (
                "theirs, fresh",
                Some(lease("you", 10)),
                12,
                Verdict::Yield { until: at(25) },
            ),
            (
                "theirs, the last second",
                Some(lease("you", 10)),
                24,
                Verdict::Yield { until: at(25) },
            ),
            (
                "theirs, dead",
                Some(lease("you", 10)),
                25,
                Verdict::Acquire { transitions: 5 },
            ),
        ] {
            assert_eq!(evaluate(lease.as_ref(), "me", at(now)), want, "{name}");
        }
    }

    #[test]
    fn two_candidates_never_both_hold_a_fresh_lease() {
        for now in 0..40 {
            let seen = lease("you", 0);
            let mine = evaluate(Some(&seen), "me", at(now));
            let yours = evaluate(Some(&seen), "you", at(now));
            let fresh = now < DURATION.as_secs();
            assert!(matches!(yours, Verdict::Renew { .. }));
            assert_eq!(matches!(mine, Verdict::Yield { .. }), fresh, "second {now}");
        }
    }
}
