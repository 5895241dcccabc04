//! The labels that nodes of a type will have, and whether a node class can use the type at all.

use super::capacity::is_windows;
use super::facts::{Arch, Facts, TypeFacts};
use crate::family;
use crate::node_class::NodeClass;
use joiner_api::labels as keys;
use joiner_api::{AmiFamily, Switch};
use joiner_core::catalogue::Offering;
use joiner_core::requirements::{Interner, Requirement, Requirements};
use joiner_core::text::Text;
use std::borrow::Cow;

/// A label and the values it may have; none: nodes of the type do not have the label.
type Label<'a> = (&'static str, Vec<Cow<'a, str>>);

/// Every label of the type over its offerings; a label that the type does not have is said to be missing. Types share
/// them through `shared`, since a region has forty thousand of them and some hundred different ones.
pub(super) fn requirements(
    facts: &Facts,
    kind: &TypeFacts,
    class: &NodeClass,
    offerings: &[Offering],
    shared: &mut Interner,
) -> Requirements {
    places(facts, kind, class, offerings)
        .into_iter()
        .chain(machine(kind))
        .chain(devices(kind))
        .map(|(key, values)| {
            let key = shared.text(key);
            let requirement = if values.is_empty() {
                Requirement::does_not_exist(key)
            } else {
                let values: Vec<Text> = values.iter().map(|value| shared.text(value)).collect();
                Requirement::is_in(key, values)
            };
            shared.requirement(requirement)
        })
        .collect()
}

/// What does not come from the type alone: name, place, operating system, way of buying, tenancy.
fn places<'a>(
    facts: &'a Facts,
    kind: &'a TypeFacts,
    class: &NodeClass,
    offerings: &'a [Offering],
) -> Vec<Label<'a>> {
    let os = if is_windows(class.family) {
        keys::OS_WINDOWS
    } else {
        keys::OS_LINUX
    };
    let mut labels = vec![
        (keys::INSTANCE_TYPE, one(&kind.name)),
        (keys::ARCH, one(kind.arch.as_str())),
        (keys::OS, one(os)),
        (
            keys::WINDOWS_BUILD,
            family::windows_build(class.family).map_or(Vec::new(), one),
        ),
        (keys::REGION, one(&facts.region)),
        (
            keys::ZONE,
            offerings
                .iter()
                .map(|offering| Cow::from(&*offering.zone))
                .collect(),
        ),
        (
            keys::CAPACITY_TYPE,
            offerings
                .iter()
                .map(|offering| offering.capacity_type.as_str().into())
                .collect(),
        ),
        (keys::INSTANCE_TENANCY, vec!["default".into(), "dedicated".into()]),
        (
            keys::CAPACITY_RESERVATION_ID,
            of_offerings(offerings, keys::CAPACITY_RESERVATION_ID),
        ),
        (
            keys::CAPACITY_RESERVATION_TYPE,
            of_offerings(offerings, keys::CAPACITY_RESERVATION_TYPE),
        ),
        (
            keys::CAPACITY_RESERVATION_INTERRUPTIBLE,
            of_offerings(offerings, keys::CAPACITY_RESERVATION_INTERRUPTIBLE),
        ),
    ];
    let zone_ids: Vec<Cow<'_, str>> = offerings
        .iter()
        .filter(|offering| !offering.zone_id.is_empty())
        .map(|offering| Cow::from(&*offering.zone_id))
        .collect();
    if !zone_ids.is_empty() {
        labels.push((keys::ZONE_ID, zone_ids));
    }
    labels
}

/// The values that offerings give a label of their own.
fn of_offerings<'a>(offerings: &'a [Offering], key: &str) -> Vec<Cow<'a, str>> {
    let values = offerings
        .iter()
        .filter_map(|offering| offering.extra.get(key)?.single());
    values.map(|value| Cow::from(&**value)).collect()
}

/// Name, processor, memory, disks, network.
fn machine(kind: &TypeFacts) -> Vec<Label<'_>> {
    let (family, size) = kind.family_and_size().unzip();
    let (category, generation) = kind.category_and_generation().unzip();
    let flexible = kind
        .name
        .split('.')
        .next()
        .is_some_and(|family| family.contains("-flex"));
    let manufacturer = Some(&*kind.cpu_manufacturer).filter(|name| !name.is_empty());
    vec![
        (keys::INSTANCE_FAMILY, family.map_or(Vec::new(), one)),
        (keys::INSTANCE_SIZE, size.map_or(Vec::new(), one)),
        (keys::INSTANCE_CATEGORY, category.map_or(Vec::new(), one)),
        (keys::INSTANCE_GENERATION, generation.map_or(Vec::new(), one)),
        (keys::INSTANCE_CAPABILITY_FLEX, one(truth(flexible))),
        (keys::INSTANCE_HYPERVISOR, one(&kind.hypervisor)),
        (
            keys::INSTANCE_ENCRYPTION_IN_TRANSIT,
            one(truth(kind.network.encrypted)),
        ),
        (keys::INSTANCE_CPU, number(kind.vcpus)),
        (
            keys::INSTANCE_CPU_MANUFACTURER,
            manufacturer.map_or(Vec::new(), kebab),
        ),
        (
            keys::INSTANCE_CPU_CLOCK_MHZ,
            kind.clock_mhz.map_or(Vec::new(), number),
        ),
        (keys::INSTANCE_MEMORY, number(kind.memory_mib)),
        (
            keys::INSTANCE_EBS_BANDWIDTH,
            kind.ebs_mbps.map_or(Vec::new(), number),
        ),
        (
            keys::INSTANCE_NETWORK_BANDWIDTH,
            kind.network.baseline_mbps.map_or(Vec::new(), number),
        ),
        (
            keys::INSTANCE_LOCAL_NVME,
            kind.local_disk_gb
                .filter(|_| kind.nvme)
                .map_or(Vec::new(), number),
        ),
    ]
}

/// Graphics processors and accelerators, where the type has one model of them.
fn devices(kind: &TypeFacts) -> Vec<Label<'_>> {
    let gpu = match &*kind.gpus {
        [only] => Some(only),
        _ => None,
    };
    let accelerator = match (&*kind.neuron, &*kind.accelerators) {
        ([device], _) => Some((&*device.name, "aws", device.count)),
        ([], [other]) => Some((&*other.name, &*other.manufacturer, other.count)),
        _ => None,
    };
    vec![
        (
            keys::INSTANCE_GPU_NAME,
            gpu.map_or(Vec::new(), |gpu| kebab(&gpu.name)),
        ),
        (
            keys::INSTANCE_GPU_MANUFACTURER,
            gpu.map_or(Vec::new(), |gpu| kebab(&gpu.manufacturer)),
        ),
        (
            keys::INSTANCE_GPU_COUNT,
            gpu.map_or(Vec::new(), |gpu| number(gpu.count)),
        ),
        (
            keys::INSTANCE_GPU_MEMORY,
            gpu.map_or(Vec::new(), |gpu| number(gpu.memory_mib)),
        ),
        (
            keys::INSTANCE_ACCELERATOR_NAME,
            accelerator.map_or(Vec::new(), |(name, _, _)| kebab(name)),
        ),
        (
            keys::INSTANCE_ACCELERATOR_MANUFACTURER,
            accelerator.map_or(Vec::new(), |(_, maker, _)| kebab(maker)),
        ),
        (
            keys::INSTANCE_ACCELERATOR_COUNT,
            accelerator.map_or(Vec::new(), |(_, _, count)| number(count)),
        ),
    ]
}

fn one(value: &str) -> Vec<Cow<'_, str>> {
    vec![value.into()]
}

fn number<'a>(number: impl Into<u64>) -> Vec<Cow<'a, str>> {
    vec![number.into().to_string().into()]
}

/// As label values are written: `NVIDIA` becomes `nvidia`, `Radeon Pro V520` becomes `radeon-pro-v520`.
fn kebab<'a>(text: &str) -> Vec<Cow<'a, str>> {
    vec![text.replace(' ', "-").to_lowercase().into()]
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
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
