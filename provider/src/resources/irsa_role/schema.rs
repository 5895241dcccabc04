//! The attributes of `joiner_irsa_role`.

use crate::roles::{ControllerAttributes, RoleAttributes};
use tfplugin::{Field, Model};

/// The controller's IAM role for its service account (IRSA): who may take it on, and what it may do.
///
/// The trust policy comes from the cluster's OIDC provider, the permissions from cluster, node roles, queue and partition: least
/// privilege, by the tags that the controller puts on what it makes. Policies are compared by meaning: another order or spelling is no
/// difference. A role of the same name that someone else made is an error, and is not touched.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct IrsaRole {
    #[tf(flatten)]
    pub role: RoleAttributes,
    #[tf(flatten)]
    pub controller: ControllerAttributes,
    /// ARN of the cluster's OIDC provider, such as `arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC`.
    #[tf(required)]
    pub oidc_provider_arn: Field<String>,
    /// Region of the cluster. Left out: the region in the OIDC provider's name, else the provider's.
    pub region: Field<String>,
}
