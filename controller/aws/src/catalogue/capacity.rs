//! What a node of a type has: processors, memory, disk, pods, devices.

use super::Settings;
use super::branch::branch_interfaces;
use super::facts::{Arch, TypeFacts};
use crate::family::{self, features};
use crate::node_class::NodeClass;
use joiner_api::labels as names;
use joiner_api::{AmiFamily, InstanceStorePolicy, InterfaceType, Quantity};
use joiner_core::resources::Resources;

const MIB: i64 = 1 << 20;
/// Contiguous memory that Graviton machines keep back.
const ARM_RESERVED_MIB: i64 = 64;
/// Pods of a node whose family does not count addresses.
const DEFAULT_PODS: i64 = 110;

/// Everything countable; amounts that are zero are left out.
pub(super) fn capacity(
    kind: &TypeFacts,
    class: &NodeClass,
    memory: i64,
    storage: i64,
    pods: i64,
) -> Resources {
    let gpus = |manufacturer: &str| -> i64 {
        kind.gpus
            .iter()
            .filter(|gpu| &*gpu.manufacturer == manufacturer)
            .map(|gpu| i64::from(gpu.count))
            .sum()
    };
    let devices = kind.neuron.iter().map(|device| i64::from(device.count)).sum();
    let cores = kind
        .neuron
        .first()
        .map_or(0, |device| i64::from(device.count) * i64::from(device.cores));
    let private_addresses = match family::windows_build(class.family) {
        Some(_) => i64::from(kind.network.addresses) - 1,
        None => 0,
    };
    Resources::cpu_memory(i64::from(kind.vcpus) * 1000, memory)
        .with(names::RESOURCE_EPHEMERAL_STORAGE, storage)
        .with(names::RESOURCE_PODS, pods)
        .with(names::RESOURCE_POD_ENI, branch_interfaces(&kind.name))
        .with(names::RESOURCE_NVIDIA_GPU, gpus("NVIDIA"))
        .with(names::RESOURCE_AMD_GPU, gpus("AMD"))
        .with(names::RESOURCE_GAUDI, gpus("Habana"))
        .with(names::RESOURCE_NEURON, devices)
        .with(names::RESOURCE_NEURON_CORE, cores)
        .with(names::RESOURCE_EFA, efas(kind, class))
        .with(names::RESOURCE_PRIVATE_IPV4, private_addresses.max(0))
}

/// Memory in bytes that the node will report: measured, else estimated in whole MiB.
pub(super) fn memory(kind: &TypeFacts, settings: &Settings) -> i64 {
    if let Some(measured) = settings.measured_memory.get(&kind.name) {
        return *measured;
    }
    let whole = i64::try_from(kind.memory_mib).unwrap_or(i64::MAX / MIB);
    let mib = whole
        - if kind.arch == Arch::Arm64 {
            ARM_RESERVED_MIB
        } else {
            0
        };
    let overhead = (mib * i64::from(settings.vm_memory_overhead)).div_euclid(1_000_000)
        + i64::from((mib * i64::from(settings.vm_memory_overhead)).rem_euclid(1_000_000) != 0);
    (mib - overhead) * MIB
}

/// Bytes for pods' data: striped local disks, else the root volume, else the family's device, else its default.
pub(super) fn ephemeral_storage(kind: &TypeFacts, class: &NodeClass) -> i64 {
    if class.instance_store == Some(InstanceStorePolicy::RAID0)
        && let Some(gigabytes) = kind.local_disk_gb
    {
        return i64::try_from(gigabytes).unwrap_or(i64::MAX / 1_000_000_000) * 1_000_000_000;
    }
    let size = |disk: &joiner_api::BlockDeviceMapping| {
        disk.ebs
            .as_ref()
            .and_then(|ebs| ebs.volume_size.as_ref())
            .map(Quantity::value)
    };
    let root = class
        .block_devices
        .iter()
        .find(|disk| disk.root_volume == Some(true))
        .and_then(size);
    let own = || match family::ephemeral_device(class.family) {
        Some(device) => class
            .block_devices
            .iter()
            .find(|disk| disk.device_name.as_deref() == Some(device))
            .and_then(size),
        // Only the image knows which disk it is; the last one is the best guess.
        None => class.block_devices.last().and_then(size),
    };
    root.or_else(own)
        .unwrap_or_else(|| family::default_ephemeral_bytes(class.family))
}

/// The most pods on a node: as set, else by addresses or 110, and never more than `podsPerCore` allows.
pub(super) fn pods(kind: &TypeFacts, class: &NodeClass, settings: &Settings) -> i64 {
    let able = features(class.family);
    let most = match class.kubelet.max_pods {
        Some(count) => i64::from(count),
        None if able.pods_by_interfaces => pods_by_interfaces(kind, class, settings.reserved_interfaces),
        None => DEFAULT_PODS,
    };
    match class.kubelet.pods_per_core {
        Some(count) if count > 0 && able.pods_per_core => most.min(i64::from(count) * i64::from(kind.vcpus)),
        _ => most,
    }
}

/// Addresses of the default card's interfaces, less one an interface, and two pods on the host's network.
pub(super) fn pods_by_interfaces(kind: &TypeFacts, class: &NodeClass, reserved: u32) -> i64 {
    let fabric_only = class
        .network_interfaces
        .iter()
        .filter(|card| card.network_card_index == 0 && card.interface_type == InterfaceType::EfaOnly)
        .count();
    let fabric_only = i64::try_from(fabric_only).unwrap_or(i64::MAX);
    let usable = i64::from(kind.network.interfaces) - i64::from(reserved) - fabric_only;
    if usable <= 0 {
        return 0;
    }
    usable * (i64::from(kind.network.addresses) - 1) + 2
}

fn efas(kind: &TypeFacts, class: &NodeClass) -> i64 {
    if class.network_interfaces.is_empty() {
        i64::from(kind.network.efas)
    } else {
        i64::try_from(class.efa_only_interfaces()).unwrap_or(0)
    }
}

/// A quantity in a kubelet setting, in the core's unit for that resource: thousandths of a core, else bytes or units.
pub(super) fn amount(resource: &str, text: &str) -> Option<i64> {
    let quantity: Quantity = text.parse().ok()?;
    Some(if resource == names::RESOURCE_CPU {
        quantity.milli()
    } else {
        quantity.value()
    })
}

/// Whether the family is one of Windows'.
pub(super) fn is_windows(family: AmiFamily) -> bool {
    family::windows_build(family).is_some()
}
