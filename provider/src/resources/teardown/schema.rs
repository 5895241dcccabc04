//! The attributes of `joiner_teardown`.

use tfplugin::validate::{duration, not_empty};
use tfplugin::{Field, Model};

/// A barrier in the order of destroys: network and cluster wait behind it until nothing of the cluster's nodes is left.
///
/// A create does nothing. A destroy waits until the cluster has no NodeClaim, and the account no instance, network interface, launch
/// template and instance profile of the cluster; it names what it waits for, and what keeps that. So no instance goes on costing money, and
/// no subnet or security group is in use when its turn comes.
///
/// Where the cluster is replaced by one of its name, which EKS tells by the times at which they were made, a destroy looks only at what is older
/// than the new one. Both operations ask `eks:DescribeCluster` for that; a cluster that EKS does not know is told by its name alone.
///
/// Let it depend on the network, the cluster and the nodes' role, and let the controller's release, its roles and the node classes depend on
/// it: then it is destroyed between them.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Teardown {
    /// Name of the cluster; also the import ID.
    #[tf(required, requires_replace, validate = not_empty)]
    pub cluster_name: Field<String>,
    /// Whether a destroy ends and deletes itself what it finds when no NodeClaim is left: instances that no controller will end any more,
    /// free network interfaces, launch templates, instance profiles. With `false` it waits for them, and fails in the end.
    #[tf(default = false)]
    pub terminate_orphans: Field<bool>,
    /// Time limits of the operations.
    pub timeouts: Field<Limits>,
    /// The same as `cluster_name`.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
}

/// Time limits of the operations, such as `30m`.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Limits {
    /// How long a destroy waits (30 minutes).
    #[tf(validate = duration)]
    pub delete: Field<String>,
}
