//! Full lists: what a list does not hold is gone.

use jiff::Timestamp;

use super::Index;

/// The watched kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pod,
    Node,
    Claim,
    Pool,
    Class,
    DaemonSet,
    Pdb,
    Attachment,
    Namespace,
    VolumeClaim,
    Volume,
    StorageClass,
    CsiNode,
    Overlay,
    ReplicaSet,
    StatefulSet,
    Job,
    Quota,
    Service,
    Buffer,
    Deployment,
    PodTemplate,
    ResourceClaim,
    ResourceClaimTemplate,
    DeviceClass,
    ResourceSlice,
}

impl Index {
    /// A full list of `kind` begins.
    pub(crate) fn begin(&self, kind: Kind) {
        let mut state = self.state();
        match kind {
            Kind::Pod => state.pods.begin(),
            Kind::Node => state.nodes.begin(),
            Kind::Claim => state.claims.begin(),
            Kind::Pool => state.pools.begin(),
            Kind::Class => state.classes.begin(),
            Kind::DaemonSet => state.daemon_sets.begin(),
            Kind::Pdb => state.pdbs.begin(),
            Kind::Attachment => state.attachments.begin(),
            Kind::Overlay => state.overlays.begin(),
            Kind::ReplicaSet => {
                state.wanting.begin(kind);
                state.around.begin(kind);
                state.buffers.begin(kind);
            }
            Kind::StatefulSet => {
                state.around.begin(kind);
                state.buffers.begin(kind);
            }
            Kind::Buffer | Kind::Deployment | Kind::PodTemplate => state.buffers.begin(kind),
            Kind::Job | Kind::Quota => state.wanting.begin(kind),
            Kind::Namespace
            | Kind::VolumeClaim
            | Kind::Volume
            | Kind::StorageClass
            | Kind::CsiNode
            | Kind::Service
            | Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::DeviceClass
            | Kind::ResourceSlice => state.around.begin(kind),
        }
    }

    /// The list is complete.
    pub(crate) fn finish(&self, kind: Kind, now: Timestamp) {
        let mut state = self.state();
        match kind {
            Kind::Pod => {
                for (key, gone) in state.pods.finish() {
                    state.nominations.release(&key);
                    state.unbind(&gone, now);
                }
            }
            Kind::Claim => {
                for (name, gone) in state.claims.finish() {
                    state.marked.remove(&name);
                    if let Some(id) = &gone.claim.provider_id {
                        state.by_provider.remove(id);
                    }
                }
            }
            Kind::Node => drop(state.nodes.finish()),
            Kind::Pool => drop(state.pools.finish()),
            Kind::Class => drop(state.classes.finish()),
            Kind::DaemonSet => drop(state.daemon_sets.finish()),
            Kind::Pdb => drop(state.pdbs.finish()),
            Kind::Attachment => drop(state.attachments.finish()),
            Kind::Overlay => drop(state.overlays.finish()),
            Kind::ReplicaSet => {
                state.wanting.finish(kind);
                state.around.finish(kind);
                state.buffers.finish(kind);
            }
            Kind::StatefulSet => {
                state.around.finish(kind);
                state.buffers.finish(kind);
            }
            Kind::Buffer | Kind::Deployment | Kind::PodTemplate => state.buffers.finish(kind),
            Kind::Job | Kind::Quota => state.wanting.finish(kind),
            Kind::Namespace
            | Kind::VolumeClaim
            | Kind::Volume
            | Kind::StorageClass
            | Kind::CsiNode
            | Kind::Service
            | Kind::ResourceClaim
            | Kind::ResourceClaimTemplate
            | Kind::DeviceClass
            | Kind::ResourceSlice => state.around.finish(kind),
        }
        drop(state);
        self.changes.provision.ring_plain();
        self.changes.disrupt.ring_plain();
        self.changes.lifecycle.ring_plain();
        self.changes.terminate.ring_plain();
        self.changes.overlays.ring_plain();
    }
}
