//! What tells one object of a kind from all others in its cluster.

use tfplugin::{Field, Identity, Model};

/// An object by its name. The cluster is the provider's: it is no part of the identity, since an object stays the same one in a
/// cluster that was replaced.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ObjectIdentity {
    /// The object's name.
    #[tf(required)]
    pub name: Field<String>,
}

impl Identity for ObjectIdentity {}

impl ObjectIdentity {
    /// The identity of an object whose name is known; `None` while it is not.
    pub(super) fn of(name: &Field<String>) -> Option<Self> {
        name.is_known().then(|| Self { name: name.clone() })
    }
}
