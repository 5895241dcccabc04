//! What EC2 sells here, as the scheduler's instance types.
//!
//! Facts are read from EC2 seldom and kept compact ([`Facts`]); instance types are made of them for one node class, as a
//! pure function: same facts, class, shortages and time, same types in the same order.

mod branch;
pub mod builtin;
mod capacity;
mod devices;
mod estimate;
mod facts;
mod labels;
mod load;
mod offerings;
mod overhead;
mod price_list;
mod prices;
mod reserved;
mod unresolved;

pub use devices::add_devices;
pub use facts::{Accelerator, Arch, Facts, Gpu, Network, Neuron, TypeFacts};
pub use load::{load_facts, load_types, load_zones};
pub use prices::{PriceBook, load_on_demand, load_prices, load_spot};
pub use unresolved::unresolved_types;

use crate::node_class::NodeClass;
use crate::unavailable::Unavailable;
use jiff::Timestamp;
use joiner_core::catalogue::InstanceType;
use joiner_core::requirements::Interner;
use joiner_core::text::Text;
use std::collections::BTreeMap;

/// The controller's settings that change capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Memory that the hypervisor takes, in millionths of the whole (`vm-memory-overhead-percent`, 0.075 by default).
    pub vm_memory_overhead: u32,
    /// Whether capacity reservations are offered (gate `ReservedCapacity`).
    pub reserved_capacity: bool,
    /// Network interfaces kept for custom networking (`reserved-enis`).
    pub reserved_interfaces: u32,
    /// Memory in bytes that nodes of a type were seen to have, in place of the estimate.
    pub measured_memory: BTreeMap<Text, i64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vm_memory_overhead: 75_000,
            reserved_capacity: true,
            reserved_interfaces: 0,
            measured_memory: BTreeMap::new(),
        }
    }
}

/// All types that EC2 offers in some zone of the class' subnets, sorted by name. A type that the class cannot use is
/// left out; an offering that cannot be bought now is in, marked as not available.
pub fn instance_types(
    facts: &Facts,
    class: &NodeClass,
    settings: &Settings,
    unavailable: &Unavailable,
    now: Timestamp,
) -> Vec<InstanceType> {
    instance_types_sharing(facts, class, settings, unavailable, now, &mut Interner::default())
}

/// As [`instance_types`], sharing what is equal with all that was made with the same `shared`: the types of a second class
/// cost a tenth of the first one's.
pub fn instance_types_sharing(
    facts: &Facts,
    class: &NodeClass,
    settings: &Settings,
    unavailable: &Unavailable,
    now: Timestamp,
    shared: &mut Interner,
) -> Vec<InstanceType> {
    let zones = class.zones();
    facts
        .types
        .values()
        .filter(|kind| labels::fits_class(kind, class))
        .filter_map(|kind| {
            let mut offerings = offerings::offerings(facts, kind, class, &zones, unavailable, now);
            if settings.reserved_capacity {
                reserved::add(facts, kind, class, &zones, unavailable, now, &mut offerings);
            }
            if offerings.is_empty() {
                return None;
            }
            let pods = capacity::pods(kind, class, settings);
            let memory = capacity::memory(kind, settings);
            let storage = capacity::ephemeral_storage(kind, class);
            Some(InstanceType {
                name: kind.name.clone(),
                requirements: labels::requirements(facts, kind, class, &offerings, shared),
                capacity: capacity::capacity(kind, class, memory, storage, pods),
                overhead: overhead::overhead(kind, class, memory, storage, pods),
                offerings,
                attach_limits: BTreeMap::new(),
                devices: Vec::new(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
