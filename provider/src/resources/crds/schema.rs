//! The attributes of `joiner_crds`.

use std::collections::BTreeSet;
use tfplugin::validate::{duration, one_of};
use tfplugin::{Field, Model};

/// The custom resource definitions of NodePool, NodeClaim, NodeOverlay and EC2NodeClass, as this version of the provider knows them.
///
/// `joiner_helm_release` applies those of its chart (`install_crds`); this resource is for a cluster whose release comes from somewhere else,
/// or whose definitions should outlive it. Helm installs definitions once and never upgrades them; this resource applies them, whoever made
/// them before, waits until they are served, and upgrades them with the provider. An older provider does not take newer ones back.
///
/// One for each cluster. A destroy leaves the definitions there, since without them all pools and nodes go; see `on_destroy`.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Crds {
    /// Take over definitions that somebody else made. With `false` they are an error.
    #[tf(default = true)]
    pub adopt: Field<bool>,
    /// What a destroy does: `retain` leaves the definitions in the cluster, `delete` deletes them when no object of them is left.
    #[tf(default = "retain", validate = one_of(&["retain", "delete"]))]
    pub on_destroy: Field<String>,
    /// Time limits of the operations.
    pub timeouts: Field<Limits>,
    /// Always `crds`; also the import ID.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
    /// Version of the provider whose definitions these are.
    #[tf(computed, use_state_for_unknown)]
    pub version: Field<String>,
    /// Names of the definitions that are as they should be.
    #[tf(computed, use_state_for_unknown)]
    pub names: Field<BTreeSet<String>>,
    /// The cluster's identity: the uid of its namespace `kube-system`. Null when it may not be read.
    #[tf(computed, use_state_for_unknown)]
    pub cluster_uid: Field<String>,
}

/// Time limits of the operations, such as `5m`.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Limits {
    /// How long a delete may take (5 minutes).
    #[tf(validate = duration)]
    pub delete: Field<String>,
}
