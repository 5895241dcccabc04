//! What can go wrong with Helm, sorted by what the caller does about it.

use crate::cluster::ClusterError;
use std::time::Duration;
use thiserror::Error;

/// A failed Helm operation. `Display` names the remedy.
#[derive(Debug, Error)]
pub(crate) enum HelmError {
    /// No Helm program.
    #[error(
        "Helm 4 was not found: looked at {}. Install Helm 4 (https://helm.sh/docs/intro/install), put it beside the provider's executable \
         or in PATH, or set helm_path in the provider's configuration",
        .looked_at.join(", ")
    )]
    Missing { looked_at: Vec<String> },
    /// The program is not Helm 4.
    #[error(
        "{path} is not Helm 4 (it says {version:?}); install Helm 4 or set helm_path in the provider's configuration"
    )]
    WrongVersion { path: String, version: String },
    /// The program could not be run, or a file for it could not be written.
    #[error("cannot run Helm: {cause}")]
    Start { cause: String },
    /// Helm ran and failed.
    #[error("helm {verb} failed: {message}")]
    Failed { verb: String, message: String },
    /// The core asked to stop; Helm was told to end, and ended.
    #[error(
        "stopped on request while helm {verb} ran; the release is as far as Helm got. Run the same command again to go on"
    )]
    Cancelled { verb: String },
    /// Helm removed the release, and its objects did not end in time.
    #[error(
        "release {name} is removed, but after {} s not all of its objects have ended: {}. Kubernetes goes on with it; allow more time with \
         timeouts.delete if that is what it takes",
        .waited.as_secs(),
        .objects.join("; ")
    )]
    Leaving {
        name: String,
        waited: Duration,
        objects: Vec<String>,
    },
    /// The chart cannot be used.
    #[error("chart: {0}")]
    Chart(String),
    /// The release is someone else's, or someone works on it.
    #[error("{0}")]
    Taken(String),
    /// The settings of a registry cannot be used.
    #[error("{problem}")]
    Registry { problem: String },
    /// A values document is malformed.
    #[error("values: {0}")]
    Values(String),
    /// A release record in the cluster cannot be read.
    #[error("the record of release {name} revision {revision} cannot be read: {cause}")]
    Record {
        name: String,
        revision: u32,
        cause: String,
    },
    /// The cluster failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}
