//! Facts from EC2: types, where they are offered, zones. Each page is made compact before the next is asked for.

use super::facts::{Accelerator, Arch, Facts, Gpu, Network, Neuron, TypeFacts};
use super::prices::load_prices;
use crate::connect::Aws;
use crate::error::{Error, Named};
use aws_sdk_ec2::types as ec2;
use joiner_core::requirements::Interner;
use joiner_core::text::Text;
use std::collections::{BTreeMap, BTreeSet};

const TYPES: &str = "ec2:DescribeInstanceTypes";
const OFFERINGS: &str = "ec2:DescribeInstanceTypeOfferings";
const ZONES: &str = "ec2:DescribeAvailabilityZones";

/// Everything at once; the parts are read side by side.
pub async fn load_facts(aws: &Aws) -> Result<Facts, Error> {
    let region = aws.region().await?;
    let (types, zones, prices) = futures::try_join!(load_types(aws), load_zones(aws), load_prices(aws))?;
    Ok(Facts {
        region: region.into(),
        types,
        zones,
        prices,
    })
}

/// Types for virtual machines and metal with a processor that Kubernetes runs on, and the zones that offer them.
pub async fn load_types(aws: &Aws) -> Result<BTreeMap<Text, TypeFacts>, Error> {
    let (mut types, mut offered) = futures::try_join!(describe_types(aws), describe_offerings(aws))?;
    for (name, kind) in &mut types {
        kind.zones = offered.remove(name).unwrap_or_default();
    }
    types.retain(|_, kind| !kind.zones.is_empty());
    Ok(types)
}

/// Names and ids of the region's zones. Empty where the caller may not ask: the ids then come from subnets.
pub async fn load_zones(aws: &Aws) -> Result<BTreeMap<Text, Text>, Error> {
    let answer = aws
        .ec2()
        .await?
        .describe_availability_zones()
        .send()
        .await
        .named(ZONES);
    let answer = match answer {
        Ok(answer) => answer,
        Err(Error::Unauthorized(_)) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    Ok(answer
        .availability_zones()
        .iter()
        .filter_map(|zone| Some((Text::from(zone.zone_name()?), Text::from(zone.zone_id()?))))
        .collect())
}

async fn describe_types(aws: &Aws) -> Result<BTreeMap<Text, TypeFacts>, Error> {
    let filter = |name: &str, values: &[&str]| {
        ec2::Filter::builder()
            .name(name)
            .set_values(Some(values.iter().map(|value| (*value).to_owned()).collect()))
            .build()
    };
    let mut pages = aws
        .ec2()
        .await?
        .describe_instance_types()
        .filters(filter("supported-virtualization-type", &["hvm"]))
        .filters(filter(
            "processor-info.supported-architecture",
            &["x86_64", "arm64"],
        ))
        .into_paginator()
        .page_size(100)
        .send();
    let mut interner = Interner::default();
    let mut types = BTreeMap::new();
    while let Some(page) = pages.next().await {
        for info in page.named(TYPES)?.instance_types() {
            if let Some(kind) = type_facts(info, &mut interner) {
                types.insert(kind.name.clone(), kind);
            }
        }
    }
    Ok(types)
}

async fn describe_offerings(aws: &Aws) -> Result<BTreeMap<Text, BTreeSet<Text>>, Error> {
    let mut pages = aws
        .ec2()
        .await?
        .describe_instance_type_offerings()
        .location_type(ec2::LocationType::AvailabilityZone)
        .into_paginator()
        .page_size(1000)
        .send();
    let mut interner = Interner::default();
    let mut offered: BTreeMap<Text, BTreeSet<Text>> = BTreeMap::new();
    while let Some(page) = pages.next().await {
        for offering in page.named(OFFERINGS)?.instance_type_offerings() {
            if let (Some(kind), Some(zone)) = (offering.instance_type(), offering.location()) {
                offered
                    .entry(interner.text(kind.as_str()))
                    .or_default()
                    .insert(interner.text(zone));
            }
        }
    }
    Ok(offered)
}

/// Makes one answer compact; `None` for a type without a name, a size or a known processor.
fn type_facts(info: &ec2::InstanceTypeInfo, interner: &mut Interner) -> Option<TypeFacts> {
    let processor = info.processor_info();
    let arch = processor?
        .supported_architectures()
        .iter()
        .find_map(|word| Arch::of_ec2(word.as_str()))?;
    let sold = |class: ec2::UsageClassType| info.supported_usage_classes().contains(&class);
    let storage = info.instance_storage_info();
    Some(TypeFacts {
        name: info.instance_type()?.as_str().into(),
        arch,
        hypervisor: interner.text(info.hypervisor().map_or("", |hypervisor| hypervisor.as_str())),
        spot: sold(ec2::UsageClassType::Spot),
        on_demand: sold(ec2::UsageClassType::OnDemand),
        vcpus: whole(info.v_cpu_info()?.default_v_cpus()?)?,
        memory_mib: u64::try_from(info.memory_info()?.size_in_mib()?).ok()?,
        cpu_manufacturer: interner.text(processor?.manufacturer().unwrap_or_default()),
        clock_mhz: processor?.sustained_clock_speed_in_ghz().and_then(thousand),
        nested_virtualization: processor?
            .supported_features()
            .iter()
            .any(|feature| feature.as_str() == "nested-virtualization"),
        local_disk_gb: storage
            .and_then(|storage| storage.total_size_in_gb())
            .and_then(|size| u64::try_from(size).ok()),
        nvme: storage
            .and_then(|storage| storage.nvme_support())
            .is_some_and(|support| *support != ec2::EphemeralNvmeSupport::Unsupported),
        ebs_mbps: info
            .ebs_info()
            .filter(|ebs| ebs.ebs_optimized_support() == Some(&ec2::EbsOptimizedSupport::Default))
            .and_then(|ebs| ebs.ebs_optimized_info())
            .and_then(|optimized| optimized.maximum_bandwidth_in_mbps())
            .and_then(whole),
        network: network(info.network_info()),
        gpus: gpus(info, interner),
        accelerators: accelerators(info, interner),
        neuron: neuron(info, interner),
        zones: BTreeSet::new(),
    })
}

fn network(info: Option<&ec2::NetworkInfo>) -> Network {
    let Some(info) = info else {
        return Network::default();
    };
    let default_card = info.default_network_card_index().unwrap_or(0);
    let mut cards: Vec<&ec2::NetworkCardInfo> = info.network_cards().iter().collect();
    cards.sort_by_key(|card| card.network_card_index());
    let interfaces = cards
        .iter()
        .find(|card| card.network_card_index() == Some(default_card))
        .and_then(|card| card.maximum_network_interfaces())
        .or(info.maximum_network_interfaces());
    let baselines: Vec<f64> = cards
        .iter()
        .filter_map(|card| card.baseline_bandwidth_in_gbps())
        .collect();
    Network {
        interfaces: interfaces.and_then(whole).unwrap_or(0),
        addresses: info.ipv4_addresses_per_interface().and_then(whole).unwrap_or(0),
        cards: cards
            .iter()
            .map(|card| {
                card.maximum_network_interfaces()
                    .and_then(|most| u16::try_from(most).ok())
                    .unwrap_or(0)
            })
            .collect(),
        efas: info
            .efa_info()
            .and_then(|efa| efa.maximum_efa_interfaces())
            .and_then(whole)
            .unwrap_or(0),
        ena: info.ena_support() != Some(&ec2::EnaSupport::Unsupported),
        encrypted: info.encryption_in_transit_supported().unwrap_or(false),
        baseline_mbps: baseline_mbps(info.network_performance().unwrap_or_default(), &baselines),
    }
}

/// Mbit/s that a node can count on: the performance where it is one number (`25 Gigabit`, `8x 100 Gigabit`), the sum of
/// the cards' baselines (Gbit/s) where it is a peak (`Up to 25 Gigabit`), none where it is a word (`Moderate`).
fn baseline_mbps(performance: &str, baselines: &[f64]) -> Option<u64> {
    let speed = performance.strip_suffix(" Gigabit")?;
    if speed.starts_with("Up to ") {
        return (!baselines.is_empty())
            .then(|| baselines.iter().sum())
            .and_then(thousand)
            .map(u64::from);
    }
    let (cards, speed) = speed.split_once('x').unwrap_or(("1", speed));
    let cards: u64 = cards.trim().parse().ok()?;
    Some(u64::from(thousand(speed.trim().parse().ok()?)?) * cards)
}

fn gpus(info: &ec2::InstanceTypeInfo, interner: &mut Interner) -> Box<[Gpu]> {
    let list = info.gpu_info().map(|info| info.gpus()).unwrap_or_default();
    list.iter()
        .map(|gpu| Gpu {
            name: interner.text(gpu.name().unwrap_or_default()),
            manufacturer: interner.text(gpu.manufacturer().unwrap_or_default()),
            count: gpu.count().and_then(whole).unwrap_or(0),
            memory_mib: gpu
                .memory_info()
                .and_then(|memory| memory.size_in_mib())
                .and_then(|size| u64::try_from(size).ok())
                .unwrap_or(0),
        })
        .collect()
}

fn accelerators(info: &ec2::InstanceTypeInfo, interner: &mut Interner) -> Box<[Accelerator]> {
    if info.neuron_info().is_some() {
        return Box::default();
    }
    let list = info
        .inference_accelerator_info()
        .map(|info| info.accelerators())
        .unwrap_or_default();
    list.iter()
        .map(|device| Accelerator {
            name: interner.text(device.name().unwrap_or_default()),
            manufacturer: interner.text(device.manufacturer().unwrap_or_default()),
            count: device.count().and_then(whole).unwrap_or(0),
        })
        .collect()
}

fn neuron(info: &ec2::InstanceTypeInfo, interner: &mut Interner) -> Box<[Neuron]> {
    let list = info
        .neuron_info()
        .map(|info| info.neuron_devices())
        .unwrap_or_default();
    list.iter()
        .map(|device| Neuron {
            name: interner.text(device.name().unwrap_or_default()),
            count: device.count().and_then(whole).unwrap_or(0),
            cores: device
                .core_info()
                .and_then(|core| core.count())
                .and_then(whole)
                .unwrap_or(0),
        })
        .collect()
}

fn whole(number: i32) -> Option<u32> {
    u32::try_from(number).ok()
}

/// A thousand times the number, rounded: GHz to MHz, Gbit/s to Mbit/s.
fn thousand(number: f64) -> Option<u32> {
    let scaled = (number * 1000.0).round();
    // The bounds make the conversion exact.
    (scaled >= 0.0 && scaled <= f64::from(u32::MAX)).then_some(scaled as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_is_what_a_node_can_count_on() {
        for (performance, baselines, want) in [
            ("Up to 10 Gigabit", [0.75].as_slice(), Some(750)),
            ("Up to 12.5 Gigabit", &[0.781], Some(781)),
            ("25 Gigabit", &[25.0], Some(25_000)),
            // Each card alone can have all of it.
            ("200 Gigabit", &[200.0, 200.0], Some(200_000)),
            ("4x 100 Gigabit", &[100.0; 4], Some(400_000)),
            ("8x400 Gigabit", &[], Some(3_200_000)),
            ("Moderate", &[0.45], None),
            ("Up to 10 Gigabit", &[], None),
            ("", &[], None),
        ] {
            assert_eq!(baseline_mbps(performance, baselines), want, "{performance}");
        }
    }
}
