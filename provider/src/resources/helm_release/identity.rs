//! What tells one release from all others in its cluster.

use super::schema::HelmRelease;
use tfplugin::{Field, Identity, Model};

/// A release by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ReleaseIdentity {
    /// The release's namespace.
    #[tf(required)]
    pub namespace: Field<String>,
    /// The release's name.
    #[tf(required)]
    pub name: Field<String>,
}

impl Identity for ReleaseIdentity {}

impl ReleaseIdentity {
    /// The identity of a release whose namespace and name are known; `None` while one of them is not.
    pub(super) fn of(release: &HelmRelease) -> Option<Self> {
        let HelmRelease { namespace, name, .. } = release;
        (namespace.is_known() && name.is_known()).then(|| Self {
            namespace: namespace.clone(),
            name: name.clone(),
        })
    }
}
