//! What the index does with each kind.

use jiff::Timestamp;
use joiner_api::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ResourceQuota, Service,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass, VolumeAttachment};
use kube::runtime::watcher;

use super::{Kind, Told, Watched};
use crate::observe::entry::{path, pod_key, version};

impl Watched for Pod {
    const KIND: Kind = Kind::Pod;

    /// Pods that have come to their end take nothing; they leave such a watch as if they were deleted.
    fn config() -> watcher::Config {
        watcher::Config::default().fields("status.phase!=Succeeded,status.phase!=Failed")
    }

    fn is(&self, told: &Told) {
        if let Some(took) = told.index.pod(self, Timestamp::now()) {
            told.metrics.pod_started(took);
        }
    }

    fn gone(&self, told: &Told) {
        told.index
            .pod_gone(&pod_key(self), version(self), Timestamp::now());
    }
}

/// Kinds of which the index takes an object in by one function, and lets it go by another that is given its path and version.
macro_rules! watched {
    ($($object:ident as $kind:ident: $is:ident, $gone:ident;)*) => {$(
        impl Watched for $object {
            const KIND: Kind = Kind::$kind;

            fn is(&self, told: &Told) {
                told.index.$is(self);
            }

            fn gone(&self, told: &Told) {
                told.index.$gone(&path(self), version(self));
            }
        }
    )*};
}

watched! {
    Node as Node: node, node_gone;
    NodeClaim as Claim: claim, claim_gone;
    NodePool as Pool: pool, pool_gone;
    EC2NodeClass as Class: class, class_gone;
    NodeOverlay as Overlay: overlay, overlay_gone;
    DaemonSet as DaemonSet: daemon_set, daemon_set_gone;
    PodDisruptionBudget as Pdb: pdb, pdb_gone;
    VolumeAttachment as Attachment: attachment, attachment_gone;
    Namespace as Namespace: namespace, namespace_gone;
    PersistentVolumeClaim as VolumeClaim: volume_claim, volume_claim_gone;
    PersistentVolume as Volume: volume, volume_gone;
    StorageClass as StorageClass: storage_class, storage_class_gone;
    CSINode as CsiNode: csi_node, csi_node_gone;
    ReplicaSet as ReplicaSet: replica_set, replica_set_gone;
    StatefulSet as StatefulSet: stateful_set, stateful_set_gone;
    Job as Job: job, job_gone;
    ResourceQuota as Quota: quota, quota_gone;
    Service as Service: service, service_gone;
    Deployment as Deployment: deployment, deployment_gone;
    PodTemplate as PodTemplate: pod_template, pod_template_gone;
    ResourceClaim as ResourceClaim: resource_claim, resource_claim_gone;
    ResourceClaimTemplate as ResourceClaimTemplate: resource_claim_template, resource_claim_template_gone;
    DeviceClass as DeviceClass: device_class, device_class_gone;
    ResourceSlice as ResourceSlice: resource_slice, resource_slice_gone;
}
