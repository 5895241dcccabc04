//! The attributes of `joiner_irsa_role`.

use super::documents::same_documents;
use std::collections::{BTreeMap, BTreeSet};
use tfplugin::validate::not_empty;
use tfplugin::{Field, Model};

/// The controller's IAM role for its service account (IRSA): who may take it on, and what it may do.
///
/// The trust policy comes from the cluster's OIDC provider, the permissions from cluster, node roles, queue and partition: least
/// privilege, by the tags that the controller puts on what it makes. Policies are compared by meaning: another order or spelling is no
/// difference. A role of the same name that someone else made is an error, and is not touched.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct IrsaRole {
    /// Name of the role, unique in the account; also the import ID. A change replaces the role.
    #[tf(required, requires_replace, validate = not_empty)]
    pub name: Field<String>,
    /// Path of the role. A change replaces the role.
    #[tf(default = "/", requires_replace)]
    pub path: Field<String>,
    /// Description of the role.
    #[tf(default = "Joiner's controller")]
    pub description: Field<String>,
    /// ARN of the policy that bounds what the role may do.
    pub permissions_boundary: Field<String>,
    /// Tags of the role, on top of the provider's `default_tags`.
    pub tags: Field<BTreeMap<String, String>>,
    /// Name of the cluster that the controller works for.
    #[tf(required, validate = not_empty)]
    pub cluster_name: Field<String>,
    /// ARN of the cluster's OIDC provider, such as `arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC`.
    #[tf(required)]
    pub oidc_provider_arn: Field<String>,
    /// Namespace of the controller's service account.
    #[tf(default = "kube-system", validate = not_empty)]
    pub namespace: Field<String>,
    /// Name of the controller's service account.
    #[tf(default = "joiner", validate = not_empty)]
    pub service_account: Field<String>,
    /// Region of the cluster. Left out: the region in the OIDC provider's name, else the provider's.
    pub region: Field<String>,
    /// ARNs of the roles that nodes may have; the controller may hand no others to EC2.
    pub node_role_arns: Field<BTreeSet<String>>,
    /// ARN of the queue of interruption events, when there is one.
    pub interruption_queue_arn: Field<String>,
    /// Whether the controller makes instance profiles; set it to `false` when every node class names an existing one.
    #[tf(default = true)]
    pub manage_instance_profiles: Field<bool>,
    /// Further inline policies, by name, as JSON.
    #[tf(equivalent = same_documents)]
    pub policies: Field<BTreeMap<String, String>>,
    /// ARNs of further policies to attach.
    pub policy_arns: Field<BTreeSet<String>>,
    /// The same as `name`.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
    /// ARN of the role, for the annotation `eks.amazonaws.com/role-arn` of the service account.
    #[tf(computed, use_state_for_unknown)]
    pub arn: Field<String>,
    /// IAM's ID of this very role.
    #[tf(computed, use_state_for_unknown)]
    pub unique_id: Field<String>,
    /// What the controller may do, as JSON.
    #[tf(computed)]
    pub policy_json: Field<String>,
    /// Who may take the role on, as JSON.
    #[tf(computed)]
    pub trust_policy_json: Field<String>,
}
