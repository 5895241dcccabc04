//! The lower bound of the price: beside the best answer there is, found by trying them all.

use joiner_core::catalogue::InstanceType;
use joiner_core::money::Price;
use joiner_core::requirements::Requirement;
use joiner_core::resources::ResourceName;
use joiner_core::schedule::{Schedule, schedule};
use joiner_core::snapshot::{
    InclusionPolicy, Pod, PodKey, PodSelector, PodTerm, Spread, Strategy as Packing, Strength,
};
use proptest::prelude::*;

use crate::world::{GI, World, instance, node, now, pod, pool, select};

const ZONE: &str = "topology.kubernetes.io/zone";
const ZONES: [&str; 3] = ["us-west-2a", "us-west-2b", "us-west-2c"];

/// One pod.
#[derive(Clone, Debug)]
struct Shape {
    cpu: i64,
    gib: i64,
    bond: Bond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bond {
    None,
    /// In this zone.
    Zone(usize),
    /// On no node with another such pod.
    Apart,
    /// Spread over zones with all such pods.
    Spread,
    /// Spread over nodes with all such pods: no more than two on one.
    Pairs,
}

fn shape() -> impl Strategy<Value = Shape> {
    let bond = prop_oneof![
        3 => Just(Bond::None),
        1 => (0usize..3).prop_map(Bond::Zone),
        1 => Just(Bond::Apart),
        2 => Just(Bond::Spread),
        1 => Just(Bond::Pairs),
    ];
    (1i64..16, 1i64..12, bond).prop_map(|(cpu, gib, bond)| match bond {
        // All alike.
        Bond::Spread => Shape {
            cpu: 1300,
            gib: 3,
            bond,
        },
        _ => Shape {
            cpu: cpu * 200,
            gib,
            bond,
        },
    })
}

fn kind() -> impl Strategy<Value = (i64, i64, Vec<u64>)> {
    (1i64..9, 1i64..9, prop::collection::vec(28u64..100, 6))
}

fn sold(kinds: &[(i64, i64, Vec<u64>)]) -> Vec<InstanceType> {
    // One that holds any pod, so that all have a place.
    let last = (8, 4, vec![90; 6]);
    let named = kinds.iter().chain([&last]).enumerate();
    let one = |(index, (cores, ratio, parts)): (usize, &(i64, i64, Vec<u64>))| {
        let mut it = instance(
            &format!("m{index}.x"),
            "amd64",
            cores * 1000,
            cores * ratio * GI,
            0,
        );
        for (offering, part) in it.offerings.iter_mut().zip(parts) {
            let cores = u64::try_from(*cores).unwrap();
            offering.price = Price::from_micros(cores * part * 500 + 1000 * u64::try_from(*ratio).unwrap());
        }
        it
    };
    named.map(one).collect()
}

fn selector(app: &str) -> PodSelector {
    PodSelector {
        labels: [Requirement::is("app", app)].into_iter().collect(),
        matches_nothing: false,
    }
}

fn spread(pod: &mut Pod, app: &str, over: &str, skew: u32) {
    pod.labels.insert("app".into(), app.into());
    pod.placement.spread.push(Spread {
        topology_key: over.into(),
        max_skew: skew,
        strength: Strength::Required,
        selector: selector(app),
        min_domains: None,
        node_affinity_policy: InclusionPolicy::Honor,
        node_taints_policy: InclusionPolicy::Ignore,
    });
}

fn pods(shapes: &[Shape]) -> Vec<Pod> {
    let made = |(index, shape): (usize, &Shape)| {
        let mut pod = pod("x", shape.cpu, shape.gib * GI);
        pod.key = PodKey::new("default", format!("p{index}"));
        match shape.bond {
            Bond::None => {}
            Bond::Zone(zone) => pod = select(pod, ZONE, ZONES[zone]),
            Bond::Apart => {
                pod.labels.insert("app".into(), "apart".into());
                pod.placement.anti_affinity.push(PodTerm {
                    topology_key: "kubernetes.io/hostname".into(),
                    selector: selector("apart"),
                    namespaces: None,
                });
            }
            Bond::Spread => spread(&mut pod, "spread", ZONE, 1),
            Bond::Pairs => spread(&mut pod, "pairs", "kubernetes.io/hostname", 2),
        }
        pod
    };
    shapes.iter().enumerate().map(made).collect()
}

/// The least that nodes for all pods can cost, in millionths of a dollar. The first of `types`, in the first zone, may be
/// there already.
fn least(shapes: &[Shape], types: &[InstanceType], there: bool) -> u64 {
    let spread: Vec<usize> = (0..shapes.len())
        .filter(|pod| shapes[*pod].bond == Bond::Spread)
        .collect();
    let mut best = u64::MAX;
    for turn in 0..3usize.pow(u32::try_from(spread.len()).unwrap()) {
        let zone_of = |rank: usize| turn / 3usize.pow(u32::try_from(rank).unwrap()) % 3;
        let mut counts = [0; 3];
        (0..spread.len()).for_each(|rank| counts[zone_of(rank)] += 1);
        if counts.iter().max().unwrap() - counts.iter().min().unwrap() > 1 {
            continue;
        }
        let zone = |pod: usize| match shapes[pod].bond {
            Bond::Zone(zone) => Some(zone),
            Bond::Spread => Some(zone_of(spread.iter().position(|one| *one == pod).unwrap())),
            _ => None,
        };
        best = best.min(cheapest(shapes, types, there, &zone));
    }
    best
}

fn cheapest(
    shapes: &[Shape],
    types: &[InstanceType],
    there: bool,
    zone: &dyn Fn(usize) -> Option<usize>,
) -> u64 {
    let full = (1usize << shapes.len()) - 1;
    let of = |mask: usize| (0..shapes.len()).filter(move |pod| mask >> pod & 1 == 1);
    let fits = |mask: usize, it: &InstanceType, place: usize| {
        let room = it.allocatable();
        let cpu: i64 = of(mask).map(|pod| shapes[pod].cpu).sum();
        let memory: i64 = of(mask).map(|pod| shapes[pod].gib * GI).sum();
        let bound = |bond: Bond| of(mask).filter(|pod| shapes[*pod].bond == bond).count();
        cpu <= room.get(&ResourceName::Cpu)
            && memory <= room.get(&ResourceName::Memory)
            && bound(Bond::Apart) <= 1
            && bound(Bond::Pairs) <= 2
            && of(mask).all(|pod| zone(pod).is_none_or(|own| own == place))
    };
    let one = |mask: usize| {
        let ways = types.iter().flat_map(|it| (0..3).map(move |place| (it, place)));
        let sold = ways
            .filter(|(it, place)| fits(mask, it, *place))
            .flat_map(|(it, place)| {
                it.offerings
                    .iter()
                    .filter(move |offering| *offering.zone == *ZONES[place])
            });
        sold.map(|offering| offering.price.micros())
            .min()
            .unwrap_or(u64::MAX)
    };
    let each: Vec<u64> = (0..=full).map(one).collect();
    let mut best = vec![u64::MAX; full + 1];
    best[0] = 0;
    for mask in 1..=full {
        let low = mask & mask.wrapping_neg();
        let mut part = mask;
        while part > 0 {
            if part & low > 0 {
                best[mask] = best[mask].min(each[part].saturating_add(best[mask ^ part]));
            }
            part = (part - 1) & mask;
        }
    }
    let spared = (0..=full).filter(|mask| *mask == 0 || (there && fits(*mask, &types[0], 0)));
    spared.map(|mask| best[full ^ mask]).min().unwrap_or(u64::MAX)
}

fn decided(world: &mut World, packing: Packing) -> Schedule {
    world.snapshot.settings.strategy = packing;
    world.snapshot.settings.bound = true;
    schedule(&world.snapshot, &world.catalogue, now())
}

proptest! {
    #[test]
    fn nothing_costs_less_than_the_bound(
        shapes in prop::collection::vec(shape(), 1..7),
        kinds in prop::collection::vec(kind(), 1..4),
        there in any::<bool>(),
    ) {
        let types = sold(&kinds);
        let mut world = World::new().pool(pool("a"), types.clone()).pods(pods(&shapes));
        if there {
            world = world.node(node("n", "a", &types[0], "initialized"));
        }
        let optimum = least(&shapes, &types, there);
        for packing in [Packing::FirstFit, Packing::Price] {
            let made = decided(&mut world, packing);
            prop_assert!(made.unschedulable.is_empty(), "{:?}", made.unschedulable);
            let bound = made.lower_bound.unwrap().micros();
            prop_assert!(bound <= optimum, "the bound {} is above the optimum {}", bound, optimum);
            prop_assert!(optimum <= made.price.micros(), "{} beats the optimum {}", made.price.micros(), optimum);
        }
    }
}

/// Where pods fill nodes without a rest the bound is the price.
#[test]
fn the_bound_is_reached() {
    let types = vec![instance("m5.x", "amd64", 4080, 16 * GI + 400 * (1 << 20), 96_000)];
    let shapes = vec![
        Shape {
            cpu: 1000,
            gib: 4,
            bond: Bond::None
        };
        40
    ];
    let mut world = World::new().pool(pool("a"), types).pods(pods(&shapes));
    let made = decided(&mut world, Packing::Price);
    assert_eq!(made.price.micros(), 320_000);
    assert!(
        made.lower_bound.unwrap().micros() >= 319_000,
        "{:?}",
        made.lower_bound
    );
}

/// A part of a large node costs less for a pod than a small one, but there are no pods for the rest of it.
#[test]
fn a_node_that_cannot_be_filled_does_not_count_by_parts() {
    let sized = |name: &str, cores: i64, price: u64| {
        instance(
            name,
            "amd64",
            cores * 1000 + 80,
            cores * 4 * GI + 400 * (1 << 20),
            price,
        )
    };
    let types = vec![sized("m5.small", 2, 60_000), sized("m5.large", 8, 160_000)];
    let shape = |bond| Shape {
        cpu: 1000,
        gib: 4,
        bond,
    };
    for (shapes, price) in [
        (vec![shape(Bond::None); 2], 20_000),
        (vec![shape(Bond::Apart); 12], 240_000),
        (vec![shape(Bond::Pairs); 12], 120_000),
    ] {
        let mut world = World::new().pool(pool("a"), types.clone()).pods(pods(&shapes));
        let made = decided(&mut world, Packing::Price);
        assert_eq!(made.price.micros(), price, "{shapes:?}");
        let bound = made.lower_bound.unwrap().micros();
        assert!(bound >= price - price / 1000, "{bound} for {shapes:?}");
    }
}
