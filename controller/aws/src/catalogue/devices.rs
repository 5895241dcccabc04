//! The devices that drivers will publish on nodes of a type: what nodes of the type were seen to publish, else what EC2 tells of
//! its graphics processors, in the words of NVIDIA's driver.
//!
//! Sources: the driver's README and the ResourceSlices that it shows, <https://github.com/NVIDIA/k8s-dra-driver-gpu>: driver
//! `gpu.nvidia.com`, devices `gpu-N` with `type` (`gpu`; `mig` for parts of one), `brand`, `productName`, `architecture`,
//! `cudaComputeCapability` and the capacity `memory`; versions of drivers, UUIDs and PCI addresses are known on the machine alone.
//! Architectures and compute capabilities: <https://developer.nvidia.com/cuda-gpus>. The memory is what EC2 tells; a driver may
//! publish some per cent less.

use super::facts::{Facts, Gpu, TypeFacts};
use joiner_core::catalogue::InstanceType;
use joiner_core::snapshot::{Attribute, Device};
use joiner_core::text::Text;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The driver of NVIDIA's graphics processors.
const NVIDIA: &str = "gpu.nvidia.com";
const MIB: i64 = 1 << 20;

/// What NVIDIA's driver says of a model.
struct Model {
    /// As EC2 writes it.
    ec2: &'static str,
    /// The product's name; empty where one name of EC2's stands for several products.
    product: &'static str,
    architecture: &'static str,
    /// The compute capability.
    capability: &'static str,
}

const fn model(
    ec2: &'static str,
    product: &'static str,
    architecture: &'static str,
    capability: &'static str,
) -> Model {
    Model {
        ec2,
        product,
        architecture,
        capability,
    }
}

/// The models that EC2 sells. V100, A100 and L4 come with several sizes of memory; of the last some are parts of a processor.
const MODELS: [Model; 14] = [
    model("M60", "Tesla M60", "Maxwell", "5.2.0"),
    model("K80", "Tesla K80", "Kepler", "3.7.0"),
    model("V100", "", "Volta", "7.0.0"),
    model("T4", "Tesla T4", "Turing", "7.5.0"),
    model("T4g", "NVIDIA T4G", "Turing", "7.5.0"),
    model("A10G", "NVIDIA A10G", "Ampere", "8.6.0"),
    model("A100", "", "Ampere", "8.0.0"),
    model("L4", "", "Ada Lovelace", "8.9.0"),
    model("L40S", "NVIDIA L40S", "Ada Lovelace", "8.9.0"),
    model("H100", "NVIDIA H100 80GB HBM3", "Hopper", "9.0.0"),
    model("H200", "NVIDIA H200", "Hopper", "9.0.0"),
    model("B200", "NVIDIA B200", "Blackwell", "10.0.0"),
    model("B300", "", "Blackwell", "10.3.0"),
    model(
        "RTX PRO Server 6000",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "Blackwell",
        "12.0.0",
    ),
];

/// Products that EC2 sells under one name, by name and memory in GiB.
const BY_MEMORY: [(&str, u64, &str); 5] = [
    ("V100", 16, "Tesla V100-SXM2-16GB"),
    ("V100", 32, "Tesla V100-SXM2-32GB"),
    ("A100", 40, "NVIDIA A100-SXM4-40GB"),
    ("A100", 80, "NVIDIA A100-SXM4-80GB"),
    ("L4", 22, "NVIDIA L4"),
];

/// Gives each type the devices of its nodes. `seen` is what nodes of a type were seen to publish, by the type's name; it stands in
/// place of EC2's facts for the drivers that it names.
pub fn add_devices(types: &mut [InstanceType], facts: &Facts, seen: &BTreeMap<Text, Arc<[Device]>>) {
    for it in types {
        let seen = seen.get(&it.name).map_or(&[][..], |devices| &devices[..]);
        let drivers: BTreeSet<&Text> = seen.iter().map(|device| &device.driver).collect();
        let of_facts = facts.types.get(&it.name).map(told).unwrap_or_default();
        let others = of_facts
            .into_iter()
            .filter(|device| !drivers.contains(&device.driver));
        it.devices = others.chain(seen.iter().cloned()).collect();
    }
}

/// What EC2's facts tell.
fn told(kind: &TypeFacts) -> Vec<Device> {
    let nvidia = kind.gpus.iter().filter(|gpu| &*gpu.manufacturer == "NVIDIA");
    let each = nvidia.flat_map(|gpu| (0..gpu.count).map(move |_| gpu));
    each.enumerate().map(|(index, gpu)| device(index, gpu)).collect()
}

fn device(index: usize, gpu: &Gpu) -> Device {
    let qualified = |name: &str| Text::from(format!("{NVIDIA}/{name}"));
    let text = |name: &str, value: &str| (qualified(name), Attribute::Text(value.into()));
    let mut attributes: BTreeMap<Text, Attribute> = [text("type", "gpu"), text("brand", "Nvidia")].into();
    if let Some(model) = MODELS.iter().find(|model| *model.ec2 == *gpu.name) {
        attributes.extend([text("architecture", model.architecture)]);
        let capability = Attribute::Version(model.capability.into());
        attributes.insert(qualified("cudaComputeCapability"), capability);
        let gib = (gpu.memory_mib + 512) / 1024;
        let sized = BY_MEMORY
            .iter()
            .find(|(ec2, memory, _)| **ec2 == *gpu.name && *memory == gib);
        let product = sized.map_or(model.product, |(_, _, product)| product);
        attributes.extend((!product.is_empty()).then(|| text("productName", product)));
    }
    Device {
        driver: NVIDIA.into(),
        pool: "".into(),
        name: format!("gpu-{index}").into(),
        attributes,
        capacity: [(
            qualified("memory"),
            i64::try_from(gpu.memory_mib).unwrap_or(i64::MAX / MIB) * MIB,
        )]
        .into(),
        taken: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str, manufacturer: &str, count: u32, memory_mib: u64) -> Gpu {
        Gpu {
            name: name.into(),
            manufacturer: manufacturer.into(),
            count,
            memory_mib,
        }
    }

    #[test]
    fn nvidia_gpus_are_named_as_their_driver_does() {
        for (gpu, product, architecture, gib) in [
            (
                gpu("T4", "NVIDIA", 1, 16_384),
                Some("Tesla T4"),
                Some("Turing"),
                16,
            ),
            (
                gpu("A100", "NVIDIA", 8, 81_920),
                Some("NVIDIA A100-SXM4-80GB"),
                Some("Ampere"),
                80,
            ),
            (
                gpu("V100", "NVIDIA", 4, 16_384),
                Some("Tesla V100-SXM2-16GB"),
                Some("Volta"),
                16,
            ),
            (gpu("L4", "NVIDIA", 1, 2048), None, Some("Ada Lovelace"), 2),
            (gpu("X900", "NVIDIA", 2, 1024), None, None, 1),
        ] {
            let found = device(3, &gpu);
            let text = |name: &str| match found.attributes.get(&*format!("{NVIDIA}/{name}")) {
                Some(Attribute::Text(text)) => Some(text.to_string()),
                _ => None,
            };
            assert_eq!((&*found.driver, &*found.name), (NVIDIA, "gpu-3"));
            assert_eq!(text("type").as_deref(), Some("gpu"), "{}", gpu.name);
            assert_eq!(text("productName").as_deref(), product, "{}", gpu.name);
            assert_eq!(text("architecture").as_deref(), architecture, "{}", gpu.name);
            assert_eq!(found.capacity["gpu.nvidia.com/memory"], gib << 30, "{}", gpu.name);
        }
    }
}
