//! Keeping a probe's time.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::{Settings, Target, Tracker};
use crate::process::spawn::Spawner;

/// Until its first success a probe asks this often, so that a container is not seen late; only the questions at the
/// period's beat count as failures.
const EAGER: Duration = Duration::from_millis(100);

/// What a probe found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kubelet) enum Verdict {
    /// The threshold of successes was reached.
    Good,
    /// The threshold of failures was reached.
    Bad {
        /// The last answer.
        reason: String,
    },
}

/// Asks until `stop`; each verdict goes through `make` into `verdicts`.
pub(in crate::kubelet) fn spawn<T: Send + 'static>(
    spawner: Spawner,
    settings: Settings,
    target: Target,
    stop: CancellationToken,
    verdicts: mpsc::Sender<T>,
    make: impl Fn(Verdict) -> T + Send + Sync + 'static,
) {
    tokio::spawn(async move {
        let work = async {
            tokio::time::sleep(settings.delay).await;
            let mut tracker = Tracker::new(&settings);
            let mut seen_good = false;
            let mut beat = tokio::time::interval(settings.period);
            beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                let next = beat.tick().await + settings.period;
                let mut answer = target.ask(&spawner, settings.patience).await;
                while !seen_good && answer.is_err() && Instant::now() + EAGER < next {
                    tokio::time::sleep(EAGER).await;
                    answer = target.ask(&spawner, settings.patience).await;
                }
                seen_good |= answer.is_ok();
                if tracker.observe(answer.is_ok()).is_some() {
                    let verdict = match answer {
                        Ok(()) => Verdict::Good,
                        Err(reason) => Verdict::Bad { reason },
                    };
                    if verdicts.send(make(verdict)).await.is_err() {
                        return;
                    }
                }
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = work => {}
        }
    });
}
