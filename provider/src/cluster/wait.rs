//! Waiting for something in a cluster: polling with a deadline, a pace and a cancellation.

use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// The probe said so.
    Done(T),
    /// The deadline passed first.
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
    pub(crate) const QUICK: Self = Self { first: Duration::from_millis(100), most: Duration::from_secs(1) };
    /// For what takes minutes.
    pub(crate) const SLOW: Self = Self { first: Duration::from_millis(250), most: Duration::from_secs(3) };
}

/// Calls `probe` until it answers `Some`, `limit` has passed or `cancel` fires. The probe always runs at least once.
pub(crate) async fn poll<T, E>(
    pace: Pace,
    limit: Duration,
    cancel: &CancellationToken,
    mut probe: impl AsyncFnMut() -> Result<Option<T>, E>,
) -> Result<Waited<T>, E> {
    let deadline = Instant::now() + limit;
    let mut pause = pace.first;
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Waited::Cancelled),
            answer = probe() => {
                if let Some(done) = answer? {
                    return Ok(Waited::Done(done));
                }
            }
        }
        if Instant::now() + pause > deadline {
            return Ok(Waited::TimedOut);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Waited::Cancelled),
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(pace.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PAUSE: Pace = Pace { first: Duration::ZERO, most: Duration::ZERO };

    async fn run(limit: Duration, cancel: &CancellationToken, done_at: u32) -> Waited<u32> {
        let mut calls = 0;
        let probe = async || {
            calls += 1;
            Ok::<_, ()>((calls == done_at).then_some(calls))
        };
        poll(NO_PAUSE, limit, cancel, probe).await.expect("the probe does not fail")
    }

    #[tokio::test]
    async fn a_wait_ends_in_one_of_three_ways() {
        let cancel = CancellationToken::new();
        assert_eq!(run(Duration::from_secs(9), &cancel, 3).await, Waited::Done(3));
        assert_eq!(
            poll(Pace::SLOW, Duration::ZERO, &cancel, async || Ok::<Option<()>, ()>(None)).await,
            Ok(Waited::TimedOut)
        );
        cancel.cancel();
        assert_eq!(run(Duration::from_secs(9), &cancel, 1).await, Waited::Cancelled);
    }
}
