//! The resources. Each folder has the same six files: `schema`, `validate`, `plan`, `apply`, `read`, `import`.

mod by_files;
mod crds;
mod ec2_node_class;
mod helm_release;
mod interruption_queue;
mod irsa_role;
mod node_overlay;
mod node_pool;
mod node_role;
mod pod_identity_role;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod tags;
mod teardown;
#[cfg(test)]
mod unknown;

#[cfg(test)]
pub(crate) use self::{
    crds::Crds, ec2_node_class::Ec2NodeClassResource, helm_release::HelmRelease,
    interruption_queue::InterruptionQueue, irsa_role::IrsaRole, node_pool::NodePoolResource,
    node_role::NodeRole, pod_identity_role::PodIdentityRole, teardown::Teardown,
};
pub(crate) use self::{
    ec2_node_class::Ec2NodeClass,
    node_overlay::NodeOverlay,
    node_pool::{Demands, NodePool},
};

use crate::provider::Joiner;
use tfplugin::Offers;

/// Every resource of the provider.
pub(crate) fn offers() -> Offers<Joiner> {
    Offers::new()
        .resource(crds::CrdsResource)
        .resource(ec2_node_class::Ec2NodeClassResource)
        .resource(helm_release::HelmReleaseResource)
        .resource(interruption_queue::InterruptionQueueResource)
        .resource(irsa_role::IrsaRoleResource)
        .resource(node_overlay::NodeOverlayResource)
        .resource(node_pool::NodePoolResource)
        .resource(node_role::NodeRoleResource)
        .resource(pod_identity_role::PodIdentityRoleResource)
        .resource(teardown::TeardownResource)
}
