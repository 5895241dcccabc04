//! How long a container waits before it is started again. Pure.
//!
//! As a kubelet does that has the gate `ReduceDefaultCrashLoopBackOffDecay`: the first restart is at once, then 1 s, doubling up to a
//! minute; a run of 10 minutes starts anew.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
const GOOD_RUN: Duration = Duration::from_secs(600);

/// The waits of one container.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    /// The wait after a run that lasted `ran`.
    pub(super) fn after(&mut self, ran: Duration) -> Duration {
        if ran >= GOOD_RUN {
            self.next = Duration::ZERO;
        }
        let wait = self.next;
        self.next = if wait.is_zero() {
            FIRST
        } else {
            (wait * 2).min(LONGEST)
        };
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_a_good_run_resets_them() {
        let mut backoff = Backoff::default();
        let short = Duration::from_secs(1);
        let waits: Vec<u64> = (0..8).map(|_| backoff.after(short).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60]);
        assert_eq!(backoff.after(Duration::from_secs(601)), Duration::ZERO);
        assert_eq!(backoff.after(short), FIRST);
    }
}
