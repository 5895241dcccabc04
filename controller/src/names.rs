//! The names that decisions and the API each keep for themselves (`joiner_core` does not know `joiner_api`) are the same.

use joiner_api::labels::{self, conditions as of_api};
use joiner_core::text::Text;
use joiner_core::{conditions, eviction, register, well_known};

#[test]
fn labels_and_finalizers() {
    for (of_core, of_api) in [
        (well_known::ZONE, labels::ZONE),
        (well_known::ZONE_ID, labels::ZONE_ID),
        (well_known::REGION, labels::REGION),
        (well_known::INSTANCE_TYPE, labels::INSTANCE_TYPE),
        (well_known::ARCH, labels::ARCH),
        (well_known::OS, labels::OS),
        (well_known::HOSTNAME, labels::HOSTNAME),
        (well_known::CAPACITY_TYPE, labels::CAPACITY_TYPE),
        (well_known::NODE_POOL, labels::NODEPOOL),
        (well_known::REGISTERED, labels::REGISTERED),
        (well_known::INITIALIZED, labels::INITIALIZED),
        (well_known::DO_NOT_SYNC_TAINTS, labels::DO_NOT_SYNC_TAINTS),
        (well_known::REQUESTED_DRA_DRIVERS, labels::REQUESTED_DRA_DRIVERS),
        (register::TERMINATION_FINALIZER, labels::TERMINATION_FINALIZER),
    ] {
        assert_eq!(of_core, of_api);
    }
    assert_eq!(&*register::unregistered_taint().key, labels::UNREGISTERED_TAINT);
    assert_eq!(&*eviction::disrupted_taint().key, labels::DISRUPTED_TAINT);
}

#[test]
fn conditions_of_claims_and_pools() {
    for (of_core, of_api) in [
        (conditions::READY, of_api::READY),
        (conditions::LAUNCHED, of_api::LAUNCHED),
        (conditions::REGISTERED, of_api::REGISTERED),
        (conditions::INITIALIZED, of_api::INITIALIZED),
        (conditions::CONSOLIDATABLE, of_api::CONSOLIDATABLE),
        (conditions::DRIFTED, of_api::DRIFTED),
        (conditions::DRAINED, of_api::DRAINED),
        (conditions::VOLUMES_DETACHED, of_api::VOLUMES_DETACHED),
        (conditions::INSTANCE_TERMINATING, of_api::INSTANCE_TERMINATING),
        (conditions::DISRUPTION_REASON, of_api::DISRUPTION_REASON),
        (conditions::VALIDATION_SUCCEEDED, of_api::VALIDATION_SUCCEEDED),
        (conditions::NODE_CLASS_READY, of_api::NODE_CLASS_READY),
        (
            conditions::NODE_REGISTRATION_HEALTHY,
            of_api::NODE_REGISTRATION_HEALTHY,
        ),
    ] {
        assert_eq!(of_core, of_api);
    }
}

/// Annotations that drift reads and that are written elsewhere.
#[test]
fn annotations_of_drift() {
    use joiner_core::disrupt::drift::annotations::{CLASS_FIELDS, CLASS_HASH, POOL_HASH};
    assert_eq!(POOL_HASH, labels::NODEPOOL_HASH);
    assert_eq!(format!("{POOL_HASH}-version"), labels::NODEPOOL_HASH_VERSION);
    assert_eq!(CLASS_HASH, labels::EC2_NODE_CLASS_HASH);
    assert_eq!(
        format!("{CLASS_HASH}-version"),
        labels::EC2_NODE_CLASS_HASH_VERSION
    );
    assert_eq!(CLASS_FIELDS, labels::EC2_NODE_CLASS_FIELDS);
}

#[test]
fn what_counts_as_well_known() {
    for key in labels::KUBERNETES_WELL_KNOWN.iter().chain(labels::AWS_WELL_KNOWN) {
        assert!(well_known::is_well_known(key), "{key}");
    }
    for (old, new) in labels::NORMALIZED {
        assert_eq!(&*well_known::normalise(Text::from(*old)), *new, "{old}");
    }
}
