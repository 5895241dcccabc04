//! The block devices of an EC2NodeClass.

use tfplugin::{Field, Model};

/// One volume of an instance.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct BlockDeviceMapping {
    /// The device's name, such as `/dev/xvda`.
    pub device_name: Field<String>,
    /// The EBS volume behind it.
    pub ebs: Field<BlockDevice>,
    /// Whether kubelet keeps its files there.
    pub root_volume: Field<bool>,
}

/// An EBS volume; `volume_size` or `snapshot_id` is required.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct BlockDevice {
    /// Whether the volume goes when its instance does.
    pub delete_on_termination: Field<bool>,
    /// Whether it is encrypted.
    pub encrypted: Field<bool>,
    /// Operations per second, for `gp3`, `io1` and `io2`.
    pub iops: Field<i64>,
    /// The KMS key for encryption: ID, alias or ARN.
    #[tf(json = "kmsKeyID")]
    pub kms_key_id: Field<String>,
    /// The snapshot that it is made from.
    #[tf(json = "snapshotID")]
    pub snapshot_id: Field<String>,
    /// MiB per second, 125 to 2000, for `gp3`.
    pub throughput: Field<i64>,
    /// MiB per second at which a snapshot's blocks are loaded, 100 to 300; goes with `snapshot_id`.
    pub volume_initialization_rate: Field<i64>,
    /// The size, in `Gi`, `G`, `Ti` or `T`, such as `20Gi`.
    pub volume_size: Field<String>,
    /// `standard`, `io1`, `io2`, `gp2`, `sc1`, `st1` or `gp3`.
    pub volume_type: Field<String>,
}
