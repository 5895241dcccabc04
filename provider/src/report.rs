//! Errors of the layers below as diagnostics.

use crate::cluster::{ClusterError, Comparison};
use crate::helm::HelmError;
use tfplugin::{Diagnostic, Diagnostics};

/// A failed call to a cluster.
pub(crate) fn cluster(error: &ClusterError) -> Diagnostics {
    let summary = match error {
        ClusterError::Setting { .. } | ClusterError::Kubeconfig { .. } | ClusterError::Eks { .. } => {
            "The provider's cluster settings cannot be used"
        }
        ClusterError::Unreachable { .. } => "The cluster does not answer",
        ClusterError::Unauthorized { .. } => "The cluster refuses the credentials",
        ClusterError::Forbidden { .. } => "The cluster does not allow it",
        ClusterError::Conflict(_) => "Fields have other owners",
        ClusterError::NotFound(_) => "The object does not exist",
        ClusterError::KindMissing { .. } => "The cluster does not serve this kind",
        ClusterError::Invalid(_) => "The cluster refuses the object",
        ClusterError::OtherObject(_) => "The object exists already",
        ClusterError::Api { .. } | ClusterError::Unexpected { .. } => "The cluster failed",
    };
    Diagnostics::error(summary, error.to_string())
}

/// A state of another cluster: an error; of a cluster that was replaced: a warning, with which the resource counts as gone. `what`
/// is the resource, as the subject of a sentence.
pub(crate) fn elsewhere(what: &str, comparison: Comparison) -> Result<Option<Diagnostic>, Diagnostics> {
    const SUMMARY: &str = "The state belongs to another cluster";
    let sentence = |text: String| format!("{what} was made in the cluster {text}.");
    match comparison {
        Comparison::Same => Ok(None),
        Comparison::Replaced(text) => Ok(Some(Diagnostic::warning(SUMMARY, sentence(text)))),
        Comparison::Other(text) => Err(Diagnostics::error(SUMMARY, sentence(text))),
    }
}

/// A failed Helm operation.
pub(crate) fn helm(error: &HelmError) -> Diagnostics {
    let summary = match error {
        HelmError::Cluster(error) => return cluster(error),
        HelmError::Missing { .. } | HelmError::WrongVersion { .. } => "Helm 4 was not found",
        HelmError::Start { .. } => "Helm cannot be run",
        HelmError::Failed { .. } => "Helm failed",
        HelmError::Cancelled { .. } => "Helm was stopped",
        HelmError::Leaving { .. } => "The release is not gone yet",
        HelmError::Taken(_) => "The release exists already",
        HelmError::Chart(_) => "The chart cannot be used",
        HelmError::Registry { .. } => "The registry's settings cannot be used",
        HelmError::Values(_) => "The values cannot be used",
        HelmError::Record { .. } => "The release's record cannot be read",
    };
    Diagnostics::error(summary, error.to_string())
}

/// A failed call to AWS.
pub(crate) fn aws(what: &str, error: &joiner_aws::Error) -> Diagnostics {
    Diagnostics::error(what, error.to_string())
}
