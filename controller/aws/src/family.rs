//! What differs from one image family to the next, besides the user data.

use joiner_api::{AmiFamily, BlockDevice, BlockDeviceMapping, Quantity, VolumeType};

/// What a family can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Memory kept for the kubelet follows the pods that the network interfaces allow, not `maxPods`.
    pub memory_reserved_by_interfaces: bool,
    /// `podsPerCore` reaches the kubelet.
    pub pods_per_core: bool,
    /// Pods are limited by the addresses of the network interfaces.
    pub pods_by_interfaces: bool,
}

/// The features of a family.
pub fn features(family: AmiFamily) -> Features {
    match family {
        AmiFamily::AL2 | AmiFamily::AL2023 | AmiFamily::Custom => Features {
            memory_reserved_by_interfaces: true,
            pods_per_core: true,
            pods_by_interfaces: true,
        },
        AmiFamily::Bottlerocket => Features {
            memory_reserved_by_interfaces: false,
            pods_per_core: false,
            pods_by_interfaces: true,
        },
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => Features {
            memory_reserved_by_interfaces: false,
            pods_per_core: true,
            pods_by_interfaces: false,
        },
    }
}

/// The build that nodes of a Windows family report; none for the others.
pub fn windows_build(family: AmiFamily) -> Option<&'static str> {
    match family {
        AmiFamily::Windows2019 => Some("10.0.17763"),
        AmiFamily::Windows2022 => Some("10.0.20348"),
        AmiFamily::Windows2025 => Some("10.0.26100"),
        AmiFamily::AL2 | AmiFamily::AL2023 | AmiFamily::Bottlerocket | AmiFamily::Custom => None,
    }
}

/// Bytes of the disk that holds pods' data where the node class says nothing: 20 GiB, Windows 50 GiB.
pub fn default_ephemeral_bytes(family: AmiFamily) -> i64 {
    let gib = if windows_build(family).is_some() { 50 } else { 20 };
    gib << 30
}

/// The device that holds pods' data; none where only the image knows.
pub fn ephemeral_device(family: AmiFamily) -> Option<&'static str> {
    match family {
        AmiFamily::AL2 | AmiFamily::AL2023 => Some("/dev/xvda"),
        AmiFamily::Bottlerocket => Some("/dev/xvdb"),
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => Some("/dev/sda1"),
        AmiFamily::Custom => None,
    }
}

/// The disks of a family where the node class names none.
pub fn default_block_devices(family: AmiFamily) -> Vec<BlockDeviceMapping> {
    match family {
        AmiFamily::AL2 | AmiFamily::AL2023 => vec![disk("/dev/xvda", 20)],
        AmiFamily::Bottlerocket => vec![disk("/dev/xvda", 4), disk("/dev/xvdb", 20)],
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
            vec![disk("/dev/sda1", 50)]
        }
        AmiFamily::Custom => Vec::new(),
    }
}

fn disk(device: &str, gib: i64) -> BlockDeviceMapping {
    BlockDeviceMapping {
        device_name: Some(device.to_owned()),
        ebs: Some(BlockDevice {
            encrypted: Some(true),
            volume_size: Some(Quantity::from_bytes(gib << 30)),
            volume_type: Some(VolumeType::Gp3),
            ..BlockDevice::default()
        }),
        root_volume: None,
    }
}
