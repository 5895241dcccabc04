//! What is remembered of EC2's answers. Names are interned where many types share them, so that a region's thousand types
//! take well under a megabyte.

use super::prices::PriceBook;
use joiner_core::text::Text;
use std::collections::{BTreeMap, BTreeSet};

/// Everything about a region that the catalogue is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The region's name.
    pub region: Text,
    /// Types by name.
    pub types: BTreeMap<Text, TypeFacts>,
    /// Zones' names and ids.
    pub zones: BTreeMap<Text, Text>,
    /// What things cost.
    pub prices: PriceBook,
}

impl Facts {
    /// The id of a zone; `otherwise`, as a subnet has it, where the facts do not name the zone.
    pub(super) fn zone_id(&self, zone: &Text, otherwise: &str) -> Text {
        self.zones.get(zone).cloned().unwrap_or_else(|| otherwise.into())
    }
}

/// Processor architecture as Kubernetes names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// `amd64`
    Amd64,
    /// `arm64`
    Arm64,
}

impl Arch {
    /// The label's value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Reads EC2's word (`x86_64`, `arm64`).
    pub fn of_ec2(word: &str) -> Option<Self> {
        match word {
            "x86_64" => Some(Self::Amd64),
            "arm64" => Some(Self::Arm64),
            _ => None,
        }
    }
}

/// One instance type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFacts {
    /// Such as `m5.large`.
    pub name: Text,
    /// Its first architecture.
    pub arch: Arch,
    /// `nitro`, `xen` or empty for metal.
    pub hypervisor: Text,
    /// Sold as spot.
    pub spot: bool,
    /// Sold on demand.
    pub on_demand: bool,
    /// Virtual processors.
    pub vcpus: u32,
    /// Memory in MiB, before any overhead.
    pub memory_mib: u64,
    /// `intel`, `amd`, `aws`; empty if not told.
    pub cpu_manufacturer: Text,
    /// Sustained clock.
    pub clock_mhz: Option<u32>,
    /// Can run virtual machines.
    pub nested_virtualization: bool,
    /// Size of all local disks in GB.
    pub local_disk_gb: Option<u64>,
    /// Whether local disks are NVMe.
    pub nvme: bool,
    /// Highest bandwidth to EBS in Mbit/s where it is optimised by default.
    pub ebs_mbps: Option<u32>,
    /// Network.
    pub network: Network,
    /// Graphics processors, one entry a model.
    pub gpus: Box<[Gpu]>,
    /// Inference accelerators other than Neuron, one entry a model.
    pub accelerators: Box<[Accelerator]>,
    /// Neuron devices, one entry a model.
    pub neuron: Box<[Neuron]>,
    /// Zones that offer the type.
    pub zones: BTreeSet<Text>,
}

/// The network of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Interfaces of the default card.
    pub interfaces: u32,
    /// IPv4 addresses of one interface.
    pub addresses: u32,
    /// Most interfaces of each card, by the card's index.
    pub cards: Box<[u16]>,
    /// Elastic Fabric Adapters.
    pub efas: u32,
    /// Whether enhanced networking is there.
    pub ena: bool,
    /// Whether traffic between instances is encrypted.
    pub encrypted: bool,
    /// Baseline bandwidth of all cards in Mbit/s.
    pub baseline_mbps: Option<u64>,
}

/// Graphics processors of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// As EC2 writes it, such as `A100`.
    pub name: Text,
    /// As EC2 writes it, such as `NVIDIA`.
    pub manufacturer: Text,
    /// How many.
    pub count: u32,
    /// Memory of one in MiB.
    pub memory_mib: u64,
}

/// Inference accelerators of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accelerator {
    /// As EC2 writes it.
    pub name: Text,
    /// As EC2 writes it.
    pub manufacturer: Text,
    /// How many.
    pub count: u32,
}

/// Neuron devices of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neuron {
    /// As EC2 writes it, such as `Inferentia2`.
    pub name: Text,
    /// How many devices.
    pub count: u32,
    /// Cores of one device.
    pub cores: u32,
}

impl TypeFacts {
    /// `m5` and `large` of `m5.large`.
    pub fn family_and_size(&self) -> Option<(&str, &str)> {
        let (family, size) = self.name.split_once('.')?;
        (!size.contains('.')).then_some((family, size))
    }

    /// Category and generation: `c` and `5` of `c5n.4xlarge`, `u` and `1` of `u-6tb1.metal`.
    pub fn category_and_generation(&self) -> Option<(&str, &str)> {
        let (family, _) = self.name.split_once('.')?;
        let letters = family.bytes().take_while(u8::is_ascii_lowercase).count();
        let (category, mut rest) = family.split_at(letters);
        if category.is_empty() {
            return None;
        }
        if let Some(size) = rest.strip_prefix('-') {
            let digits = size.bytes().take_while(u8::is_ascii_digit).count();
            rest = size
                .split_at(digits)
                .1
                .strip_prefix("tb")
                .filter(|_| digits > 0)?;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (generation, _) = rest.split_at(digits);
        (!generation.is_empty()).then_some((category, generation))
    }

    /// Without a hypervisor.
    pub fn is_metal(&self) -> bool {
        self.family_and_size()
            .is_some_and(|(_, size)| size.contains("metal"))
    }
}
