//! What a type may cost on demand, where the price list cannot be read. It puts types in order; it is no bill.

use super::facts::{Arch, TypeFacts};
use joiner_core::money::Price;

/// Micro-dollars an hour, from the list prices of general, compute and memory types of one generation.
const PER_VCPU: u64 = 35_670;
const PER_GIB: u64 = 3_417;
/// Of a graphics processor's own memory.
const PER_GPU_GIB: u64 = 60_000;
const PER_ACCELERATOR: u64 = 200_000;

/// The estimate from size and devices; Graviton is a fifth cheaper.
pub(super) fn on_demand(kind: &TypeFacts) -> Price {
    let size = u64::from(kind.vcpus) * PER_VCPU + kind.memory_mib * PER_GIB / 1024;
    let size = if kind.arch == Arch::Arm64 {
        size * 4 / 5
    } else {
        size
    };
    let gpus: u64 = kind
        .gpus
        .iter()
        .map(|gpu| u64::from(gpu.count) * gpu.memory_mib * PER_GPU_GIB / 1024)
        .sum();
    let others = kind.accelerators.iter().map(|device| device.count);
    let others: u64 = others
        .chain(kind.neuron.iter().map(|device| device.count))
        .map(u64::from)
        .sum();
    Price::from_micros(size + gpus + others * PER_ACCELERATOR)
}
