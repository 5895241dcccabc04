//! Removing a release: by Helm, and then until its objects have ended.
//!
//! Helm's own wait for that may end too early: on a busy machine it counts what it has not seen yet as gone, and then answers
//! either that all went well or that an object "still exists". So the objects are looked at here, whatever Helm says of them.

use super::steps::Run;
use crate::cluster::{ClusterError, Ended, Pace, Waiting};
use crate::helm::{HelmError, Uninstall, leaving, rendered};
use serde_json::Value;
use std::time::Duration;

impl Run<'_> {
    /// Removes the release and waits until its objects are gone, for up to `timeout`.
    pub(super) async fn uninstall(&self, timeout: Duration) -> Result<(), HelmError> {
        let storage = self.storage().await?;
        // What cannot be read of a release is no reason to keep it.
        let objects = match storage.newest().await? {
            Some(record) => rendered(&record).unwrap_or_default(),
            None => Vec::new(),
        };
        let waiting = Waiting::new(Pace::QUICK, timeout, self.cancel);
        let uninstall = Uninstall {
            name: self.name().to_owned(),
            namespace: self.namespace().to_owned(),
            timeout,
        };
        if let Err(error) = self.helm(&uninstall.args()).await {
            let about_the_wait =
                matches!(&error, HelmError::Failed { message, .. } if is_about_the_wait(message));
            if !about_the_wait || storage.newest().await?.is_some() {
                return Err(error);
            }
        }
        self.until_gone(&objects, waiting).await
    }

    async fn until_gone(&self, objects: &[Value], mut waiting: Waiting<'_>) -> Result<(), HelmError> {
        loop {
            let look = leaving(self.cluster, self.namespace(), objects);
            let left = match waiting.probe(look).await {
                Ok(Ok(left)) if left.is_empty() => return Ok(()),
                Ok(Ok(left)) => left,
                Ok(Err(HelmError::Cluster(error))) if error.is_transient() => vec![error.to_string()],
                Ok(Err(error)) => return Err(error),
                Err(Ended::TimedOut) => {
                    vec![ClusterError::silence(self.cluster.label(), waiting.limit()).to_string()]
                }
                Err(Ended::Cancelled) => return Err(stopped()),
            };
            tracing::debug!(?left, "waiting for the end of a release's objects");
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::Cancelled) => return Err(stopped()),
                Err(Ended::TimedOut) => {
                    return Err(HelmError::Leaving {
                        name: self.name().to_owned(),
                        waited: waiting.limit(),
                        objects: left,
                    });
                }
            }
        }
    }
}

fn stopped() -> HelmError {
    HelmError::Cancelled {
        verb: "uninstall".to_owned(),
    }
}

/// Whether Helm complains of nothing but its wait for the end of objects. It has forgotten the release then.
fn is_about_the_wait(message: &str) -> bool {
    message.contains("completed with 1 error(s)")
        && (message.contains("still exists") || message.contains("context deadline exceeded"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wait_is_made_up_for() {
        for (message, want) in [
            (
                "uninstallation completed with 1 error(s): resource Deployment/n/r still exists. status: Terminating, message: Resource \
                 scheduled for deletion",
                true,
            ),
            (
                "uninstallation completed with 1 error(s): context deadline exceeded",
                true,
            ),
            (
                "uninstallation completed with 2 error(s): resource Deployment/n/r still exists; hook failed",
                false,
            ),
            (
                "uninstallation completed with 1 error(s): job r-hook failed",
                false,
            ),
            ("failed to delete release: r", false),
        ] {
            assert_eq!(is_about_the_wait(message), want, "{message}");
        }
    }
}
