//! Instance types of hand-made facts.

use super::*;
use crate::node_class::Subnet;
use crate::testing::node_class;
use crate::unavailable::Shortage;
use joiner_api::labels as keys;
use joiner_api::{AmiFamily, InstanceStorePolicy};
use joiner_core::catalogue::{CapacityType, Offering};
use joiner_core::money::Price;
use joiner_core::resources::ResourceName;
use joiner_core::snapshot::Device;
use std::collections::BTreeSet;

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn kind(name: &str) -> TypeFacts {
    TypeFacts {
        name: name.into(),
        arch: Arch::Amd64,
        hypervisor: "nitro".into(),
        spot: true,
        on_demand: true,
        vcpus: 2,
        memory_mib: 8192,
        cpu_manufacturer: "Intel".into(),
        clock_mhz: Some(3100),
        nested_virtualization: false,
        local_disk_gb: None,
        nvme: false,
        ebs_mbps: Some(4750),
        network: Network {
            interfaces: 3,
            addresses: 10,
            cards: Box::new([3]),
            ena: true,
            baseline_mbps: Some(750),
            ..Network::default()
        },
        gpus: Box::default(),
        accelerators: Box::default(),
        neuron: Box::default(),
        zones: ["us-west-2a".into(), "us-west-2b".into(), "us-west-2c".into()].into(),
    }
}

fn facts(kinds: Vec<TypeFacts>) -> Facts {
    let prices = kinds
        .iter()
        .map(|kind| (kind.name.clone(), Price::from_micros(96_000)))
        .collect();
    let spot = kinds
        .iter()
        .map(|kind| {
            (
                kind.name.clone(),
                [("us-west-2a".into(), Price::from_micros(30_000))]
                    .into_iter()
                    .collect(),
            )
        })
        .collect();
    Facts {
        region: "us-west-2".into(),
        types: kinds.into_iter().map(|kind| (kind.name.clone(), kind)).collect(),
        zones: [("us-west-2a".into(), "usw2-az2".into())].into(),
        prices: PriceBook::new(prices, spot),
    }
}

/// A class with a reservation of two m5.large in zone a.
fn reserving(remaining: u32) -> NodeClass {
    NodeClass {
        reservations: vec![crate::node_class::Reservation {
            id: "cr-1".to_owned(),
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            kind: joiner_api::CapacityReservationType::Default,
            interruptible: false,
            expiring: false,
            remaining,
        }],
        ..node_class()
    }
}

#[test]
fn a_reservation_is_an_offering_that_costs_next_to_nothing() {
    let of = |class: &NodeClass| {
        let it = only(&facts(vec![kind("m5.large")]), class);
        let (reserved, others): (Vec<Offering>, Vec<Offering>) = it
            .offerings
            .clone()
            .into_iter()
            .partition(|offering| offering.capacity_type == CapacityType::Reserved);
        assert_eq!(reserved.len(), 1);
        (it, reserved[0].clone(), others[0].clone())
    };
    let (it, reserved, other) = of(&reserving(2));
    assert!(reserved.available && reserved.price < other.price, "{reserved:?}");
    assert_eq!(reserved.reservation.as_ref().map(|it| it.remaining), Some(2));
    let labels = |offering: &Offering| joiner_core::launch::labels(&it, offering);
    let id = |offering: &Offering| labels(offering).get(keys::CAPACITY_RESERVATION_ID).cloned();
    assert_eq!(id(&reserved).as_deref(), Some("cr-1"));
    assert_eq!(id(&other), None, "only one of the reservation has its label");
    assert!(!of(&reserving(0)).1.available, "it is full");
    let mut expiring = reserving(2);
    expiring.reservations[0].expiring = true;
    assert!(!of(&expiring).1.available);
    let mut short = Unavailable::default();
    let shortage = Shortage::Offering {
        capacity_type: "reserved".to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
    };
    short.mark(shortage, "ReservationCapacityExceeded", now());
    let types = instance_types(
        &facts(vec![kind("m5.large")]),
        &reserving(2),
        &Settings::default(),
        &short,
        now(),
    );
    assert!(
        types[0]
            .offerings
            .iter()
            .all(|it| it.available == (it.capacity_type != CapacityType::Reserved) || it.price == Price::MAX)
    );
}

#[test]
fn what_no_instance_could_be_launched_into_is_no_offering() {
    let mut elsewhere = reserving(2);
    elsewhere.reservations[0].zone = "us-west-2c".to_owned();
    let mut other = reserving(2);
    other.reservations[0].instance_type = "m5.xlarge".to_owned();
    let off = Settings {
        reserved_capacity: false,
        ..Settings::default()
    };
    let facts = facts(vec![kind("m5.large")]);
    for (class, settings) in [
        (&elsewhere, &Settings::default()),
        (&other, &Settings::default()),
        (&reserving(2), &off),
    ] {
        let types = instance_types(&facts, class, settings, &Unavailable::default(), now());
        let reserved = |it: &&Offering| it.capacity_type == CapacityType::Reserved;
        assert!(!types[0].offerings.iter().any(|it| reserved(&it)));
        assert!(types[0].offerings.iter().all(|it| it.extra.is_empty()));
    }
}

fn only(facts: &Facts, class: &NodeClass) -> InstanceType {
    let types = instance_types(facts, class, &Settings::default(), &Unavailable::default(), now());
    assert_eq!(types.len(), 1);
    types.into_iter().next().unwrap()
}

fn label(kind: &InstanceType, key: &str) -> Option<String> {
    kind.requirements
        .get(key)
        .and_then(|requirement| requirement.single())
        .map(|value| value.to_string())
}

#[test]
fn an_ordinary_type_has_all_its_labels() {
    let m5 = only(&facts(vec![kind("m5.large")]), &node_class());
    insta::assert_snapshot!(
        m5.requirements
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn capacity_and_overhead_follow_the_images_formulas() {
    let m5 = only(&facts(vec![kind("m5.large")]), &node_class());
    assert_eq!(
        m5.capacity.to_string(),
        "cpu 2, memory 7577Mi, ephemeral-storage 20Gi, pods 29, vpc.amazonaws.com/pod-eni 9"
    );
    assert_eq!(
        m5.overhead.kube_reserved.to_string(),
        "cpu 70m, memory 574Mi, ephemeral-storage 1Gi"
    );
    assert_eq!(
        m5.overhead.eviction_threshold.to_string(),
        "memory 100Mi, ephemeral-storage 2147483648".replace("2147483648", "2Gi")
    );
    assert!(m5.overhead.system_reserved.is_empty());
}

#[test]
fn pods_follow_settings_family_and_interfaces() {
    let with = |change: fn(&mut NodeClass)| {
        let mut class = node_class();
        change(&mut class);
        only(&facts(vec![kind("m5.large")]), &class)
            .capacity
            .get(&ResourceName::Pods)
    };
    assert_eq!(with(|_| {}), 29);
    assert_eq!(with(|class| class.kubelet.max_pods = Some(110)), 110);
    assert_eq!(with(|class| class.kubelet.pods_per_core = Some(4)), 8);
    assert_eq!(
        with(|class| {
            class.kubelet.pods_per_core = Some(4);
            class.family = AmiFamily::Bottlerocket;
        }),
        29
    );
    let reserved = Settings {
        reserved_interfaces: 1,
        ..Settings::default()
    };
    let types = instance_types(
        &facts(vec![kind("m5.large")]),
        &node_class(),
        &reserved,
        &Unavailable::default(),
        now(),
    );
    assert_eq!(types[0].capacity.get(&ResourceName::Pods), 20);
}

#[test]
fn memory_is_estimated_until_it_is_measured() {
    let arm = TypeFacts {
        arch: Arch::Arm64,
        ..kind("m6g.large")
    };
    let memory = |settings: &Settings| {
        let types = instance_types(
            &facts(vec![arm.clone()]),
            &node_class(),
            settings,
            &Unavailable::default(),
            now(),
        );
        types[0].capacity.get(&ResourceName::Memory)
    };
    // 8192 - 64 = 8128; 7.5 % of it is 609.6, rounded up.
    assert_eq!(memory(&Settings::default()), (8128 - 610) * MIB);
    let measured = Settings {
        measured_memory: [("m6g.large".into(), 5)].into(),
        ..Settings::default()
    };
    assert_eq!(memory(&measured), 5);
}

#[test]
fn storage_is_the_disk_that_pods_write_to() {
    let mapping = |device: &str, size: &str, root: bool| joiner_api::BlockDeviceMapping {
        device_name: Some(device.to_owned()),
        ebs: Some(joiner_api::BlockDevice {
            volume_size: Some(size.parse().unwrap()),
            ..Default::default()
        }),
        root_volume: root.then_some(true),
    };
    let nvme = TypeFacts {
        local_disk_gb: Some(75),
        nvme: true,
        ..kind("m5d.large")
    };
    let storage = |change: &dyn Fn(&mut NodeClass)| {
        let mut class = node_class();
        change(&mut class);
        only(&facts(vec![nvme.clone()]), &class)
            .capacity
            .get(&ResourceName::EphemeralStorage)
    };
    assert_eq!(storage(&|_| {}), 20 * GIB);
    assert_eq!(
        storage(&|class| class.instance_store = Some(InstanceStorePolicy::RAID0)),
        75_000_000_000
    );
    assert_eq!(
        storage(&|class| class.block_devices = vec![mapping("/dev/xvda", "50Gi", false)]),
        50 * GIB
    );
    assert_eq!(
        storage(&|class| class.block_devices = vec![mapping("/dev/xvdb", "50Gi", false)]),
        20 * GIB
    );
    assert_eq!(
        storage(&|class| {
            class.block_devices = vec![
                mapping("/dev/xvda", "50Gi", false),
                mapping("/dev/xvdc", "7Gi", true),
            ];
        }),
        7 * GIB
    );
    assert_eq!(
        storage(&|class| {
            class.family = AmiFamily::Custom;
            class.block_devices = vec![mapping("/dev/x", "50Gi", false), mapping("/dev/y", "60Gi", false)];
        }),
        60 * GIB
    );
}

#[test]
fn offerings_are_where_both_the_type_and_a_subnet_are() {
    let m5 = only(&facts(vec![kind("m5.large")]), &node_class());
    let table: Vec<String> = m5
        .offerings
        .iter()
        .map(|offering| {
            let Offering {
                zone,
                zone_id,
                capacity_type,
                price,
                available,
                ..
            } = offering;
            format!("{zone} {zone_id} {capacity_type} {price} {available}")
        })
        .collect();
    assert_eq!(
        table,
        [
            "us-west-2a usw2-az2 on-demand $0.096/h true",
            "us-west-2a usw2-az2 spot $0.03/h true",
            "us-west-2b usw2-az1 on-demand $0.096/h true",
            "us-west-2b usw2-az1 spot unknown false",
        ]
    );
}

#[test]
fn a_shortage_makes_an_offering_unavailable_and_leaves_it_listed() {
    let mut out = Unavailable::default();
    let shortage = Shortage::Offering {
        capacity_type: "spot".to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
    };
    out.mark(shortage, "InsufficientInstanceCapacity", now());
    let types = instance_types(
        &facts(vec![kind("m5.large")]),
        &node_class(),
        &Settings::default(),
        &out,
        now(),
    );
    let available: Vec<(&str, CapacityType)> = types[0]
        .offerings
        .iter()
        .filter(|offering| offering.available)
        .map(|offering| (&*offering.zone, offering.capacity_type))
        .collect();
    assert_eq!(
        available,
        [
            ("us-west-2a", CapacityType::OnDemand),
            ("us-west-2b", CapacityType::OnDemand)
        ]
    );
}

#[test]
fn without_a_price_list_types_are_ordered_by_size() {
    let mut facts = facts(vec![
        kind("m5.large"),
        TypeFacts {
            vcpus: 4,
            memory_mib: 16384,
            ..kind("m5.xlarge")
        },
        TypeFacts {
            arch: Arch::Arm64,
            ..kind("m6g.large")
        },
    ]);
    facts.prices = PriceBook::default();
    let types = instance_types(
        &facts,
        &node_class(),
        &Settings::default(),
        &Unavailable::default(),
        now(),
    );
    let mut prices: Vec<(Price, &str)> = types
        .iter()
        .filter_map(|kind| Some((kind.cheapest(&Default::default())?, &*kind.name)))
        .collect();
    prices.sort();
    let shown: Vec<String> = prices
        .iter()
        .map(|(price, name)| format!("{name} {price}"))
        .collect();
    assert_eq!(
        shown,
        [
            "m6g.large $0.07894/h",
            "m5.large $0.098676/h",
            "m5.xlarge $0.197352/h"
        ]
    );
}

#[test]
fn types_that_the_class_cannot_use_are_left_out() {
    let kinds = vec![
        kind("a1.large"),
        TypeFacts {
            zones: BTreeSet::from(["us-west-2d".into()]),
            ..kind("m5.large")
        },
    ];
    assert!(
        instance_types(
            &facts(kinds),
            &node_class(),
            &Settings::default(),
            &Unavailable::default(),
            now()
        )
        .is_empty()
    );
    let mut class = node_class();
    class.subnets = vec![Subnet {
        id: "s".into(),
        zone: "us-west-2d".into(),
        zone_id: String::new(),
    }];
    class.connection_tracking = Some(joiner_api::ConnectionTracking::default());
    let xen = TypeFacts {
        hypervisor: "xen".into(),
        zones: BTreeSet::from(["us-west-2d".into()]),
        ..kind("m4.large")
    };
    assert!(
        instance_types(
            &facts(vec![xen]),
            &class,
            &Settings::default(),
            &Unavailable::default(),
            now()
        )
        .is_empty()
    );
}

#[test]
fn names_tell_category_generation_family_and_size() {
    for (name, category, generation, flex) in [
        ("c5n.4xlarge", Some("c"), Some("5"), "false"),
        ("m7i-flex.large", Some("m"), Some("7"), "true"),
        ("u-6tb1.metal", Some("u"), Some("1"), "false"),
        ("u7in-16tb.224xlarge", Some("u"), Some("7"), "false"),
        ("inf2.xlarge", Some("inf"), Some("2"), "false"),
        ("mac2-m2.metal", Some("mac"), Some("2"), "false"),
        ("hpc7g.4xlarge", Some("hpc"), Some("7"), "false"),
    ] {
        let found = only(&facts(vec![kind(name)]), &node_class());
        assert_eq!(
            label(&found, keys::INSTANCE_CATEGORY).as_deref(),
            category,
            "{name}"
        );
        assert_eq!(
            label(&found, keys::INSTANCE_GENERATION).as_deref(),
            generation,
            "{name}"
        );
        assert_eq!(
            label(&found, keys::INSTANCE_CAPABILITY_FLEX).as_deref(),
            Some(flex),
            "{name}"
        );
        let (family, size) = name.split_once('.').unwrap();
        assert_eq!(label(&found, keys::INSTANCE_FAMILY).as_deref(), Some(family));
        assert_eq!(label(&found, keys::INSTANCE_SIZE).as_deref(), Some(size));
    }
}

#[test]
fn devices_are_counted_and_named() {
    let gpu = Gpu {
        name: "A100".into(),
        manufacturer: "NVIDIA".into(),
        count: 8,
        memory_mib: 40960,
    };
    let p4d = only(
        &facts(vec![TypeFacts {
            gpus: Box::new([gpu]),
            ..kind("p4d.24xlarge")
        }]),
        &node_class(),
    );
    assert_eq!(p4d.capacity.get(&"nvidia.com/gpu".into()), 8);
    assert_eq!(label(&p4d, keys::INSTANCE_GPU_NAME).as_deref(), Some("a100"));
    assert_eq!(
        label(&p4d, keys::INSTANCE_GPU_MANUFACTURER).as_deref(),
        Some("nvidia")
    );
    assert_eq!(label(&p4d, keys::INSTANCE_GPU_COUNT).as_deref(), Some("8"));
    assert_eq!(label(&p4d, keys::INSTANCE_GPU_MEMORY).as_deref(), Some("40960"));
    let device = Neuron {
        name: "Inferentia2".into(),
        count: 6,
        cores: 2,
    };
    let inf2 = only(
        &facts(vec![TypeFacts {
            neuron: Box::new([device]),
            ..kind("inf2.24xlarge")
        }]),
        &node_class(),
    );
    assert_eq!(inf2.capacity.get(&"aws.amazon.com/neuron".into()), 6);
    assert_eq!(inf2.capacity.get(&"aws.amazon.com/neuroncore".into()), 12);
    assert_eq!(
        label(&inf2, keys::INSTANCE_ACCELERATOR_NAME).as_deref(),
        Some("inferentia2")
    );
    assert_eq!(
        label(&inf2, keys::INSTANCE_ACCELERATOR_MANUFACTURER).as_deref(),
        Some("aws")
    );
}

/// What nodes of a type were seen to publish stands in place of what EC2 tells, driver by driver.
#[test]
fn devices_are_told_until_they_are_seen() {
    let gpu = Gpu {
        name: "T4".into(),
        manufacturer: "NVIDIA".into(),
        count: 4,
        memory_mib: 16_384,
    };
    let facts = facts(vec![
        TypeFacts {
            gpus: Box::new([gpu]),
            ..kind("g4dn.12xlarge")
        },
        kind("m5.large"),
    ]);
    let seen_as = |driver: &str| -> BTreeMap<Text, std::sync::Arc<[Device]>> {
        let device = Device {
            driver: driver.into(),
            pool: "".into(),
            name: "seen".into(),
            attributes: BTreeMap::new(),
            capacity: BTreeMap::new(),
            taken: false,
        };
        [("g4dn.12xlarge".into(), [device].into())].into()
    };
    let unavailable = Unavailable::default();
    let settings = Settings::default();
    for (case, seen, want) in [
        ("none was seen", BTreeMap::new(), "gpu-0 gpu-1 gpu-2 gpu-3"),
        ("of this driver", seen_as("gpu.nvidia.com"), "seen"),
        (
            "of another",
            seen_as("nic.example.com"),
            "gpu-0 gpu-1 gpu-2 gpu-3 seen",
        ),
    ] {
        let mut types = instance_types(&facts, &node_class(), &settings, &unavailable, now());
        assert!(types.iter().all(|it| it.devices.is_empty()), "none by default");
        add_devices(&mut types, &facts, &seen);
        for it in &types {
            let names: Vec<&str> = it.devices.iter().map(|device| &*device.name).collect();
            let want = if &*it.name == "m5.large" { "" } else { want };
            assert_eq!(names.join(" "), want, "{case}, {}", it.name);
        }
    }
}
