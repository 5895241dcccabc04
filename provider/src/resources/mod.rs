//! The resources. Each folder has the same six files: `schema`, `validate`, `plan`, `apply`, `read`, `import`.

mod by_files;
mod ec2_node_class;
mod helm_release;
mod irsa_role;
mod node_overlay;
mod node_pool;
#[cfg(test)]
mod unknown;

#[cfg(test)]
pub(crate) use self::{
    ec2_node_class::Ec2NodeClass,
    helm_release::HelmRelease,
    irsa_role::IrsaRole,
    node_overlay::NodeOverlay,
    node_pool::{NodePool, NodePoolResource},
};

use crate::provider::Joiner;
use tfplugin::Offers;

/// Every resource of the provider.
pub(crate) fn offers() -> Offers<Joiner> {
    Offers::new()
        .resource(ec2_node_class::Ec2NodeClassResource)
        .resource(helm_release::HelmReleaseResource)
        .resource(irsa_role::IrsaRoleResource)
        .resource(node_overlay::NodeOverlayResource)
        .resource(node_pool::NodePoolResource)
}
