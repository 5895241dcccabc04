use std::collections::BTreeMap;

use joiner_api::EC2NodeClass;
use joiner_aws::catalogue::{Arch, Facts, Network, PriceBook, Settings, TypeFacts, instance_types};
use joiner_aws::unavailable::Unavailable;
use joiner_core::money::Price;
use serde_json::{Value, json};

use super::*;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn kind(name: &str, arch: Arch) -> TypeFacts {
    TypeFacts {
        name: name.into(),
        arch,
        hypervisor: "nitro".into(),
        spot: true,
        on_demand: true,
        vcpus: 2,
        memory_mib: 8192,
        cpu_manufacturer: "x".into(),
        clock_mhz: None,
        nested_virtualization: false,
        local_disk_gb: None,
        nvme: false,
        ebs_mbps: None,
        network: Network {
            interfaces: 3,
            addresses: 10,
            ..Network::default()
        },
        gpus: Box::default(),
        accelerators: Box::default(),
        neuron: Box::default(),
        zones: ["us-west-2a".into()].into(),
    }
}

fn class(architecture: &str) -> NodeClass {
    let object: EC2NodeClass = serde_json::from_value(json!({
        "metadata": {"name": "default", "uid": "c-1"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "r",
            "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
        },
        "status": {
            "subnets": [{"id": "subnet-1", "zone": "us-west-2a"}], "securityGroups": [{"id": "sg-1"}],
            "amis": [{"id": "ami-1", "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": [architecture]}]}],
            "instanceProfile": "p", "conditions": [],
        },
    }))
    .unwrap();
    NodeClass::try_from(&object).unwrap()
}

fn types(class: &NodeClass) -> Arc<[InstanceType]> {
    let kinds = [
        kind("c5.large", Arch::Amd64),
        kind("m5.large", Arch::Amd64),
        kind("m6g.large", Arch::Arm64),
    ];
    let price = |cents: u64| Price::from_micros(cents * 10_000);
    let on_demand: BTreeMap<Text, Price> = [
        ("c5.large".into(), price(8)),
        ("m5.large".into(), price(9)),
        ("m6g.large".into(), price(7)),
    ]
    .into();
    let facts = Facts {
        region: "us-west-2".into(),
        types: kinds.into_iter().map(|kind| (kind.name.clone(), kind)).collect(),
        zones: BTreeMap::new(),
        prices: PriceBook::new(on_demand, BTreeMap::new()),
    };
    instance_types(
        &facts,
        class,
        &Settings::default(),
        &Unavailable::default(),
        now(),
    )
    .into()
}

fn pool(requirements: Value) -> Pool {
    let object = serde_json::from_value(json!({
        "metadata": {"name": "default", "uid": "p-1"},
        "spec": {
            "limits": {"cpu": "0"},
            "template": {
                "metadata": {"labels": {"team": "a"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": requirements,
                    "taints": [{"key": "own", "effect": "NoSchedule"}],
                },
            },
        },
    }))
    .unwrap();
    map::pool(&object)
}

fn names(rehearsal: &Rehearsal) -> Vec<&str> {
    rehearsal
        .plan
        .choices
        .iter()
        .map(|it| &*it.instance_type)
        .collect()
}

#[test]
fn a_pool_rehearses_though_it_is_not_ready_and_full() {
    let class = class("amd64");
    let types = types(&class);
    let needs = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]);
    let rehearsal = Rehearsal::of_pool(&pool(needs), class.clone(), &types, now()).unwrap();
    assert_eq!(names(&rehearsal)[0], "c5.large", "the cheapest first");
    assert_eq!(&*rehearsal.labels["team"], "a");
    let rehearsal = rehearsal.with_all_types();
    let order_cluster = Cluster {
        name: "demo".to_owned(),
        endpoint: "https://127.0.0.1:1".to_owned(),
        ca_bundle: String::new(),
        service_cidr: String::new(),
        dns: None,
    };
    let order = rehearsal.order(&order_cluster, &[]);
    assert_eq!((order.node_pool, order.taints.len()), ("default", 1));
    assert_eq!(names(&rehearsal), ["c5.large", "m5.large"]);
    let nothing = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["riscv64"]}]);
    assert!(Rehearsal::of_pool(&pool(nothing), class, &types, now()).is_none());
}

#[test]
fn a_class_rehearses_with_what_its_images_run_on() {
    let anything = pool(json!([{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]));
    for (architecture, pools, want) in [
        ("amd64", vec![&anything], Some("c5.large")),
        ("arm64", vec![&anything], Some("m6g.large")),
        ("amd64", vec![], Some("m5.large")),
        ("riscv64", vec![&anything], None),
    ] {
        let class = class(architecture);
        let types = types(&class);
        let rehearsal = Rehearsal::of_class(pools, &class, &types, now());
        assert_eq!(rehearsal.as_ref().map(|it| names(it)[0]), want, "{architecture}");
    }
}
