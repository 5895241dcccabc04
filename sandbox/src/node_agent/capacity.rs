//! What a machine's kubelet reports as capacity and allocatable. Pure.
//!
//! Source: the kubelet's own formula (allocatable = capacity - kube reserved - system reserved - hard eviction), nodeadm's
//! and Bottlerocket's defaults for kube reserved, the VPC CNI's number of pods.

use std::collections::BTreeMap;

use super::user_data::Bootstrap;
use crate::kubelet::quantity::{self, Milli};

/// What is known about an instance type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) vcpu: u32,
    pub(super) memory_mib: u64,
    pub(super) volume_gib: u64,
    pub(super) network: Option<Network>,
}

/// The network interfaces of an instance type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) interfaces: u32,
    /// IPv4 addresses an interface.
    pub(super) addresses: u32,
}

/// Resources by name, as quantities.
pub(super) type Resources = BTreeMap<String, String>;

/// Capacity and allocatable of a machine with a kubelet so configured.
pub(super) fn report(machine: Machine, bootstrap: &Bootstrap) -> (Resources, Resources) {
    let pods = pods(machine, bootstrap);
    let memory = visible_memory_kib(machine.memory_mib);
    let storage_kib = machine.volume_gib * 1024 * 1024 * 97 / 100;
    let capacity = Resources::from([
        ("cpu".to_owned(), machine.vcpu.to_string()),
        ("memory".to_owned(), format!("{memory}Ki")),
        ("ephemeral-storage".to_owned(), format!("{storage_kib}Ki")),
        ("pods".to_owned(), pods.to_string()),
        ("hugepages-1Gi".to_owned(), "0".to_owned()),
        ("hugepages-2Mi".to_owned(), "0".to_owned()),
    ]);

    let mut kube = default_reserved(machine.vcpu, pods);
    kube.extend(bootstrap.kube_reserved.clone());
    let reserved = |name: &str| {
        let of = |map: &Resources| {
            map.get(name)
                .and_then(|text| quantity::parse(text))
                .map_or(0, |milli| milli.0)
        };
        of(&kube) + of(&bootstrap.system_reserved)
    };
    let evicted = |signal: &str, default: &str, capacity: i128| {
        threshold(
            bootstrap
                .eviction_hard
                .get(signal)
                .map_or(default, String::as_str),
            capacity,
        )
    };
    let (memory, storage) = (
        i128::from(memory) * 1024 * 1000,
        i128::from(storage_kib) * 1024 * 1000,
    );
    let cpu = i128::from(machine.vcpu) * 1000 - reserved("cpu");
    let memory = memory - reserved("memory") - evicted("memory.available", "100Mi", memory);
    let storage = storage - reserved("ephemeral-storage") - evicted("nodefs.available", "10%", storage);
    let mut allocatable = capacity.clone();
    allocatable.insert("cpu".to_owned(), format!("{}m", cpu.max(0)));
    allocatable.insert("memory".to_owned(), format!("{}Ki", memory.max(0) / 1_024_000));
    allocatable.insert(
        "ephemeral-storage".to_owned(),
        (storage.max(0) / 1000).to_string(),
    );
    (capacity, allocatable)
}

/// How many pods a node takes: what the kubelet is told, else one for each address that the CNI can give away.
fn pods(machine: Machine, bootstrap: &Bootstrap) -> u32 {
    let by_network = machine
        .network
        .map(|network| network.interfaces * network.addresses.saturating_sub(1) + 2);
    // nodeadm's bound: 110 for machines of up to 30 cores, else 250.
    let bound = if machine.vcpu > 30 { 250 } else { 110 };
    let pods = bootstrap
        .max_pods
        .unwrap_or_else(|| by_network.map_or(bound, |pods| pods.min(bound)));
    match bootstrap.pods_per_core {
        Some(per_core) if per_core > 0 => pods.min(per_core * machine.vcpu),
        _ => pods,
    }
}

/// What both families reserve for the kubelet unless told otherwise.
fn default_reserved(vcpu: u32, pods: u32) -> Resources {
    // 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest, in hundred-thousandths.
    let share = |core: u32| match core {
        0 => 6_000,
        1 => 1_000,
        2 | 3 => 500,
        _ => 250,
    };
    let cpu: u32 = (0..vcpu).map(share).sum();
    Resources::from([
        ("cpu".to_owned(), format!("{}m", cpu / 100)),
        ("memory".to_owned(), format!("{}Mi", 11 * pods + 255)),
        ("ephemeral-storage".to_owned(), "1Gi".to_owned()),
    ])
}

/// An eviction threshold in thousandths of a byte: a quantity, or a percentage of the capacity.
fn threshold(text: &str, capacity: i128) -> i128 {
    match text.strip_suffix('%') {
        // Percentages have at most two digits after the point here.
        Some(percent) => quantity::parse(percent).map_or(0, |Milli(milli)| capacity * milli / 100_000),
        None => quantity::parse(text).map_or(0, |Milli(milli)| milli),
    }
}

/// The memory that Linux sees, in KiB: the hypervisor and the kernel keep about 3.5 % and up to 96 MiB.
fn visible_memory_kib(memory_mib: u64) -> u64 {
    let kib = memory_mib * 1024;
    let fixed = (96 * 1024).min(kib * 39 / 1000);
    kib - kib * 35 / 1000 - fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Machine = Machine {
        vcpu: 2,
        memory_mib: 8192,
        volume_gib: 20,
        network: Some(Network {
            interfaces: 3,
            addresses: 10,
        }),
    };

    #[test]
    fn a_large_machine_with_defaults() {
        let (capacity, allocatable) = report(LARGE, &Bootstrap::default());
        assert_eq!(capacity["pods"], "29");
        assert_eq!(capacity["memory"], "7996703Ki");
        // 70 millicores; 11 x 29 + 255 + 100 MiB.
        assert_eq!(allocatable["cpu"], "1930m");
        assert_eq!(allocatable["memory"], format!("{}Ki", 7_996_703 - 674 * 1024));
    }

    #[test]
    fn kubelet_settings_count() {
        let map = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let bootstrap = Bootstrap {
            max_pods: Some(50),
            pods_per_core: Some(10),
            kube_reserved: map("cpu", "200m"),
            system_reserved: map("memory", "100Mi"),
            eviction_hard: map("memory.available", "10%"),
            ..Bootstrap::default()
        };
        let (capacity, allocatable) = report(LARGE, &bootstrap);
        assert_eq!(capacity["pods"], "20");
        assert_eq!(allocatable["cpu"], "1800m");
        let kib: i64 = 7_996_703 - (11 * 20 + 255 + 100) * 1024;
        let want = (kib * 1024 - 7_996_703 * 1024 / 10) / 1024;
        assert_eq!(allocatable["memory"], format!("{want}Ki"));
    }

    #[test]
    fn less_is_lost_than_the_controller_fears() {
        // Upstream estimates 7.5 % for every type; a node smaller than the estimate would loop.
        for memory_mib in [512_u64, 1024, 2048, 8192, 131_072, 786_432] {
            let lost = memory_mib * 1024 - visible_memory_kib(memory_mib);
            assert!(lost * 1000 <= memory_mib * 1024 * 75, "{memory_mib}: {lost}");
        }
    }

    #[test]
    fn big_machines_take_up_to_250_pods() {
        let machine = Machine {
            vcpu: 96,
            network: Some(Network {
                interfaces: 15,
                addresses: 50,
            }),
            ..LARGE
        };
        assert_eq!(report(machine, &Bootstrap::default()).0["pods"], "250");
        let machine = Machine {
            vcpu: 16,
            network: Some(Network {
                interfaces: 8,
                addresses: 30,
            }),
            ..LARGE
        };
        assert_eq!(report(machine, &Bootstrap::default()).0["pods"], "110");
    }
}
