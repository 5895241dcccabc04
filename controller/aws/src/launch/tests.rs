//! Orders, templates and answers without AWS.

use super::group::groups;
use super::lost::{client_token, find_lost, launch_tag};
use super::outcome::{FleetError, FleetInstance, merge, outcome, refused};
use super::*;
use crate::catalogue::{self, Arch, Facts, Network, PriceBook, TypeFacts};
use crate::error::{Answer, Error};
use crate::instances::{Instance, State};
use crate::node_class::NodeClass;
use crate::selectors::FoundSubnet;
use crate::tags;
use crate::testing::node_class;
use crate::unavailable::{Shortage, Unavailable};
use crate::userdata::Cluster;
use jiff::Timestamp;
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::launch::{Choice, Plan};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::Resources;
use joiner_core::taints::{Effect, Taint};
use joiner_core::text::{Labels, labels};
use std::collections::BTreeSet;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn kind(name: &str, arch: Arch, interfaces: u32) -> TypeFacts {
    TypeFacts {
        name: name.into(),
        arch,
        hypervisor: "nitro".into(),
        spot: true,
        on_demand: true,
        vcpus: 2,
        memory_mib: 8192,
        cpu_manufacturer: "Intel".into(),
        clock_mhz: None,
        nested_virtualization: false,
        local_disk_gb: None,
        nvme: false,
        ebs_mbps: None,
        network: Network {
            interfaces,
            addresses: 10,
            cards: Box::new([3]),
            efas: 1,
            ena: true,
            ..Network::default()
        },
        gpus: Box::default(),
        accelerators: Box::default(),
        neuron: Box::default(),
        zones: ["us-west-2a".into(), "us-west-2b".into()].into(),
    }
}

/// Everything an order borrows from.
struct Store {
    claims: Vec<ClaimKey>,
    cluster: Cluster,
    class: NodeClass,
    plan: Plan,
    types: Vec<InstanceType>,
    labels: Labels,
    taints: Vec<Taint>,
    requests: Resources,
}

impl Store {
    fn new(choices: &[(&str, &str)]) -> Self {
        let class = node_class();
        let kinds = [
            kind("m5.large", Arch::Amd64, 3),
            kind("m5.xlarge", Arch::Amd64, 4),
            kind("m6g.large", Arch::Arm64, 3),
        ];
        let facts = Facts {
            region: "us-west-2".into(),
            types: kinds.into_iter().map(|kind| (kind.name.clone(), kind)).collect(),
            prices: PriceBook::default(),
            ..Facts::default()
        };
        let settings = catalogue::Settings::default();
        Self {
            claims: vec![claim("default-abcde")],
            cluster: Cluster {
                name: "dev".to_owned(),
                endpoint: "https://api.dev".to_owned(),
                ca_bundle: String::new(),
                service_cidr: "10.100.0.0/16".to_owned(),
                dns: None,
            },
            types: catalogue::instance_types(&facts, &class, &settings, &Unavailable::default(), now()),
            class,
            plan: Plan {
                capacity_type: CapacityType::Spot,
                choices: choices
                    .iter()
                    .map(|(kind, zone)| Choice {
                        instance_type: (*kind).into(),
                        zone: (*zone).into(),
                        zone_id: "".into(),
                        price: Price::from_micros(30_000),
                        reservation: None,
                    })
                    .collect(),
            },
            labels: labels([("karpenter.sh/nodepool", "default")]),
            taints: vec![Taint::new("team", "a", Effect::NoSchedule)],
            requests: Resources::new(),
        }
    }

    fn order(&self) -> Order<'_> {
        Order {
            claims: &self.claims,
            node_pool: "default",
            cluster: &self.cluster,
            class: &self.class,
            plan: &self.plan,
            types: &self.types,
            labels: &self.labels,
            taints: &self.taints,
            startup_taints: &[],
            requests: &self.requests,
            tenancy: Tenancy::Default,
        }
    }

    fn groups(&self) -> Result<Vec<Group>, LaunchError> {
        let free = FreeAddresses::default();
        groups(
            &self.order(),
            &free.choose(&self.class, &Unavailable::default(), now()),
        )
    }
}

fn claim(name: &str) -> ClaimKey {
    ClaimKey {
        name: name.to_owned(),
        uid: format!("uid of {name}"),
    }
}

#[test]
fn offerings_that_differ_in_image_or_pods_get_their_own_template() {
    let store = Store::new(&[
        ("m5.large", "us-west-2a"),
        ("m5.large", "us-west-2b"),
        ("m5.xlarge", "us-west-2a"),
        ("m6g.large", "us-west-2a"),
    ]);
    let groups = store.groups().unwrap();
    let table: Vec<String> = groups
        .iter()
        .flat_map(|group| {
            group.overrides.iter().map(|choice| {
                let Override {
                    instance_type,
                    zone,
                    subnet,
                    image,
                    price,
                } = choice;
                assert_eq!(*image, group.template.image);
                format!("{image} {instance_type} {zone} {subnet} {price}")
            })
        })
        .collect();
    assert_eq!(
        table,
        [
            "ami-amd64 m5.large us-west-2a subnet-a $0.03/h",
            "ami-amd64 m5.large us-west-2b subnet-b1 $0.03/h",
            "ami-amd64 m5.xlarge us-west-2a subnet-a $0.03/h",
            "ami-arm64 m6g.large us-west-2a subnet-a $0.03/h",
        ]
    );
    let names: BTreeSet<String> = groups.iter().map(|group| group.template.name()).collect();
    assert_eq!(names.len(), 3);
    assert!(
        names
            .iter()
            .all(|name| name.starts_with("karpenter.k8s.aws/") && name.len() <= 128)
    );
}

#[test]
fn a_template_is_named_by_what_it_holds_and_not_by_the_claim() {
    let name = |change: fn(&mut Store)| {
        let mut store = Store::new(&[("m5.large", "us-west-2a")]);
        change(&mut store);
        store.groups().unwrap()[0].template.name()
    };
    let first = name(|_| {});
    assert_eq!(first, name(|store| store.claims = vec![claim("default-zzzzz")]));
    for other in [
        name(|store| store.class.detailed_monitoring = true),
        name(|store| store.class.security_groups.push("sg-2".to_owned())),
        name(|store| store.class.user_data = Some("#!/bin/sh\n".to_owned())),
        name(|store| store.class.tags.clear()),
        name(|store| store.plan.capacity_type = CapacityType::OnDemand),
        name(|store| store.taints.clear()),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn a_template_holds_disks_metadata_interfaces_and_tags() {
    let mut store = Store::new(&[("m5.large", "us-west-2a")]);
    store.class.block_devices = vec![joiner_api::BlockDeviceMapping {
        device_name: Some("/dev/xvda".to_owned()),
        ebs: Some(joiner_api::BlockDevice {
            volume_size: Some("20G".parse().unwrap()),
            volume_type: Some(joiner_api::VolumeType::Gp3),
            iops: Some(3000),
            throughput: Some(125),
            ..Default::default()
        }),
        root_volume: None,
    }];
    let mut template = store.groups().unwrap().swap_remove(0).template;
    template.user_data = "(user data)".to_owned();
    insta::assert_json_snapshot!(template);
}

#[test]
fn fabric_adapters_are_attached_where_a_claim_asks_for_one() {
    let mut store = Store::new(&[("m5.large", "us-west-2a")]);
    store.requests = Resources::new().with("vpc.amazonaws.com/efa", 1);
    let template = store.groups().unwrap().swap_remove(0).template;
    assert_eq!(template.interfaces.len(), 1);
    assert_eq!(template.interfaces[0].kind.as_deref(), Some("efa"));
}

#[test]
fn what_does_not_go_together_is_explained() {
    let reason = |choices: &[(&str, &str)], change: fn(&mut Store)| {
        let mut store = Store::new(choices);
        change(&mut store);
        match store.groups() {
            Err(LaunchError::NodeClassNotReady { reason, .. }) => reason,
            other => format!("{other:?}"),
        }
    };
    let no_image = reason(&[("m6g.large", "us-west-2a")], |store| {
        store.class.images.retain(|image| image.id == "ami-amd64");
    });
    assert!(
        no_image.contains("none of its images runs on m6g.large"),
        "{no_image}"
    );
    let no_subnet = reason(&[("m5.large", "us-west-2d")], |_| {});
    assert!(no_subnet.contains("no subnet in zone us-west-2d"), "{no_subnet}");
}

#[test]
fn the_subnet_with_the_most_free_addresses_is_used() {
    let class = node_class();
    let found = |id: &str, free: u32| FoundSubnet {
        id: id.to_owned(),
        zone: String::new(),
        zone_id: String::new(),
        vpc_id: String::new(),
        free_addresses: free,
        tags: tags::Tags::new(),
    };
    let mut free = FreeAddresses::default();
    let mut out = Unavailable::default();
    let chosen =
        |free: &FreeAddresses, out: &Unavailable| free.choose(&class, out, now())["us-west-2b"].to_owned();
    assert_eq!(chosen(&free, &out), "subnet-b1");
    free.count(&[found("subnet-b1", 100), found("subnet-b2", 120)]);
    assert_eq!(chosen(&free, &out), "subnet-b2");
    free.take("subnet-b2", 29);
    assert_eq!(chosen(&free, &out), "subnet-b1");
    out.mark(
        Shortage::Subnet {
            id: "subnet-b1".to_owned(),
        },
        "InsufficientFreeAddressesInSubnet",
        now(),
    );
    assert_eq!(chosen(&free, &out), "subnet-b2");
    free.exhausted("subnet-b2");
    assert_eq!(chosen(&free, &out), "subnet-b2");
}

#[test]
fn a_reservation_has_a_template_of_its_own() {
    let mut store = Store::new(&[("m5.large", "us-west-2a"), ("m5.xlarge", "us-west-2a")]);
    store.plan.capacity_type = CapacityType::Reserved;
    let reservation = |id: &str, instance_type: &str| crate::node_class::Reservation {
        id: id.to_owned(),
        instance_type: instance_type.to_owned(),
        zone: "us-west-2a".to_owned(),
        kind: joiner_api::CapacityReservationType::Default,
        interruptible: false,
        expiring: false,
        remaining: 1,
    };
    store.class.reservations = vec![reservation("cr-1", "m5.large"), reservation("cr-2", "m5.xlarge")];
    for (choice, id) in store.plan.choices.iter_mut().zip(["cr-1", "cr-2"]) {
        choice.reservation = Some(id.into());
    }
    let groups = store.groups().unwrap();
    let targets: Vec<Option<&str>> = groups
        .iter()
        .map(|group| group.template.target.as_ref().map(|it| it.reservation.as_str()))
        .collect();
    assert_eq!(targets, [Some("cr-1"), Some("cr-2")]);
    let launched = outcome(&store.order(), vec![instance("i-1")], &[]).unwrap();
    assert_eq!(launched.bought[0].reservation.as_deref(), Some("cr-1"));
    // A block has a market of its own.
    store.class.reservations[0].kind = joiner_api::CapacityReservationType::CapacityBlock;
    let market = store.groups().unwrap()[0]
        .template
        .target
        .as_ref()
        .and_then(|it| it.market);
    assert_eq!(market, Some(super::template::Market::CapacityBlock));
}

#[test]
fn a_placement_group_is_in_the_template_and_in_its_name() {
    let mut store = Store::new(&[("m5.large", "us-west-2a")]);
    let without = store.groups().unwrap()[0].template.name();
    store.class.placement_group = Some("pg-1".to_owned());
    let with = store.groups().unwrap();
    assert_eq!(with[0].template.placement_group.as_deref(), Some("pg-1"));
    assert_ne!(with[0].template.name(), without);
}

fn instance(id: &str) -> FleetInstance {
    FleetInstance {
        id: id.to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
        image_id: "ami-amd64".to_owned(),
        subnet_id: "subnet-a".to_owned(),
    }
}

fn error(code: &str) -> FleetError {
    FleetError {
        code: code.to_owned(),
        message: "words".to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
        subnet: "subnet-a".to_owned(),
    }
}

#[test]
fn instances_go_to_claims_in_a_fixed_order() {
    let mut store = Store::new(&[("m5.large", "us-west-2a")]);
    store.claims = vec![claim("c"), claim("a"), claim("b")];
    let launched = outcome(
        &store.order(),
        vec![instance("i-2"), instance("i-1")],
        &[error("InsufficientInstanceCapacity")],
    );
    let launched = launched.unwrap();
    let pairs: Vec<(&str, &str)> = launched
        .bought
        .iter()
        .map(|bought| (bought.claim.as_str(), bought.instance_id.as_str()))
        .collect();
    assert_eq!(pairs, [("a", "i-1"), ("b", "i-2")]);
    assert_eq!(launched.unserved, ["c"]);
    assert_eq!(launched.shortages.len(), 1);
}

#[test]
fn an_answer_without_instances_is_a_shortage_or_a_failure() {
    let store = Store::new(&[("m5.large", "us-west-2a")]);
    let offering = Shortage::Offering {
        capacity_type: "spot".to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
    };
    for (codes, want) in [
        (vec!["InsufficientInstanceCapacity"], vec![offering.clone()]),
        (
            vec!["InsufficientInstanceCapacity", "InsufficientInstanceCapacity"],
            vec![offering.clone()],
        ),
        (
            vec!["InsufficientFreeAddressesInSubnet"],
            vec![Shortage::Subnet {
                id: "subnet-a".to_owned(),
            }],
        ),
        (
            vec!["AuthFailure.ServiceLinkedRoleCreationNotPermitted"],
            vec![Shortage::CapacityType {
                capacity_type: "spot".to_owned(),
            }],
        ),
        (vec![], vec![]),
    ] {
        let errors: Vec<FleetError> = codes.iter().map(|code| error(code)).collect();
        match outcome(&store.order(), Vec::new(), &errors) {
            Err(LaunchError::InsufficientCapacity { shortages, .. }) => {
                let found: Vec<Shortage> = shortages.into_iter().map(|(shortage, _)| shortage).collect();
                assert_eq!(found, want, "{codes:?}");
            }
            other => panic!("{codes:?}: {other:?}"),
        }
    }
    for (code, reason) in [
        ("UnauthorizedOperation", "Unauthorized"),
        ("InvalidAMIID.NotFound", "AMINotFound"),
        ("SomethingNew", "LaunchFailed"),
    ] {
        let result = outcome(
            &store.order(),
            Vec::new(),
            &[error("InsufficientInstanceCapacity"), error(code)],
        );
        assert_eq!(result.unwrap_err().reason(), reason);
    }
}

#[test]
fn tenancy_is_shared_unless_the_requirements_exclude_it() {
    for (values, want) in [
        (vec!["default", "dedicated"], Tenancy::Default),
        (vec!["dedicated"], Tenancy::Dedicated),
        (vec!["default"], Tenancy::Default),
    ] {
        let asked = Requirement::is_in("karpenter.k8s.aws/instance-tenancy", values);
        assert_eq!(Tenancy::of(&Requirements::from_iter([asked])), want);
    }
    assert_eq!(Tenancy::of(&Requirements::new()), Tenancy::Default);
}

#[test]
fn an_order_given_again_has_the_same_token_and_tag() {
    let forth = [claim("a"), claim("b")];
    let back = [claim("b"), claim("a")];
    assert_eq!(client_token(&forth, 0), client_token(&back, 0));
    assert_ne!(client_token(&forth, 0), client_token(&forth, 1));
    assert_ne!(client_token(&forth, 0), client_token(&forth[..1], 0));
    assert!(client_token(&forth, 0).len() <= 64);
    assert_eq!(launch_tag(&forth), launch_tag(&back));
    let most: Vec<ClaimKey> = (0..MAX_BATCH).map(|number| claim(&number.to_string())).collect();
    assert!(launch_tag(&most).len() <= 256);
}

#[test]
fn a_lost_instance_is_found_by_its_tags() {
    let running = |id: &str, own: &[(&str, &str)], launch: &[ClaimKey]| {
        let mut tags: tags::Tags = own
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        tags.insert(tags::LAUNCH.to_owned(), launch_tag(launch));
        Instance {
            id: id.to_owned(),
            state: State::Running,
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            capacity_type: CapacityType::Spot,
            image_id: String::new(),
            subnet_id: String::new(),
            security_groups: Vec::new(),
            private_dns_name: String::new(),
            reservation: None,
            launched: None,
            tags,
        }
    };
    let batch = [claim("a"), claim("b"), claim("c")];
    let single = claim("d");
    let mut ended = running("i-0", &[], &batch);
    ended.state = State::ShuttingDown;
    let instances = [
        ended,
        running("i-1", &[], &batch),
        running("i-2", &[], &batch),
        running("i-3", &[(tags::NODE_CLAIM, "d")], std::slice::from_ref(&single)),
        running("i-4", &[], &[claim("stranger")]),
    ];
    let held = BTreeSet::from(["i-1"]);
    let found = find_lost(&instances, &held, &[claim("b"), claim("c"), single]);
    let pairs: Vec<(&str, &str)> = found
        .iter()
        .map(|(claim, instance)| (claim.as_str(), instance.id.as_str()))
        .collect();
    assert_eq!(pairs, [("b", "i-2"), ("d", "i-3")]);
}

#[test]
fn a_quota_of_the_account_makes_all_offerings_short() {
    let store = Store::new(&[("m5.large", "us-west-2a"), ("m5.xlarge", "us-west-2b")]);
    let answer = |code: &str| Answer {
        operation: "ec2:CreateFleet",
        code: code.to_owned(),
        message: "words".to_owned(),
        request_id: None,
    };
    match refused(&store.order(), Error::Refused(answer("VcpuLimitExceeded"))) {
        LaunchError::InsufficientCapacity { shortages, .. } => assert_eq!(shortages.len(), 2),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        refused(&store.order(), Error::Throttled(answer("RequestLimitExceeded"))),
        LaunchError::Throttled { .. }
    ));
}

#[test]
fn a_part_that_fails_does_not_lose_the_others() {
    let mut store = Store::new(&[("m5.large", "us-west-2a")]);
    store.claims = vec![claim("a"), claim("b")];
    let order = store.order();
    let parts: Vec<Order<'_>> = order
        .claims
        .chunks(1)
        .map(|claims| Order {
            claims,
            ..order.clone()
        })
        .collect();
    let good = || outcome(&parts[0], vec![instance("i-1")], &[]);
    let bad = |part: &Order<'_>| outcome(part, Vec::new(), &[error("InsufficientInstanceCapacity")]);
    let both = merge(parts.iter().zip([good(), bad(&parts[1])])).unwrap();
    assert_eq!(
        (both.bought.len(), both.unserved, both.shortages.len()),
        (1, vec!["b".to_owned()], 1)
    );
    let none = merge(parts.iter().zip([bad(&parts[0]), bad(&parts[1])]));
    assert!(
        matches!(none, Err(LaunchError::InsufficientCapacity { .. })),
        "{none:?}"
    );
}
