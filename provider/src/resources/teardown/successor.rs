//! Which cluster of its name a barrier stands before: a cluster that is replaced leaves its name to the next one.

use crate::provider::Joiner;
use jiff::Timestamp;
use joiner_aws::{Error, eks};
use tfplugin::{Diagnostics, Private};

/// Under which key the private state has when the cluster was made.
const CREATED: &str = "cluster_created";

/// Keeps in mind when the cluster was made that has the name now. What was known before stays while EKS tells nothing else.
pub(super) async fn note(data: &Joiner, name: &str, private: &mut Private) -> Result<(), Diagnostics> {
    match created(data, name).await {
        Some(created) => private.set(CREATED, &created),
        None => Ok(()),
    }
}

/// Forgets which cluster it was.
pub(super) fn forget(private: &mut Private) {
    private.remove(CREATED);
}

/// When the cluster was made that has taken the place of the one that the barrier stands before; `None` while that has its name, and where
/// it is not known.
pub(super) async fn find(data: &Joiner, name: &str, private: &Private) -> Option<Timestamp> {
    let known: Timestamp = private.get(CREATED)?;
    created(data, name).await.filter(|created| *created > known)
}

/// A cluster that EKS does not know, or may not tell of, is no reason to fail: the barrier then looks at its name alone.
async fn created(data: &Joiner, name: &str) -> Option<Timestamp> {
    match eks::describe(data.aws().ok()?, name).await {
        Ok(cluster) => cluster.created,
        Err(Error::NotFound(_)) => None,
        Err(error) => {
            tracing::info!(cluster = name, %error, "it is not known when the cluster was made");
            None
        }
    }
}
