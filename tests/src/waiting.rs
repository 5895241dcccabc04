//! Waiting for the real parts, which settle in their own time.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Calls `look` until it answers `Ok(value)`; its `Err` is why it is not there yet, and the text of the failure when
/// `patience` has run out.
///
/// # Errors
/// `what`, the patience and the last reason.
pub async fn eventually<T, F>(what: &str, patience: Duration, mut look: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let begin = Instant::now();
    loop {
        match look().await {
            Ok(value) => return Ok(value),
            Err(reason) if begin.elapsed() > patience => {
                bail!("{what}: not after {} s: {reason:#}", patience.as_secs())
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
