//! Waiting for something in a cluster: probing with a deadline, a pace and a cancellation.
//!
//! Invariant: a cluster that does not answer holds nobody beyond the deadline.

use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a wait ended before what it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The deadline passed.
    TimedOut,
    /// The core asked to stop.
    Cancelled,
}

/// Time between two probes: starts at `first` and doubles up to `most`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Before the second probe.
    pub first: Duration,
    /// Never longer than this.
    pub most: Duration,
}

impl Pace {
    /// For what is done within seconds.
    pub(crate) const QUICK: Self = Self {
        first: Duration::from_millis(100),
        most: Duration::from_secs(1),
    };
    /// For what takes minutes.
    pub(crate) const SLOW: Self = Self {
        first: Duration::from_millis(250),
        most: Duration::from_secs(3),
    };
}

/// What a probe gets at least, however near the deadline is.
const LEAST: Duration = Duration::from_secs(2);

/// One wait: probe, [pause](Waiting::pause), probe again, until a pause says that it has ended. At least one probe is made.
pub(crate) struct Waiting<'a> {
    limit: Duration,
    deadline: Instant,
    pause: Duration,
    most: Duration,
    cancel: &'a CancellationToken,
}

impl<'a> Waiting<'a> {
    /// A wait of at most `limit`, from now on.
    pub(crate) fn new(pace: Pace, limit: Duration, cancel: &'a CancellationToken) -> Self {
        Self {
            limit,
            deadline: Instant::now() + limit,
            pause: pace.first,
            most: pace.most,
            cancel,
        }
    }

    /// The whole of it.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Runs a probe that may be dropped half-way, such as a read; `Err` when the core asked to stop meanwhile, or the deadline
    /// passed before the answer.
    pub(crate) async fn probe<T>(&self, probe: impl Future<Output = T>) -> Result<T, Ended> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::Cancelled),
            answer = self.finish(probe) => answer,
        }
    }

    /// Runs what should not be dropped half-way, such as a write: a request to stop does not end it, only the deadline does.
    pub(crate) async fn finish<T>(&self, work: impl Future<Output = T>) -> Result<T, Ended> {
        let until = self.deadline.max(Instant::now() + LEAST);
        tokio::time::timeout_at(until, work)
            .await
            .map_err(|_| Ended::TimedOut)
    }

    /// Waits until the next probe is due; `Err` when there is to be none.
    pub(crate) async fn pause(&mut self) -> Result<(), Ended> {
        if self.cancel.is_cancelled() {
            return Err(Ended::Cancelled);
        }
        if Instant::now() + self.pause > self.deadline {
            return Err(Ended::TimedOut);
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Ended::Cancelled),
            () = tokio::time::sleep(self.pause) => {}
        }
        self.pause = (self.pause * 2).min(self.most);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PAUSE: Pace = Pace {
        first: Duration::ZERO,
        most: Duration::ZERO,
    };

    #[tokio::test]
    async fn a_wait_ends_by_time_or_by_request() {
        let cancel = CancellationToken::new();
        let mut waiting = Waiting::new(NO_PAUSE, Duration::from_secs(9), &cancel);
        assert_eq!(waiting.probe(async { 1 }).await, Ok(1));
        assert_eq!(waiting.pause().await, Ok(()));
        assert_eq!(
            Waiting::new(Pace::SLOW, Duration::ZERO, &cancel).pause().await,
            Err(Ended::TimedOut)
        );
        assert_eq!(
            Waiting::new(Pace::SLOW, Duration::ZERO, &cancel)
                .probe(async { 2 })
                .await,
            Ok(2),
            "one probe is made whatever the limit"
        );
        cancel.cancel();
        assert_eq!(waiting.finish(async { 3 }).await, Ok(3), "a write is finished");
        assert_eq!(waiting.pause().await, Err(Ended::Cancelled));
        assert_eq!(
            waiting.probe(std::future::pending::<()>()).await,
            Err(Ended::Cancelled)
        );
    }
}
