//! Which pods go where.

use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{HostPort, MinValuesPolicy, NodeTerm, Pod, PodKey, Pool, VolumeNeed};
use joiner_core::taints::{Effect, Taint, Toleration};
use joiner_core::text::labels;

use crate::world::{GI, MI, World, bound, daemon, instance, node, now, pod, pool, select, summary, types};

fn many(count: usize, cpu: i64, memory: i64) -> Vec<Pod> {
    (0..count)
        .map(|index| pod(&format!("p{index:04}"), cpu, memory))
        .collect()
}

fn affinity(mut pod: Pod, terms: &[&[Requirement]]) -> Pod {
    let term = |all: &&[Requirement]| NodeTerm {
        expressions: all.iter().cloned().collect(),
        fields: Vec::new(),
    };
    pod.placement.node_affinity = Some(terms.iter().map(term).collect());
    pod
}

fn tolerate(mut pod: Pod, key: &str) -> Pod {
    pod.placement.tolerations.push(Toleration {
        key: Some(key.into()),
        ..Toleration::everything()
    });
    pod
}

fn port(mut pod: Pod, port: u16) -> Pod {
    pod.placement.host_ports.push(HostPort {
        ip: "".into(),
        port,
        protocol: "TCP".into(),
    });
    pod
}

fn taint(mut pool: Pool, key: &str, effect: Effect) -> Pool {
    pool.taints.push(Taint::new(key, "", effect));
    pool
}

fn named(name: &str) -> InstanceType {
    types().into_iter().find(|it| &*it.name == name).unwrap()
}

#[test]
fn new_claims_carry_what_waits_at_the_lowest_price() {
    for (name, pods, want) in [
        (
            "one small pod, the cheapest type",
            many(1, 100, 100 * MI),
            "default:m6g.mediumx1",
        ),
        ("one large pod", many(1, 15_000, 8 * GI), "default:m6g.4xlargex1"),
        ("much memory", many(1, 1000, 50 * GI), "default:r5.2xlargex1"),
        (
            "alike pods share what costs least",
            many(10, 1000, GI),
            "default:m6g.2xlargex7 default:m6g.xlargex3",
        ),
        ("nothing waits", vec![], ""),
        ("too large for any", many(1, 17_000, GI), "left 1"),
    ] {
        let world = World::new().pool(pool("default"), types()).pods(pods);
        assert_eq!(summary(&world.schedule()), want, "{name}");
    }
}

#[test]
fn label_wishes_choose_the_instance() {
    let arch = "kubernetes.io/arch";
    let cpu = "karpenter.k8s.aws/instance-cpu";
    let gt = |value: &str| Requirement::parse(cpu, "Gt", [value]).unwrap();
    for (name, pod, want) in [
        (
            "selector",
            select(pod("a", 100, MI), arch, "amd64"),
            "default:c5.mediumx1",
        ),
        (
            "old label",
            select(pod("a", 100, MI), "beta.kubernetes.io/arch", "amd64"),
            "default:c5.mediumx1",
        ),
        (
            "type",
            select(pod("a", 100, MI), "node.kubernetes.io/instance-type", "r5.xlarge"),
            "default:r5.xlargex1",
        ),
        (
            "custom label that no pool has",
            select(pod("a", 100, MI), "team", "a"),
            "left 1",
        ),
        (
            "label that no type has",
            select(pod("a", 100, MI), "karpenter.k8s.aws/instance-gpu-name", "t4"),
            "left 1",
        ),
        (
            "comparison",
            affinity(pod("a", 100, MI), &[&[gt("4")]]),
            "default:m6g.2xlargex1",
        ),
        (
            "second term",
            affinity(
                pod("a", 100, MI),
                &[&[Requirement::is(arch, "riscv")], &[gt("8")]],
            ),
            "default:m6g.4xlargex1",
        ),
        ("no term", affinity(pod("a", 100, MI), &[]), "left 1"),
        ("empty term", affinity(pod("a", 100, MI), &[&[]]), "left 1"),
        (
            "hostname",
            select(pod("a", 100, MI), "kubernetes.io/hostname", "x"),
            "left 1",
        ),
        (
            "absent label",
            affinity(pod("a", 100, MI), &[&[Requirement::does_not_exist("team")]]),
            "default:m6g.mediumx1",
        ),
        (
            "not ours",
            affinity(
                pod("a", 100, MI),
                &[&[Requirement::does_not_exist("karpenter.sh/nodepool")]],
            ),
            "left 1",
        ),
        (
            "contradiction",
            select(
                affinity(pod("a", 100, MI), &[&[Requirement::is(arch, "arm64")]]),
                arch,
                "amd64",
            ),
            "left 1",
        ),
    ] {
        let world = World::new().pool(pool("default"), types()).pods([pod]);
        assert_eq!(summary(&world.schedule()), want, "{name}");
    }
}

#[test]
fn custom_labels_of_a_pool_are_chosen_by_pods() {
    let mut custom = pool("default");
    custom.requirements.add(Requirement::is_in("team", ["a", "b"]));
    let world = World::new().pool(custom, types()).pods([
        select(pod("a", 100, MI), "team", "a"),
        select(pod("b", 100, MI), "team", "b"),
        pod("any", 100, MI),
    ]);
    let decided = world.schedule();
    let teams: Vec<_> = decided
        .new_claims
        .iter()
        .map(|claim| claim.labels["team"].to_string())
        .collect();
    assert_eq!(teams, ["a", "b"]);
}

#[test]
fn taints_keep_away_who_does_not_bear_them() {
    let hard = || taint(pool("default"), "team", Effect::NoSchedule);
    let soft = || taint(pool("alpha"), "team", Effect::PreferNoSchedule);
    for (name, world, want) in [
        (
            "not borne",
            World::new().pool(hard(), types()).pods([pod("a", 1, MI)]),
            "left 1",
        ),
        (
            "borne",
            World::new()
                .pool(hard(), types())
                .pods([tolerate(pod("a", 1, MI), "team")]),
            "default:m6g.mediumx1",
        ),
        (
            "avoided where possible",
            World::new()
                .pool(soft(), types())
                .pool(pool("beta"), types())
                .pods([pod("a", 1, MI)]),
            "beta:m6g.mediumx1",
        ),
        (
            "else taken",
            World::new().pool(soft(), types()).pods([pod("a", 1, MI)]),
            "alpha:m6g.mediumx1",
        ),
    ] {
        assert_eq!(summary(&world.schedule()), want, "{name}");
    }
    let mut starting = pool("default");
    starting
        .startup_taints
        .push(Taint::new("cni", "", Effect::NoExecute));
    let world = World::new().pool(starting, types()).pods([pod("a", 1, MI)]);
    assert_eq!(
        summary(&world.schedule()),
        "default:m6g.mediumx1",
        "startup taints do not count"
    );
}

#[test]
fn heavier_pools_come_first() {
    let weighted = |name: &str, weight| Pool { weight, ..pool(name) };
    let arm = |mut pool: Pool| {
        pool.requirements
            .add(Requirement::is("kubernetes.io/arch", "arm64"));
        pool
    };
    let both = |pods: Vec<Pod>| {
        World::new()
            .pool(weighted("light", 1), types())
            .pool(arm(weighted("heavy", 80)), types())
            .pods(pods)
    };
    for (name, world, want) in [
        ("the heaviest", both(vec![pod("a", 1, MI)]), "heavy:m6g.mediumx1"),
        (
            "the one that can",
            both(vec![select(pod("a", 1, MI), "kubernetes.io/arch", "amd64")]),
            "light:c5.mediumx1",
        ),
    ] {
        assert_eq!(summary(&world.schedule()), want, "{name}");
    }
    let tie = World::new()
        .pool(pool("a"), types())
        .pool(pool("b"), types())
        .pods([pod("x", 1, MI)]);
    assert_eq!(
        summary(&tie.schedule()),
        "b:m6g.mediumx1",
        "the last by name, as Karpenter"
    );
}

#[test]
fn limits_hold() {
    let limited = |limits: &[(&str, i64)]| Pool {
        limits: limits.iter().copied().collect(),
        ..pool("default")
    };
    let four: Vec<_> = types()
        .into_iter()
        .filter(|it| it.name.ends_with(".xlarge"))
        .collect();
    let small = || {
        select(
            pod("fixed", 100, MI),
            "node.kubernetes.io/instance-type",
            "m5.xlarge",
        )
    };
    for (name, limits, types, pods, want) in [
        (
            "16 cores in nodes of 4",
            vec![("cpu", 16_000)],
            four.clone(),
            many(10, 3000, GI),
            "default:m6g.xlargex1 default:m6g.xlargex1 default:m6g.xlargex1 default:m6g.xlargex1 left 6",
        ),
        (
            "two nodes",
            vec![("nodes", 2)],
            four.clone(),
            many(3, 3000, GI),
            "default:m6g.xlargex1 default:m6g.xlargex1 left 1",
        ),
        (
            "no node",
            vec![("cpu", 0)],
            four.clone(),
            many(1, 100, GI),
            "left 1",
        ),
        (
            "what is not there is not used",
            vec![("nvidia.com/gpu", 0)],
            four.clone(),
            many(1, 100, GI),
            "default:m6g.xlargex1",
        ),
        (
            "smaller nodes where large ones exceed",
            vec![("cpu", 3000)],
            types(),
            many(3, 700, GI),
            "default:m6g.largex2 default:m6g.mediumx1",
        ),
        (
            "the type asked for exceeds",
            vec![("cpu", 2000)],
            types(),
            vec![small()],
            "left 1",
        ),
    ] {
        let world = World::new().pool(limited(&limits), types).pods(pods);
        assert_eq!(summary(&world.schedule()), want, "{name}");
    }
}

#[test]
fn limits_count_what_is_there_and_on_its_way() {
    let it = named("m5.xlarge");
    for phase in ["planned", "launched", "registered", "initialized"] {
        let limited = Pool {
            limits: [("cpu", 6000)].into_iter().collect(),
            ..pool("default")
        };
        let world = World::new()
            .pool(limited, vec![it.clone()])
            .node(node("one", "default", &it, phase))
            .pods([pod("fits", 3000, GI), pod("more", 3500, GI)]);
        let decided = world.schedule();
        assert_eq!(decided.new_claims.len(), 0, "{phase}");
        assert_eq!(decided.unschedulable.len(), 1, "{phase}");
    }
}

#[test]
fn beyond_a_limit_the_next_pool_serves() {
    let limited = Pool {
        limits: [("nodes", 1)].into_iter().collect(),
        weight: 10,
        ..pool("first")
    };
    let four: Vec<_> = types()
        .into_iter()
        .filter(|it| it.name.ends_with(".xlarge"))
        .collect();
    let world = World::new()
        .pool(limited, four.clone())
        .pool(pool("second"), four)
        .pods(many(3, 3000, GI));
    assert_eq!(
        summary(&world.schedule()),
        "first:m6g.xlargex1 second:m6g.xlargex1 second:m6g.xlargex1"
    );
}

#[test]
fn places_that_are_there_come_first() {
    let it = named("m5.xlarge");
    for (phases, pods, want) in [
        (vec!["initialized"], many(3, 1000, GI), "node-n0+3"),
        (
            vec!["initialized"],
            many(4, 1000, GI),
            "default:m6g.mediumx1 node-n0+3",
        ),
        (
            vec!["planned", "launched", "registered", "initialized"],
            many(1, 1000, GI),
            "node-n3+1",
        ),
        (
            vec!["planned", "launched", "registered"],
            many(1, 1000, GI),
            "node-n2+1",
        ),
        (vec!["planned", "launched"], many(4, 1000, GI), "n0+1 n1+3"),
        (vec!["planned"], many(1, 1000, GI), "n0+1"),
    ] {
        // A pod of exactly 1000m does not fit on one core, of which something is kept back.
        let mut world = World::new().pool(
            pool("default"),
            vec![it.clone(), instance("m6g.medium", "arm64", 2000, 8 * GI, 1)],
        );
        for (index, phase) in phases.iter().enumerate() {
            world = world.node(node(&format!("n{index}"), "default", &it, phase));
        }
        assert_eq!(summary(&world.pods(pods).schedule()), want, "{phases:?}");
    }
}

#[test]
fn a_node_takes_only_what_it_can() {
    let it = named("m5.xlarge");
    let base = || node("n", "default", &it, "initialized");
    let tainted = |taint: Taint, phase: &str| {
        let mut it = node("n", "default", &it, phase);
        let mut object = (**it.object.as_ref().unwrap()).clone();
        object.taints.push(taint);
        it.object = Some(object.into());
        it
    };
    let full = {
        let mut it = base();
        it.pods.push(bound(pod("old", 3500, GI)));
        it
    };
    let going = {
        let mut it = base();
        it.marked_for_deletion = true;
        it
    };
    let port_taken = {
        let mut it = base();
        it.pods.push(bound(port(pod("old", 100, MI), 80)));
        it
    };
    let not_ready = || Taint::new("node.kubernetes.io/not-ready", "", Effect::NoSchedule);
    let cordon = || Taint::new("node.kubernetes.io/unschedulable", "", Effect::NoSchedule);
    for (name, place, pod, taken) in [
        ("free", base(), pod("a", 1000, GI), true),
        ("full", full, pod("a", 1000, GI), false),
        ("going", going, pod("a", 1000, GI), false),
        (
            "cordoned",
            tainted(cordon(), "initialized"),
            pod("a", 1000, GI),
            false,
        ),
        (
            "gone bad",
            tainted(not_ready(), "initialized"),
            pod("a", 1000, GI),
            false,
        ),
        (
            "still starting",
            tainted(not_ready(), "registered"),
            pod("a", 1000, GI),
            true,
        ),
        (
            "right zone",
            base(),
            select(pod("a", 1000, GI), "topology.kubernetes.io/zone", "us-west-2a"),
            true,
        ),
        (
            "wrong zone",
            base(),
            select(pod("a", 1000, GI), "topology.kubernetes.io/zone", "us-west-2b"),
            false,
        ),
        ("port", port_taken.clone(), port(pod("a", 100, MI), 80), false),
        ("other port", port_taken, port(pod("a", 100, MI), 81), true),
    ] {
        let world = World::new()
            .pool(pool("default"), types())
            .node(place)
            .pods([pod]);
        assert_eq!(world.schedule().existing.len(), usize::from(taken), "{name}");
    }
}

#[test]
fn a_claim_without_an_instance_takes_what_any_outcome_can() {
    let zone = "topology.kubernetes.io/zone";
    let mut planned = node("n", "default", &named("m5.xlarge"), "planned");
    let mut claim = (**planned.claim.as_ref().unwrap()).clone();
    claim.requirements = [
        Requirement::is_in("node.kubernetes.io/instance-type", ["m5.xlarge", "m5.2xlarge"]),
        Requirement::is_in(zone, ["us-west-2a", "us-west-2b"]),
    ]
    .into_iter()
    .collect();
    planned.claim = Some(claim.into());
    for (name, pod, taken) in [
        ("fits on the smaller", pod("a", 3000, GI), true),
        ("fits on the larger alone", pod("a", 5000, GI), false),
        (
            "every outcome",
            select(pod("a", 100, MI), "kubernetes.io/arch", "amd64"),
            true,
        ),
        (
            "one outcome",
            select(pod("a", 100, MI), zone, "us-west-2a"),
            false,
        ),
        (
            "both zones",
            affinity(
                pod("a", 100, MI),
                &[&[Requirement::is_in(zone, ["us-west-2a", "us-west-2b", "x"])]],
            ),
            true,
        ),
        (
            "no gpu",
            affinity(
                pod("a", 100, MI),
                &[&[Requirement::does_not_exist("karpenter.k8s.aws/instance-gpu-name")]],
            ),
            true,
        ),
    ] {
        let world = World::new()
            .pool(pool("default"), types())
            .node(planned.clone())
            .pods([pod]);
        assert_eq!(world.schedule().existing.len(), usize::from(taken), "{name}");
    }
}

#[test]
fn promised_pods_are_not_decided_on_again() {
    let it = named("m5.xlarge");
    let mut place = node("n", "default", &it, "launched");
    place.nominated = vec![
        PodKey::new("default", "p0000"),
        PodKey::new("default", "p0001"),
        PodKey::new("default", "gone"),
    ];
    place.nominated_until = Some(now());
    let world = World::new()
        .pool(pool("default"), vec![it])
        .node(place.clone())
        .pods(many(4, 1000, GI));
    assert_eq!(
        summary(&world.schedule()),
        "default:m5.xlargex1 n+1",
        "two are promised, one fits beside them"
    );
    place.marked_for_deletion = true;
    let world = World::new()
        .pool(pool("default"), vec![named("m5.xlarge")])
        .node(place)
        .pods(many(4, 1000, GI));
    assert_eq!(
        summary(&world.schedule()),
        "default:m5.xlargex3 default:m5.xlargex1",
        "a promise ends with its node"
    );
}

#[test]
fn daemons_have_their_room() {
    let with = |daemon| {
        World::new()
            .pool(pool("default"), vec![named("m5.xlarge")])
            .daemon(daemon)
    };
    let mut picky = daemon("picky", 1000, GI);
    picky.placement.node_selector = labels([("kubernetes.io/arch", "arm64")]);
    let mut bare = daemon("bare", 1000, GI);
    bare.placement.node_selector = labels([("gpu", "true")]);
    for (name, world, want) in [
        (
            "takes a core",
            with(daemon("log", 1000, GI)),
            "default:m5.xlargex2 default:m5.xlargex1",
        ),
        ("not on amd64", with(picky), "default:m5.xlargex3"),
        ("not on this pool", with(bare), "default:m5.xlargex3"),
    ] {
        assert_eq!(summary(&world.pods(many(3, 1000, GI)).schedule()), want, "{name}");
    }
    let world = with(daemon("log", 1000, GI)).pods(many(1, 1000, GI));
    let requests = &world.schedule().new_claims[0].requests;
    assert_eq!(
        *requests,
        joiner_core::resources::Resources::cpu_memory(2000, 2 * GI).with("pods", 2)
    );
    let world = with(daemon("log", 1000, GI))
        .node(node("n", "default", &named("m5.xlarge"), "launched"))
        .pods(many(3, 1000, GI));
    assert_eq!(
        summary(&world.schedule()),
        "default:m5.xlargex1 n+2",
        "a node on its way keeps room for them"
    );
}

#[test]
fn host_ports_are_taken_once() {
    let pods = (0..3).map(|index| port(pod(&format!("p{index}"), 100, MI), 80));
    let world = World::new()
        .pool(pool("default"), vec![named("m5.xlarge")])
        .pods(pods);
    assert_eq!(world.schedule().new_claims.len(), 3);
    let mut taker = daemon("proxy", 10, MI);
    taker.placement.host_ports.push(HostPort {
        ip: "".into(),
        port: 80,
        protocol: "TCP".into(),
    });
    let world = World::new()
        .pool(pool("default"), types())
        .daemon(taker.clone())
        .pods([port(pod("a", 100, MI), 80)]);
    assert_eq!(summary(&world.schedule()), "left 1");
    taker.placement.node_selector = labels([("kubernetes.io/arch", "arm64")]);
    let world = World::new()
        .pool(pool("default"), types())
        .daemon(taker)
        .pods([port(pod("a", 100, MI), 80)]);
    assert_eq!(
        summary(&world.schedule()),
        "default:c5.mediumx1",
        "the cheaper types have the daemon"
    );
}

#[test]
fn volumes_tie_pods_to_places() {
    let zone = "topology.kubernetes.io/zone";
    let volume = |zones: &[&str]| VolumeNeed {
        claim: "data".into(),
        alternatives: zones
            .iter()
            .map(|it| Requirements::from_iter([Requirement::is(zone, *it)]))
            .collect(),
        attach: None,
    };
    let with = |volumes: Vec<VolumeNeed>| {
        let mut pod = pod("a", 100, MI);
        pod.placement.volumes = volumes;
        World::new().pool(pool("default"), types()).pods([pod])
    };
    assert_eq!(
        with(vec![volume(&["us-west-2b"])]).schedule().new_claims[0]
            .requirements
            .get(zone)
            .unwrap()
            .single()
            .map(|zone| &**zone),
        Some("us-west-2b")
    );
    assert_eq!(
        summary(&with(vec![volume(&["us-west-2b"]), volume(&["us-west-2c"])]).schedule()),
        "left 1"
    );
    assert_eq!(
        summary(&with(vec![volume(&["eu"]), volume(&[])]).schedule()),
        "left 1"
    );
    assert_eq!(
        summary(&with(vec![volume(&["eu", "us-west-2a"])]).schedule()),
        "default:m6g.mediumx1"
    );
}

#[test]
fn min_values_hold_or_are_lowered_openly() {
    let wanting = |count| {
        let mut pool = pool("default");
        let family = Requirement::exists("karpenter.k8s.aws/instance-family").with_min_values(Some(count));
        pool.requirements.add(family);
        pool
    };
    for (count, policy, want, relaxed) in [
        (4, MinValuesPolicy::Strict, "default:m6g.mediumx1", false),
        (5, MinValuesPolicy::Strict, "left 1", false),
        (5, MinValuesPolicy::BestEffort, "default:m6g.mediumx1", true),
        (4, MinValuesPolicy::BestEffort, "default:m6g.mediumx1", false),
    ] {
        let mut world = World::new()
            .pool(wanting(count), types())
            .pods([pod("a", 100, MI)]);
        world.snapshot.settings.min_values_policy = policy;
        let decided = world.schedule();
        assert_eq!(summary(&decided), want, "{count} {policy:?}");
        let claim = decided.new_claims.first();
        assert_eq!(
            claim.is_some_and(|claim| claim.min_values_relaxed),
            relaxed,
            "{count} {policy:?}"
        );
    }
}

#[test]
fn pods_of_nodes_that_go_are_provided_for() {
    let mut place = node("n", "default", &named("m5.xlarge"), "initialized");
    place.pods = vec![bound(pod("a", 1000, GI)), bound(pod("b", 1000, GI))];
    place.marked_for_deletion = true;
    let world = World::new().pool(pool("default"), types()).node(place);
    assert_eq!(summary(&world.schedule()), "default:m6g.xlargex2");
}

#[test]
fn running_pods_keep_others_away() {
    use joiner_core::snapshot::{PodSelector, PodTerm};
    let term = |key: &str| PodTerm {
        topology_key: key.into(),
        selector: PodSelector {
            labels: [Requirement::is("app", "web")].into_iter().collect(),
            matches_nothing: false,
        },
        namespaces: Some(vec!["default".into()]),
    };
    let web = || {
        let mut pod = pod("new", 100, MI);
        pod.labels = labels([("app", "web")]);
        pod
    };
    for (key, pod, want) in [
        ("kubernetes.io/hostname", web(), "default:m6g.mediumx1"),
        ("topology.kubernetes.io/zone", web(), "default:m6g.mediumx1"),
        ("kubernetes.io/hostname", pod("new", 100, MI), "node-n+1"),
    ] {
        let mut place = node("n", "default", &named("m5.xlarge"), "initialized");
        let mut guard = pod_with_term(term(key));
        guard.key = PodKey::new("default", "guard");
        place.pods = vec![bound(guard)];
        let world = World::new().pool(pool_default(), types()).node(place).pods([pod]);
        let decided = world.schedule();
        assert_eq!(summary(&decided), want, "{key}");
        if let (Some(claim), "topology.kubernetes.io/zone") = (decided.new_claims.first(), key) {
            assert!(!claim.requirements.get(key).unwrap().allows(Some("us-west-2a")));
        }
    }
}

fn pool_default() -> Pool {
    pool("default")
}

fn pod_with_term(term: joiner_core::snapshot::PodTerm) -> Pod {
    let mut pod = pod("guard", 100, MI);
    pod.placement.anti_affinity.push(term);
    pod
}

#[test]
fn mixed_demand_wastes_little() {
    let pods: Vec<Pod> = (0..50)
        .map(|index| {
            pod(
                &format!("p{index}"),
                [100, 250, 500, 1000, 1500][index % 5],
                [128, 512, 1024][index % 3] * MI,
            )
        })
        .collect();
    let decided = World::new().pool(pool("default"), types()).pods(pods).schedule();
    assert!(decided.unschedulable.is_empty());
    // 33.5 cores are asked for, and each node keeps some back.
    assert!(
        decided.price <= Price::from_micros(34 * 38_500 / 3),
        "{}",
        summary(&decided)
    );
    assert!(decided.new_claims.len() <= 4, "{}", summary(&decided));
}

#[test]
fn a_spot_node_keeps_ten_ways_to_be_bought() {
    // Twelve families of one size, at prices that differ by little.
    let families: Vec<InstanceType> = (0..12u64)
        .flat_map(|family| {
            [4i64, 8, 16].map(|cores| {
                let name = format!("f{family}.{cores}");
                let price = 40_000 * u64::try_from(cores).unwrap() + family * 1500;
                instance(&name, "amd64", cores * 1000, cores * 4 * GI, price)
            })
        })
        .collect();
    let pods = (0..40).map(|index| pod(&format!("p{index:02}"), 700 + index % 7 * 100, 2 * GI));
    let world = World::new().pool(pool("default"), families.clone()).pods(pods);
    let decided = world.schedule();
    assert!(!decided.new_claims.is_empty());
    for claim in &decided.new_claims {
        let listed = families
            .iter()
            .filter(|it| claim.instance_types.contains(&it.name));
        let near = listed
            .flat_map(|it| it.offerings_for(&claim.requirements))
            .filter(|offering| {
                offering.capacity_type == CapacityType::Spot
                    && offering.price.micros() * 10 <= claim.price.micros() * 13
            });
        let near = near.count();
        assert!(near >= 10, "{near} ways to buy {:?}", claim.instance_types);
    }
}
