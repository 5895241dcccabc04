//! The labels that nodes of a type will have, and whether a node class can use the type at all.

use super::capacity::is_windows;
use super::facts::{Arch, Facts, TypeFacts};
use crate::family;
use crate::node_class::NodeClass;
use joiner_api::labels as keys;
use joiner_api::{AmiFamily, Switch};
use joiner_core::catalogue::Offering;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::text::Text;

/// Every label of the type over its offerings; a label that the type does not have is said to be missing.
pub(super) fn requirements(
    facts: &Facts,
    kind: &TypeFacts,
    class: &NodeClass,
    offerings: &[Offering],
) -> Requirements {
    let mut all = places(facts, kind, class, offerings);
    let mut one = |key: &'static str, value: Option<Text>| {
        all.add(match value {
            Some(value) => Requirement::is(key, value),
            None => Requirement::does_not_exist(key),
        });
    };
    let text = |part: &str| Some(Text::from(part));
    let number = |number: u64| Some(Text::from(number.to_string()));

    let (type_family, size) = kind
        .family_and_size()
        .map_or((None, None), |(family, size)| (text(family), text(size)));
    let (category, generation) = kind
        .category_and_generation()
        .map_or((None, None), |(category, generation)| {
            (text(category), text(generation))
        });
    let flexible = kind
        .name
        .split('.')
        .next()
        .is_some_and(|family| family.contains("-flex"));
    one(keys::INSTANCE_FAMILY, type_family);
    one(keys::INSTANCE_SIZE, size);
    one(keys::INSTANCE_CATEGORY, category);
    one(keys::INSTANCE_GENERATION, generation);
    one(
        keys::INSTANCE_CAPABILITY_FLEX,
        text(if flexible { "true" } else { "false" }),
    );
    one(keys::INSTANCE_HYPERVISOR, Some(kind.hypervisor.clone()));
    one(
        keys::INSTANCE_ENCRYPTION_IN_TRANSIT,
        text(if kind.network.encrypted { "true" } else { "false" }),
    );
    one(keys::INSTANCE_CPU, number(u64::from(kind.vcpus)));
    let manufacturer = Some(&kind.cpu_manufacturer).filter(|name| !name.is_empty());
    one(
        keys::INSTANCE_CPU_MANUFACTURER,
        manufacturer.map(|name| kebab(name)),
    );
    one(
        keys::INSTANCE_CPU_CLOCK_MHZ,
        kind.clock_mhz.and_then(|clock| number(u64::from(clock))),
    );
    one(keys::INSTANCE_MEMORY, number(kind.memory_mib));
    one(
        keys::INSTANCE_EBS_BANDWIDTH,
        kind.ebs_mbps.and_then(|rate| number(u64::from(rate))),
    );
    one(
        keys::INSTANCE_NETWORK_BANDWIDTH,
        kind.network.baseline_mbps.and_then(number),
    );
    one(
        keys::INSTANCE_LOCAL_NVME,
        kind.local_disk_gb.filter(|_| kind.nvme).and_then(number),
    );

    let gpu = match &*kind.gpus {
        [only] => Some(only),
        _ => None,
    };
    one(keys::INSTANCE_GPU_NAME, gpu.map(|gpu| kebab(&gpu.name)));
    one(
        keys::INSTANCE_GPU_MANUFACTURER,
        gpu.map(|gpu| kebab(&gpu.manufacturer)),
    );
    one(
        keys::INSTANCE_GPU_COUNT,
        gpu.and_then(|gpu| number(u64::from(gpu.count))),
    );
    one(
        keys::INSTANCE_GPU_MEMORY,
        gpu.and_then(|gpu| number(gpu.memory_mib)),
    );

    let accelerator = match (&*kind.neuron, &*kind.accelerators) {
        ([device], _) => Some((kebab(&device.name), Text::from("aws"), device.count)),
        ([], [other]) => Some((kebab(&other.name), kebab(&other.manufacturer), other.count)),
        _ => None,
    };
    one(
        keys::INSTANCE_ACCELERATOR_NAME,
        accelerator.as_ref().map(|(name, _, _)| name.clone()),
    );
    one(
        keys::INSTANCE_ACCELERATOR_MANUFACTURER,
        accelerator.as_ref().map(|(_, maker, _)| maker.clone()),
    );
    one(
        keys::INSTANCE_ACCELERATOR_COUNT,
        accelerator.and_then(|(_, _, count)| number(u64::from(count))),
    );
    all
}

/// What does not come from the type alone: name, place, operating system, way of buying, tenancy.
fn places(facts: &Facts, kind: &TypeFacts, class: &NodeClass, offerings: &[Offering]) -> Requirements {
    let os = if is_windows(class.family) {
        keys::OS_WINDOWS
    } else {
        keys::OS_LINUX
    };
    let zone_ids = offerings
        .iter()
        .map(|offering| &offering.zone_id)
        .filter(|id| !id.is_empty())
        .cloned();
    let mut all: Requirements = [
        Requirement::is(keys::INSTANCE_TYPE, kind.name.clone()),
        Requirement::is(keys::ARCH, kind.arch.as_str()),
        Requirement::is(keys::OS, os),
        Requirement::is(keys::REGION, facts.region.clone()),
        Requirement::is_in(keys::ZONE, offerings.iter().map(|offering| offering.zone.clone())),
        Requirement::is_in(
            keys::CAPACITY_TYPE,
            offerings.iter().map(|offering| offering.capacity_type.as_str()),
        ),
        Requirement::is_in(keys::INSTANCE_TENANCY, ["default", "dedicated"]),
        Requirement::does_not_exist(keys::CAPACITY_RESERVATION_ID),
        Requirement::does_not_exist(keys::CAPACITY_RESERVATION_TYPE),
        Requirement::does_not_exist(keys::CAPACITY_RESERVATION_INTERRUPTIBLE),
        match family::windows_build(class.family) {
            Some(build) => Requirement::is(keys::WINDOWS_BUILD, build),
            None => Requirement::does_not_exist(keys::WINDOWS_BUILD),
        },
    ]
    .into_iter()
    .collect();
    let zone_ids: Vec<Text> = zone_ids.collect();
    if !zone_ids.is_empty() {
        all.add(Requirement::is_in(keys::ZONE_ID, zone_ids));
    }
    all
}

/// Whether instances of the type can be launched with the class.
pub(super) fn fits_class(kind: &TypeFacts, class: &NodeClass) -> bool {
    let image = match class.family {
        // Amazon Linux 2023 does not run on the first generation of Graviton.
        AmiFamily::AL2023 => !kind.name.starts_with("a1."),
        family if is_windows(family) => kind.arch == Arch::Amd64,
        _ => true,
    };
    let virtual_machines = class.nested_virtualization != Some(Switch::Enabled) || kind.nested_virtualization;
    let tracking = class.connection_tracking.is_none() || &*kind.hypervisor == "nitro";
    image && virtual_machines && tracking && fits_interfaces(kind, class)
}

fn fits_interfaces(kind: &TypeFacts, class: &NodeClass) -> bool {
    if class.network_interfaces.is_empty() {
        return true;
    }
    let on_cards = class.network_interfaces.iter().all(|interface| {
        usize::try_from(interface.network_card_index)
            .ok()
            .and_then(|index| kind.network.cards.get(index))
            .is_some_and(|most| i32::from(*most) > interface.device_index)
    });
    let fabric = u32::try_from(class.efa_only_interfaces()).unwrap_or(u32::MAX);
    kind.network.ena && on_cards && fabric <= kind.network.efas
}

/// As label values are written: `NVIDIA` becomes `nvidia`, `Radeon Pro V520` becomes `radeon-pro-v520`.
fn kebab(text: &str) -> Text {
    Text::from(text.replace(' ', "-").to_lowercase())
}
