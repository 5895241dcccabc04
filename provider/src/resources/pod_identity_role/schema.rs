//! The attributes of `joiner_pod_identity_role`.

use crate::roles::{ControllerAttributes, RoleAttributes};
use tfplugin::{Field, Model};

/// The controller's IAM role for EKS Pod Identity: the role, what it may do, and the association that gives it to the pods of the
/// controller's service account.
///
/// No OIDC provider and no annotation is needed; the cluster runs the add-on `eks-pod-identity-agent` on the nodes where the controller
/// runs. It does not work on Fargate: see `joiner_irsa_role` for that.
///
/// Permissions come from cluster, node roles, queue and partition: least privilege, by the tags that the controller puts on what it makes.
/// Policies are compared by meaning. A role of the same name, or an association of the service account, that someone else made is an error,
/// and is not touched. An association that is gone, as with a cluster that was replaced, is made anew.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct PodIdentityRole {
    #[tf(flatten)]
    pub role: RoleAttributes,
    #[tf(flatten)]
    pub controller: ControllerAttributes,
    /// Region of the cluster. Left out: the provider's.
    pub region: Field<String>,
    /// ID of the association.
    #[tf(computed, use_state_for_unknown)]
    pub association_id: Field<String>,
    /// ARN of the association.
    #[tf(computed, use_state_for_unknown)]
    pub association_arn: Field<String>,
}
