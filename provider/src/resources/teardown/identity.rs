//! What tells one barrier from all others.

use super::schema::Teardown;
use tfplugin::{Field, Identity, Model};

/// A barrier by the cluster that it stands before.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct TeardownIdentity {
    /// The cluster's name.
    #[tf(required)]
    pub cluster_name: Field<String>,
}

impl Identity for TeardownIdentity {}

impl TeardownIdentity {
    /// The identity of a barrier whose cluster is known; `None` while it is not.
    pub(super) fn of(model: &Teardown) -> Option<Self> {
        model.cluster_name.is_known().then(|| Self {
            cluster_name: model.cluster_name.clone(),
        })
    }
}
