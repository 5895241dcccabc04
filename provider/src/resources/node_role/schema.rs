//! The attributes of `joiner_node_role`.

use super::documents::MANAGED;
use crate::roles::RoleAttributes;
use std::collections::BTreeSet;
use tfplugin::validate::{not_empty, one_of};
use tfplugin::{Field, Model};

/// The IAM role of a cluster's nodes: the role, the policies that a node needs, the access entry with which nodes may join the cluster, and
/// an instance profile where one is wanted.
///
/// Without an access entry nodes start and never join. A controller makes instance profiles itself, so `create_instance_profile` is for node
/// classes that name one. Partition (AWS, China, GovCloud) comes from the region.
///
/// A destroy also deletes the instance profiles that a controller made for this cluster and left on the role; whatever else hangs on the
/// role is an error that names it. A role of the same name that someone else made is an error, and is not touched.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct NodeRole {
    #[tf(flatten)]
    pub role: RoleAttributes,
    /// Description of the role.
    #[tf(default = "Nodes of a cluster with Joiner")]
    pub description: Field<String>,
    /// Name of the cluster whose nodes have the role.
    #[tf(required, validate = not_empty)]
    pub cluster_name: Field<String>,
    /// Names of policies of AWS to attach. A node needs the first and, unless the CNI has a role of its own, the CNI's; images in ECR need
    /// the registry's; Session Manager needs the last.
    #[tf(default = MANAGED.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>())]
    pub managed_policies: Field<BTreeSet<String>>,
    /// Whether to make the access entry with which the nodes may join. Set it to `false` for a cluster that knows its nodes by the
    /// ConfigMap `aws-auth` alone.
    #[tf(default = true)]
    pub create_access_entry: Field<bool>,
    /// Type of the access entry: `EC2_LINUX` (Bottlerocket included), `EC2_WINDOWS` or `EC2` (the nodes of EKS Auto Mode). A change makes
    /// the entry anew.
    #[tf(default = "EC2_LINUX", validate = one_of(&["EC2_LINUX", "EC2_WINDOWS", "EC2"]))]
    pub access_entry_type: Field<String>,
    /// Whether to make an instance profile of the role's name.
    #[tf(default = false)]
    pub create_instance_profile: Field<bool>,
    /// Who may take the role on, as JSON.
    #[tf(computed)]
    pub trust_policy_json: Field<String>,
    /// ARN of the access entry; null without one.
    #[tf(computed, use_state_for_unknown)]
    pub access_entry_arn: Field<String>,
    /// Name of the instance profile; null without one.
    #[tf(computed, use_state_for_unknown)]
    pub instance_profile_name: Field<String>,
    /// ARN of the instance profile; null without one.
    #[tf(computed, use_state_for_unknown)]
    pub instance_profile_arn: Field<String>,
}
