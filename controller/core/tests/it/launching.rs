//! Which offerings a claim tries.

use joiner_core::catalogue::{CapacityType, InstanceType, Reservation};
use joiner_core::launch::{MAX_TYPES, plan};
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::Resources;
use joiner_core::schedule::Misfit;

use crate::world::{GI, instance, types};

fn only(requirements: &[Requirement]) -> Requirements {
    requirements.iter().cloned().collect()
}

fn gpu(name: &str, price: u64) -> InstanceType {
    let mut it = instance(name, "amd64", 4000, 16 * GI, price);
    it.capacity = it.capacity.with("nvidia.com/gpu", 1);
    it
}

#[test]
fn spot_comes_before_on_demand_and_cheap_before_dear() {
    let spot = Requirement::is("karpenter.sh/capacity-type", "spot");
    let on_demand = Requirement::is("karpenter.sh/capacity-type", "on-demand");
    let zone = Requirement::is("topology.kubernetes.io/zone", "us-west-2b");
    let two = Resources::cpu_memory(1500, GI);
    for (requirements, kind, first) in [
        (vec![], CapacityType::Spot, ("m6g.large", "us-west-2a")),
        (
            vec![on_demand.clone()],
            CapacityType::OnDemand,
            ("m6g.large", "us-west-2a"),
        ),
        (
            vec![spot, zone.clone()],
            CapacityType::Spot,
            ("m6g.large", "us-west-2b"),
        ),
        (
            vec![on_demand, zone, Requirement::is("kubernetes.io/arch", "amd64")],
            CapacityType::OnDemand,
            ("c5.large", "us-west-2b"),
        ),
    ] {
        let plan = plan(&only(&requirements), &two, &types()).unwrap();
        let choice = &plan.choices[0];
        assert_eq!(
            (plan.capacity_type, (&*choice.instance_type, &*choice.zone)),
            (kind, first),
            "{requirements:?}"
        );
        assert!(plan.choices.is_sorted_by_key(|choice| choice.price));
    }
}

#[test]
fn what_is_not_on_sale_is_left_out() {
    let mut all = types();
    for offering in all.iter_mut().flat_map(|it| &mut it.offerings) {
        offering.available =
            offering.capacity_type == CapacityType::OnDemand && &*offering.zone == "us-west-2c";
    }
    let bought = plan(&Requirements::new(), &Resources::cpu_memory(100, GI), &all).unwrap();
    assert_eq!(bought.capacity_type, CapacityType::OnDemand);
    assert!(bought.choices.iter().all(|choice| &*choice.zone == "us-west-2c"));
    all.iter_mut()
        .flat_map(|it| &mut it.offerings)
        .for_each(|offering| offering.available = false);
    let none = plan(&Requirements::new(), &Resources::cpu_memory(100, GI), &all).unwrap_err();
    assert!(
        matches!(
            none,
            Misfit::Types {
                unavailable: 20,
                total: 20,
                ..
            }
        ),
        "{none:?}"
    );
}

#[test]
fn spot_dearer_than_on_demand_is_left_out() {
    let mut all = vec![
        instance("m5.large", "amd64", 2000, 8 * GI, 90_000),
        instance("m4.large", "amd64", 2000, 8 * GI, 100_000),
    ];
    for offering in all[1]
        .offerings
        .iter_mut()
        .filter(|it| it.capacity_type == CapacityType::Spot)
    {
        offering.price = joiner_core::money::Price::from_micros(95_000);
    }
    let names = |requirements: &Requirements| -> Vec<String> {
        let plan = plan(requirements, &Resources::cpu_memory(100, GI), &all).unwrap();
        let mut names: Vec<String> = plan
            .choices
            .iter()
            .map(|choice| choice.instance_type.to_string())
            .collect();
        names.dedup();
        names
    };
    assert_eq!(names(&Requirements::new()), ["m5.large"]);
    let family = Requirement::exists("karpenter.k8s.aws/instance-family").with_min_values(Some(2));
    assert_eq!(
        names(&only(&[family])),
        ["m5.large", "m4.large"],
        "minValues wants both"
    );
}

#[test]
fn devices_and_bare_metal_are_bought_on_purpose_only() {
    let mut metal = instance("m5.metal", "amd64", 4000, 16 * GI, 1);
    metal
        .requirements
        .replace(Requirement::is("karpenter.k8s.aws/instance-size", "metal"));
    let all = vec![
        gpu("g4dn.xlarge", 2),
        metal,
        instance("m5.xlarge", "amd64", 4000, 16 * GI, 900),
    ];
    let first = |requests: &Resources| {
        plan(&Requirements::new(), requests, &all).unwrap().choices[0]
            .instance_type
            .to_string()
    };
    assert_eq!(first(&Resources::cpu_memory(100, GI)), "m5.xlarge");
    assert_eq!(
        first(&Resources::cpu_memory(100, GI).with("nvidia.com/gpu", 1)),
        "g4dn.xlarge"
    );
}

#[test]
fn reserved_capacity_comes_first() {
    let mut all = types();
    let mut offering = all[0].offerings[0].clone();
    offering.capacity_type = CapacityType::Reserved;
    offering.reservation = Some(Reservation {
        id: "cr-1".into(),
        remaining: 1,
    });
    all[0].offerings.push(offering);
    let bought = plan(&Requirements::new(), &Resources::cpu_memory(100, GI), &all).unwrap();
    assert_eq!(
        (bought.capacity_type, bought.choices.len()),
        (CapacityType::Reserved, 1)
    );
    assert_eq!(bought.choices[0].reservation.as_deref(), Some("cr-1"));
}

#[test]
fn a_request_names_one_reservation_for_a_type_and_zone_and_one_market() {
    let mut all = types();
    let reserved = |id: &str, remaining: u32, kind: &str| {
        let mut offering = all[0].offerings[0].clone();
        offering.capacity_type = CapacityType::Reserved;
        offering.price = joiner_core::money::Price::from_micros(1);
        offering.reservation = Some(Reservation {
            id: id.into(),
            remaining,
        });
        offering.extra = only(&[Requirement::is(
            "karpenter.k8s.aws/capacity-reservation-type",
            kind,
        )]);
        offering
    };
    let offerings = [
        reserved("cr-1", 1, "default"),
        reserved("cr-2", 3, "default"),
        reserved("cr-3", 3, "default"),
        reserved("cr-4", 9, "capacity-block"),
    ];
    all[0].offerings.extend(offerings);
    let bought = plan(&Requirements::new(), &Resources::cpu_memory(100, GI), &all).unwrap();
    let named: Vec<_> = bought
        .choices
        .iter()
        .map(|it| it.reservation.as_deref())
        .collect();
    assert_eq!(named, [Some("cr-2")]);
}

#[test]
fn a_request_names_sixty_types_at_most_and_keeps_what_min_values_wants() {
    let mut all: Vec<InstanceType> = (0..100)
        .map(|index| {
            instance(
                &format!("m5.size{index:03}"),
                "amd64",
                2000,
                8 * GI,
                1000 + u64::try_from(index).unwrap() * 3,
            )
        })
        .collect();
    all.push(instance("r5.large", "amd64", 2000, 16 * GI, 9_000_000));
    let count = |requirements: &Requirements| {
        let plan = plan(requirements, &Resources::cpu_memory(100, GI), &all).unwrap();
        let mut names: Vec<_> = plan
            .choices
            .iter()
            .map(|choice| choice.instance_type.clone())
            .collect();
        names.sort();
        names.dedup();
        (names.len(), names.contains(&"r5.large".into()))
    };
    assert_eq!(count(&Requirements::new()), (MAX_TYPES, false));
    let family = Requirement::exists("karpenter.k8s.aws/instance-family").with_min_values(Some(2));
    assert_eq!(count(&only(&[family])), (MAX_TYPES, true));
}

#[test]
fn a_bought_instance_tells_its_labels() {
    let all = types();
    let labels =
        joiner_core::launch::labels_of(&all, "m5.large", "us-west-2b", CapacityType::Spot, None).unwrap();
    for (key, value) in [
        ("topology.kubernetes.io/zone", "us-west-2b"),
        ("karpenter.sh/capacity-type", "spot"),
        ("node.kubernetes.io/instance-type", "m5.large"),
        ("kubernetes.io/arch", "amd64"),
        ("topology.k8s.aws/zone-id", "usw2-azb"),
    ] {
        assert_eq!(labels.get(key).map(|value| &**value), Some(value), "{key}");
    }
    assert!(!labels.contains_key("karpenter.k8s.aws/instance-gpu-name"));
}
