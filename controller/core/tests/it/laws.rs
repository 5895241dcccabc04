//! What holds for every cluster.

use std::collections::BTreeSet;

use joiner_core::requirements::Requirement;
use joiner_core::resources::Resources;
use joiner_core::schedule::{Misfit, Schedule, schedule};
use joiner_core::snapshot::{
    InclusionPolicy, MinValuesPolicy, Node, NodeTerm, Pod, PodKey, PodSelector, PodTerm, Pool, Spread,
    Strategy as Packing, Strength,
};
use joiner_core::taints::{Effect, Taint, Toleration};
use proptest::prelude::*;

use crate::world::{GI, MI, World, bound, daemon, node, now, pod, pool, types};

const ZONE: &str = "topology.kubernetes.io/zone";
const ARCH: &str = "kubernetes.io/arch";

fn wish() -> impl Strategy<Value = Option<Requirement>> {
    prop_oneof![
        4 => Just(None),
        1 => prop_oneof![Just("us-west-2a"), Just("us-west-2b")].prop_map(|zone| Some(Requirement::is(ZONE, zone))),
        1 => Just(Some(Requirement::is_not_in(ZONE, ["us-west-2a"]))),
        1 => prop_oneof![Just("amd64"), Just("arm64"), Just("mips")].prop_map(|arch| Some(Requirement::is(ARCH, arch))),
        1 => Just(Some(Requirement::is("karpenter.sh/capacity-type", "on-demand"))),
        1 => Just(Some(Requirement::parse("karpenter.k8s.aws/instance-cpu", "Gt", ["3"]).unwrap())),
        1 => prop_oneof![Just("team"), Just("karpenter.k8s.aws/instance-gpu-name"), Just("karpenter.k8s.aws/nitro-sandbox")]
            .prop_map(|key| Some(Requirement::exists(key))),
        1 => Just(Some(Requirement::is("topology.k8s.aws/zone-id", "usw2-azb"))),
        1 => prop_oneof![Just("In"), Just("Exists"), Just("NotIn")].prop_map(|operator| {
            let values: &[&str] = if operator == "Exists" { &[] } else { &["default"] };
            Some(Requirement::parse("karpenter.k8s.aws/instance-tenancy", operator, values.iter().copied()).unwrap())
        }),
        1 => prop_oneof![Just("a"), Just("b")].prop_map(|team| Some(Requirement::is("team", team))),
    ]
}

/// A rule that binds pods of the apps a and b to others.
fn bond() -> impl Strategy<Value = Option<Bond>> {
    let key = || prop_oneof![Just(ZONE), Just("kubernetes.io/hostname")];
    let of = || prop_oneof![Just("a"), Just("b")];
    prop_oneof![
        4 => Just(None),
        1 => (key(), of(), 1u32..3).prop_map(|(key, of, skew)| Some(Bond::Spread(key, of, skew))),
        1 => (key(), of()).prop_map(|(key, of)| Some(Bond::Apart(key, of))),
        1 => (key(), of()).prop_map(|(key, of)| Some(Bond::Together(key, of))),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Bond {
    Spread(&'static str, &'static str, u32),
    Apart(&'static str, &'static str),
    Together(&'static str, &'static str),
}

fn bind(pod: &mut Pod, bond: Bond) {
    let selector = |of: &str| PodSelector {
        labels: [Requirement::is("app", of)].into_iter().collect(),
        matches_nothing: false,
    };
    let term = |key: &str, of: &str| PodTerm {
        topology_key: key.into(),
        selector: selector(of),
        namespaces: None,
    };
    match bond {
        Bond::Apart(key, of) => pod.placement.anti_affinity.push(term(key, of)),
        Bond::Together(key, of) => pod.placement.affinity.push(term(key, of)),
        Bond::Spread(key, of, max_skew) => pod.placement.spread.push(Spread {
            topology_key: key.into(),
            max_skew,
            strength: Strength::Required,
            selector: selector(of),
            min_domains: None,
            node_affinity_policy: InclusionPolicy::Honor,
            node_taints_policy: InclusionPolicy::Ignore,
        }),
    }
}

fn bound_pod() -> impl Strategy<Value = Pod> {
    (
        some_pod(),
        bond(),
        bond(),
        prop_oneof![Just("a"), Just("b"), Just("c")],
    )
        .prop_map(|(mut pod, one, other, app)| {
            pod.labels.insert("app".into(), app.into());
            [one, other]
                .into_iter()
                .flatten()
                .for_each(|bond| bind(&mut pod, bond));
            pod
        })
}

fn some_pod() -> impl Strategy<Value = Pod> {
    let cpu = prop_oneof![
        Just(0i64),
        Just(100),
        Just(250),
        Just(1000),
        Just(1900),
        Just(7000),
        Just(20_000)
    ];
    let memory = prop_oneof![Just(64i64), Just(512), Just(2048), Just(20_000)];
    (cpu, memory, wish(), wish(), any::<bool>(), 0u16..20, 0i32..3).prop_map(
        |(cpu, memory, one, other, bears, port, priority)| {
            let mut pod = pod("x", cpu, memory * MI);
            let terms: Vec<NodeTerm> = [one, other]
                .into_iter()
                .flatten()
                .map(|wish| NodeTerm {
                    expressions: [wish].into_iter().collect(),
                    fields: Vec::new(),
                })
                .collect();
            if !terms.is_empty() {
                pod.placement.node_affinity = Some(terms);
            }
            if bears {
                pod.placement.tolerations.push(Toleration {
                    key: Some("team".into()),
                    ..Toleration::everything()
                });
            }
            if port < 2 {
                let host = joiner_core::snapshot::HostPort {
                    ip: "".into(),
                    port: 8000 + port,
                    protocol: "TCP".into(),
                };
                pod.placement.host_ports.push(host);
            }
            pod.priority = if priority == 2 { 1000 } else { 0 };
            pod
        },
    )
}

fn some_pool() -> impl Strategy<Value = Pool> {
    (
        0u32..3,
        any::<bool>(),
        prop::option::of(0i64..40),
        prop::option::of(0i64..4),
        wish(),
        0u32..4,
        0u32..6,
    )
        .prop_map(|(weight, tainted, cpu, nodes, wish, teams, values)| {
            let mut pool = Pool { weight, ..pool("x") };
            if tainted {
                pool.taints.push(Taint::new("team", "", Effect::NoSchedule));
            }
            let cpu = cpu.map(|cpu| ("cpu", cpu * 1000));
            pool.limits = cpu
                .into_iter()
                .chain(nodes.map(|nodes| ("nodes", nodes)))
                .collect();
            wish.into_iter().for_each(|wish| pool.requirements.add(wish));
            match teams {
                0 => pool.requirements.add(Requirement::is_in("team", ["a", "b"])),
                1 => pool.requirements.add(Requirement::exists("team")),
                _ => {}
            }
            if values > 3 {
                let family = Requirement::exists("karpenter.k8s.aws/instance-family");
                pool.requirements.add(family.with_min_values(Some(values - 2)));
            }
            pool
        })
}

fn some_node() -> impl Strategy<Value = Node> {
    let phase = prop_oneof![
        Just("planned"),
        Just("launched"),
        Just("registered"),
        Just("initialized")
    ];
    (
        0usize..20,
        phase,
        0usize..2,
        prop::collection::vec(0i64..4, 0..3),
        any::<bool>(),
    )
        .prop_map(|(it, phase, pool, used, going)| {
            let it = &types()[it];
            let mut place = node("x", &format!("pool{pool}"), it, phase);
            if phase == "registered" || phase == "initialized" {
                place.pods = used
                    .into_iter()
                    .enumerate()
                    .map(|(index, cpu)| bound(pod(&format!("old{index}"), cpu * 500, GI)))
                    .collect();
            }
            place.marked_for_deletion = going;
            place
        })
}

fn some_world() -> impl Strategy<Value = World> {
    world_of(some_pod().boxed())
}

fn bound_world() -> impl Strategy<Value = World> {
    world_of(bound_pod().boxed())
}

fn world_of(pod: BoxedStrategy<Pod>) -> impl Strategy<Value = World> {
    (
        prop::collection::vec(some_pool(), 0..3),
        prop::collection::vec(some_node(), 0..4),
        prop::collection::vec((pod, 1usize..12), 0..8),
        prop::collection::vec(0i64..3, 0..2),
        any::<bool>(),
    )
        .prop_map(|(pools, nodes, pods, daemons, best_effort)| {
            let mut world = World::new();
            for (index, mut pool) in pools.into_iter().enumerate() {
                pool.name = format!("pool{index}").into();
                world = world.pool(pool, types());
            }
            for (index, place) in nodes.into_iter().enumerate() {
                world = world.node(renamed(place, index));
            }
            for (index, (pod, count)) in pods.into_iter().enumerate() {
                world = world.pods((0..count).map(|copy| {
                    let mut pod = pod.clone();
                    pod.key = PodKey::new("default", format!("p{index}-{copy}"));
                    pod
                }));
            }
            for (index, cpu) in daemons.into_iter().enumerate() {
                world = world.daemon(daemon(&format!("d{index}"), cpu * 100, 100 * MI));
            }
            if best_effort {
                world.snapshot.settings.min_values_policy = MinValuesPolicy::BestEffort;
            }
            world
        })
}

fn renamed(mut place: Node, index: usize) -> Node {
    let mut claim = (**place.claim.as_ref().unwrap()).clone();
    claim.name = format!("n{index}").into();
    claim.provider_id = claim.provider_id.map(|_| crate::world::provider_id(&claim.name));
    place.object = place.object.map(|object| {
        let mut object = (*object).clone();
        object.name = format!("node-n{index}").into();
        object.provider_id.clone_from(&claim.provider_id);
        object
            .labels
            .insert("kubernetes.io/hostname".into(), object.name.clone());
        object.into()
    });
    place.pods = place
        .pods
        .into_iter()
        .map(|pod| {
            let mut pod = (*pod).clone();
            pod.key = PodKey::new("default", format!("{}-{index}", pod.key.name));
            pod.into()
        })
        .collect();
    place.claim = Some(claim.into());
    place
}

proptest! {
    /// The audit, limits and census among it, finds nothing.
    #[test]
    fn every_schedule_passes_the_audit(world in some_world()) {
        let decided = schedule(&world.snapshot, &world.catalogue, now());
        let violations = joiner_core::check::schedule(&world.snapshot, &world.catalogue, &decided, now());
        prop_assert!(violations.is_empty(), "{:#?}", violations);
    }

    #[test]
    fn every_schedule_of_bound_pods_passes_the_audit(world in bound_world()) {
        let decided = schedule(&world.snapshot, &world.catalogue, now());
        let violations = joiner_core::check::schedule(&world.snapshot, &world.catalogue, &decided, now());
        prop_assert!(violations.is_empty(), "{:#?}", violations);
    }

    /// The order in which the cluster is listed changes nothing.
    #[test]
    fn the_same_cluster_gets_the_same_answer(world in bound_world(), seed in any::<u64>()) {
        let decided = schedule(&world.snapshot, &world.catalogue, now());
        let mut shuffled = world.snapshot.clone();
        let turn = |len: usize| if len == 0 { 0 } else { usize::try_from(seed % 7).unwrap() % len };
        let (pending, nodes, pools) = (turn(shuffled.pending.len()), turn(shuffled.nodes.len()), turn(shuffled.pools.len()));
        shuffled.pending.rotate_left(pending);
        shuffled.nodes.rotate_left(nodes);
        shuffled.pools.rotate_left(pools);
        shuffled.pending.reverse();
        prop_assert_eq!(schedule(&shuffled, &world.catalogue, now()), decided);
    }

    /// A pod that is refused would be refused alone too, or was in the way of a limit.
    #[test]
    fn nobody_is_refused_for_the_company(world in some_world()) {
        let decided = schedule(&world.snapshot, &world.catalogue, now());
        for (key, refusal) in &decided.unschedulable {
            // Others may have used up a limit, or left too little of it for the types that `minValues` wants.
            let limited = refusal.pools.values().any(|why| matches!(why, Misfit::Limit { .. } | Misfit::MinValues { .. }));
            if limited {
                continue;
            }
            let mut alone = world.snapshot.clone();
            alone.pending.retain(|pod| pod.key == *key);
            if alone.pending.is_empty() {
                continue;
            }
            let again = schedule(&alone, &world.catalogue, now());
            let new = again.new_claims.iter().any(|claim| claim.pods.contains(key));
            prop_assert!(!new, "{} is refused in company: {:?}", key, refusal);
        }
    }

    /// Nothing is bought that no pod needs, and nobody is given a claim where a complete node has room.
    #[test]
    fn claims_are_for_pods(world in some_world()) {
        let decided = schedule(&world.snapshot, &world.catalogue, now());
        for claim in &decided.new_claims {
            prop_assert!(!claim.pods.is_empty());
            let least: Resources = claim
                .pods
                .iter()
                .filter_map(|key| world.snapshot.pending.iter().find(|pod| pod.key == *key))
                .map(|pod| &pod.requests)
                .sum();
            prop_assert!(least.fits(&claim.requests));
        }
    }

    /// No answer that places the same pods and keeps the same wishes is below the bound of another.
    #[test]
    fn no_answer_is_below_the_bound(world in bound_world()) {
        let decide = |strategy| {
            let mut snapshot = world.snapshot.clone();
            snapshot.settings.strategy = strategy;
            snapshot.settings.bound = true;
            schedule(&snapshot, &world.catalogue, now())
        };
        let both = [decide(Packing::FirstFit), decide(Packing::Price)];
        let placed = |one: &Schedule| one.placed().cloned().collect::<BTreeSet<PodKey>>();
        let alike = placed(&both[0]) == placed(&both[1]) && both[0].relaxed == both[1].relaxed;
        for (index, one) in both.iter().enumerate() {
            prop_assert!(one.lower_bound.unwrap() <= one.price, "{:?} {:?}", one.lower_bound, one.price);
            if alike {
                let other = both[1 - index].price;
                prop_assert!(one.lower_bound.unwrap() <= other, "{:?} {:?}", one.lower_bound, other);
            }
        }
    }
}
