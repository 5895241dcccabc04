//! Which nodes have drifted, by what, and how they are replaced.

mod reasons;
mod waves;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;
use joiner_core::conditions::Wanted;
use joiner_core::disrupt::Doomed;
use joiner_core::disrupt::drift::{
    Class, Facts, Image, Machine, Pace, Place, Progress, Rolling, Why, drift_of, mark, orphans, progress,
    roll, waves,
};
use joiner_core::eviction::disrupted_taint;
use joiner_core::requirements::{Operator, Requirement};
use joiner_core::snapshot::{
    Budget, BudgetNodes, BudgetWindow, Claim, DisruptionReason, DoNotDisrupt, Node, Owner, Pdb, PodKey,
    PodSelector, Pool, PoolHash, Readiness, Snapshot,
};
use joiner_core::taints::{Effect, Taint};
use joiner_core::text::Text;
use proptest::prelude::*;

use crate::world::{GI, MI, World, ago, bound, claim, node, now, pod, pool, types};

const POOL_HASH: &str = "karpenter.sh/nodepool-hash";
const CLASS_HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";

fn hash(value: &str) -> PoolHash {
    PoolHash {
        value: value.into(),
        version: "v".into(),
    }
}

fn hashed(pool: Pool) -> Pool {
    Pool {
        hash: hash("1"),
        ..pool
    }
}

/// A class of which everything is resolved.
fn class() -> Class {
    let image = |id: &str, arch: &str| Image {
        id: id.into(),
        requirements: [Requirement::is("kubernetes.io/arch", arch)]
            .into_iter()
            .collect(),
    };
    Class {
        name: "default".into(),
        hash: hash("1"),
        fields: joiner_core::text::labels([("tags", "aa"), ("userData", "bb")]),
        images: vec![image("ami-arm", "arm64"), image("ami-amd", "amd64")],
        subnets: vec!["subnet-1".into(), "subnet-2".into()],
        security_groups: vec!["sg-1".into(), "sg-2".into()],
        reservations: Vec::new(),
        placement_group: None,
    }
}

fn machine() -> Machine {
    Machine {
        image: Some("ami-amd".into()),
        subnet: Some("subnet-2".into()),
        security_groups: Some(vec!["sg-2".into(), "sg-1".into()]),
        reservation: None,
    }
}

/// A claim as [`class`] and a pool with the hash 1 have made it.
fn made() -> Claim {
    let mut made = claim("c", "default", &types()[6], "initialized");
    for (key, value) in [
        (POOL_HASH, "1"),
        ("karpenter.sh/nodepool-hash-version", "v"),
        (CLASS_HASH, "1"),
        ("karpenter.k8s.aws/ec2nodeclass-hash-version", "v"),
        ("joiner.dev/ec2nodeclass-fields", "tags=aa,userData=bb"),
    ] {
        made.annotations.insert(key.into(), value.into());
    }
    made
}

/// A node that has drifted so many seconds ago, with pods of so many milli cores.
fn drifted(name: &str, since: i64, pods: &[i64]) -> Node {
    let it = &types()[6];
    let mut place = node(name, "default", it, "initialized");
    change(&mut place, |claim| {
        let wanted = Wanted {
            reason: "NodePoolDrifted".into(),
            ..Wanted::yes("Drifted")
        };
        claim.conditions.apply(&wanted, ago(since));
    });
    place.pods = pods
        .iter()
        .enumerate()
        .map(|(index, cpu)| bound(pod(&format!("{name}-{index}"), *cpu, 64 * MI)))
        .collect();
    place
}

fn change(place: &mut Node, change: impl FnOnce(&mut Claim)) {
    let mut claim = (**place.claim.as_ref().unwrap()).clone();
    change(&mut claim);
    place.claim = Some(Arc::new(claim));
}

fn budget(nodes: &str) -> Budget {
    Budget {
        reasons: BTreeSet::new(),
        nodes: BudgetNodes::parse(nodes).unwrap(),
        window: None,
    }
}

fn with_budgets(budgets: Vec<Budget>) -> Pool {
    let mut pool = hashed(pool("default"));
    pool.disruption.budgets = budgets;
    pool
}

fn world(pool: Pool, nodes: impl IntoIterator<Item = Node>) -> World {
    nodes
        .into_iter()
        .fold(World::new().pool(pool, types()), World::node)
}

/// What goes now: nodes in order with where their pods go, what is launched, and what stays.
fn told(world: &World) -> String {
    let roll = roll(&world.snapshot, &world.catalogue, now());
    assert!(roll.violations.is_empty(), "{:?}", roll.violations);
    let place = |place: &Place| match place {
        Place::New(index) => format!("new{index}"),
        Place::There(name) => name.to_string(),
    };
    let mut words: Vec<String> = roll
        .nodes
        .iter()
        .map(|it| {
            let to: BTreeSet<String> = it.moves.iter().map(|moved| place(&moved.to)).collect();
            let to: Vec<String> = to.into_iter().collect();
            format!("{}->{}", it.doomed.claim, to.join("+"))
        })
        .collect();
    words.extend(
        roll.claims
            .iter()
            .map(|claim| format!("buy {}x{}", claim.instance_types[0], claim.pods.len())),
    );
    words.extend(
        roll.blocked
            .iter()
            .map(|it| format!("{} stays: {}", it.node, it.blocker)),
    );
    words.join("; ")
}

#[test]
fn empty_nodes_go_first_and_then_those_that_drifted_first() {
    let nodes = || {
        [
            drifted("young", 10, &[100]),
            drifted("old", 100, &[100]),
            drifted("empty", 5, &[]),
        ]
    };
    for (nodes_at_once, want) in [
        ("0", ""),
        ("1", "empty->"),
        ("2", "empty->; old->new0"),
        ("100%", "empty->; old->new0; young->new0"),
    ] {
        let world = world(with_budgets(vec![budget(nodes_at_once)]), nodes());
        let told = told(&world);
        let goes: Vec<&str> = told.split("; ").filter(|it| it.contains("->")).collect();
        assert_eq!(goes.join("; "), want, "{nodes_at_once}: {told}");
    }
}

#[test]
fn budgets_for_drift_are_those_that_name_it_or_name_nothing() {
    let reasons = |nodes: &str, reasons: &[DisruptionReason]| Budget {
        reasons: reasons.iter().copied().collect(),
        ..budget(nodes)
    };
    use DisruptionReason::{Drifted, Empty};
    for (budgets, want) in [
        (vec![], 4),
        (vec![reasons("1", &[Drifted])], 1),
        (vec![reasons("0", &[Empty])], 4),
        (vec![reasons("3", &[]), reasons("2", &[Drifted, Empty])], 2),
        (vec![reasons("50%", &[])], 2),
    ] {
        let nodes = (0..4).map(|index| drifted(&format!("n{index}"), 10, &[100]));
        let world = world(with_budgets(budgets.clone()), nodes);
        let roll = roll(&world.snapshot, &world.catalogue, now());
        assert_eq!(roll.nodes.len(), want, "{budgets:?}");
        assert_eq!(roll.blocked.len(), 4 - want, "{budgets:?}");
    }
}

#[test]
fn what_is_under_way_uses_up_the_budget() {
    let mut first = drifted("a", 100, &[500]);
    first.marked_for_deletion = true;
    let world = world(
        with_budgets(vec![budget("2")]),
        [first, drifted("b", 50, &[500]), drifted("c", 10, &[500])],
    );
    let told = told(&world);
    assert!(told.starts_with("b->"), "{told}");
    assert!(
        told.contains("node-c stays: disruption budgets of NodePool default allow no more nodes now"),
        "{told}"
    );
}

#[test]
fn pods_go_to_room_that_is_there_and_else_to_what_is_bought_for_them_together() {
    let room = |name: &str, phase: &str| node(name, "default", &types()[6], phase);
    for (name, others, want) in [
        ("nothing else", vec![], "a->new0; b->new0; buy m5.largex2"),
        (
            "a node with room",
            vec![room("r", "initialized")],
            "a->node-r; b->node-r",
        ),
        (
            "a claim on its way, as after a restart",
            vec![room("r", "launched")],
            "a->r; b->r",
        ),
        (
            "other drifted nodes, which would have to move again",
            vec![{
                let mut kept = drifted("kept", 1, &[]);
                let mut asks = pod("asks", 100, MI);
                asks.do_not_disrupt = DoNotDisrupt::Always;
                kept.pods = vec![bound(asks)];
                kept
            }],
            "a->new0; b->new0; buy m5.largex2; node-kept stays: pod default/asks has \"karpenter.sh/do-not-disrupt\" annotation",
        ),
    ] {
        let nodes = [drifted("a", 20, &[800]), drifted("b", 10, &[800])];
        let mut only = with_budgets(vec![]);
        only.requirements
            .add(Requirement::is("node.kubernetes.io/instance-type", "m5.large"));
        let world = world(only, nodes.into_iter().chain(others));
        assert_eq!(told(&world), want, "{name}");
    }
}

#[test]
fn where_nothing_may_be_bought_other_drifted_nodes_have_to_do() {
    let mut pool = with_budgets(vec![budget("1")]);
    pool.limits = [("nodes", 0)].into_iter().collect();
    let world = world(pool, [drifted("a", 20, &[500]), drifted("b", 10, &[500])]);
    assert!(told(&world).starts_with("a->node-b"), "{}", told(&world));
}

/// Also where other drifted nodes have to do, no pod goes to a node that goes with its own.
#[test]
fn an_empty_node_that_goes_takes_nobody_in() {
    let mut pool = with_budgets(vec![budget("2")]);
    pool.limits = [("nodes", 0)].into_iter().collect();
    let nodes = [
        drifted("a", 20, &[500]),
        drifted("empty", 10, &[]),
        drifted("z", 5, &[500]),
    ];
    let told = told(&world(pool, nodes));
    assert!(told.starts_with("empty->; a->node-z"), "{told}");
}

#[test]
fn a_node_whose_pods_would_find_no_place_stays_and_the_next_goes() {
    let mut stuck = pod("stuck", 100, MI);
    stuck
        .placement
        .node_selector
        .insert("topology.kubernetes.io/zone".into(), "mars-1a".into());
    let mut first = drifted("a", 100, &[100]);
    first.pods.push(bound(stuck));
    let world = world(
        with_budgets(vec![budget("1")]),
        [first, drifted("b", 50, &[100]), drifted("c", 10, &[100])],
    );
    let told = told(&world);
    assert!(told.starts_with("b->new0; buy"), "{told}");
    assert!(
        told.contains("node-a stays: pod default/stuck would find no place: "),
        "{told}"
    );
    assert!(told.contains("node-c stays: disruption budgets"), "{told}");
}

#[test]
fn pods_and_nodes_that_ask_for_it_are_left_alone() {
    let asks = |bounded: bool| {
        let mut place = drifted("a", 10, &[]);
        let mut asks = pod("asks", 100, MI);
        asks.do_not_disrupt = DoNotDisrupt::Always;
        place.pods = vec![bound(asks)];
        if bounded {
            change(&mut place, |claim| {
                claim.termination_grace_period = Some(SignedDuration::from_hours(1));
            });
        }
        place
    };
    let annotated = || {
        let mut place = asks(true);
        let mut object = (**place.object.as_ref().unwrap()).clone();
        object
            .annotations
            .insert("karpenter.sh/do-not-disrupt".into(), "true".into());
        place.object = Some(object.into());
        place
    };
    let guard = |allowed: u32| {
        vec![Arc::new(Pdb {
            namespace: "default".into(),
            name: "guard".into(),
            selector: PodSelector::default(),
            disruptions_allowed: allowed,
            always_allow_unhealthy: false,
        })]
    };
    let bounded = |mut place: Node| {
        change(&mut place, |claim| {
            claim.termination_grace_period = Some(SignedDuration::from_hours(1));
        });
        place
    };
    for (name, place, pdbs, goes) in [
        ("a pod", asks(false), vec![], false),
        ("a pod whose node has a bounded drain", asks(true), vec![], true),
        ("the node itself", annotated(), vec![], false),
        ("a guard that allows", drifted("a", 10, &[100]), guard(1), true),
        ("a guard that does not", drifted("a", 10, &[100]), guard(0), false),
        (
            "the same, and a bounded drain",
            bounded(drifted("a", 10, &[100])),
            guard(0),
            true,
        ),
    ] {
        let mut world = world(with_budgets(vec![]), [place]);
        world.snapshot.pdbs = pdbs;
        let told = told(&world);
        assert_eq!(told.starts_with("a->new0; buy"), goes, "{name}: {told}");
        assert_eq!(told.contains("stays"), !goes, "{name}: {told}");
    }
}

#[test]
fn nodes_of_a_static_pool_go_as_far_as_its_limit_has_room() {
    let fixed = |limit: Option<i64>| Pool {
        replicas: Some(2),
        limits: limit.map(|nodes| ("nodes", nodes)).into_iter().collect(),
        ..with_budgets(vec![])
    };
    let not_ready = Pool {
        readiness: Readiness::NotReady {
            reason: "class".into(),
        },
        ..fixed(None)
    };
    for (pool, want) in [
        (fixed(None), "a->; b->"),
        (
            fixed(Some(3)),
            "a->; node-b stays: limits.nodes of NodePool default leaves no room for the node that would take its place",
        ),
        (
            not_ready,
            "node-a stays: NodePool default is not ready: class; node-b stays: NodePool default is not ready: class",
        ),
    ] {
        let world = world(pool, [drifted("a", 20, &[500]), drifted("b", 10, &[500])]);
        assert_eq!(told(&world), want);
    }
}

fn rolling(places: &[(&str, &str)]) -> Rolling {
    Rolling {
        doomed: Doomed {
            pool: "default".into(),
            claim: "a".into(),
            node: "node-a".into(),
        },
        since: ago(30),
        places: places
            .iter()
            .map(|(pod, place)| (PodKey::new("default", *pod), Text::from(*place)))
            .collect(),
    }
}

#[test]
fn a_node_goes_when_its_successors_are_complete() {
    let next = |phase: &str| node("next", "default", &types()[6], phase);
    let old = || {
        let mut old = drifted("a", 60, &[500]);
        old.marked_for_deletion = true;
        old
    };
    let waits = |names: &[&str]| Progress::Wait {
        starting: names.iter().map(|name| Text::from(*name)).collect(),
    };
    let to_next = || rolling(&[("a-0", "next")]);
    let mut just_now = rolling(&[]);
    just_now.since = now();
    let mut long_ago = to_next();
    long_ago.since = ago(601);
    let mut cured = old();
    change(&mut cured, |claim| claim.conditions.remove("Drifted"));
    let mut leaving = old();
    change(&mut leaving, |claim| claim.deletion = Some(now()));
    let mut lost = next("launched");
    change(&mut lost, |claim| claim.deletion = Some(now()));
    let mut empty = old();
    empty.pods.clear();
    let late = Why::Late {
        starting: vec!["next".into()],
    };
    let gone = Why::Lost { claim: "next".into() };
    for (name, rolling, nodes, want) in [
        (
            "bought",
            to_next(),
            vec![old(), next("launched")],
            waits(&["next"]),
        ),
        (
            "joined",
            to_next(),
            vec![old(), next("registered")],
            waits(&["next"]),
        ),
        (
            "complete",
            to_next(),
            vec![old(), next("initialized")],
            Progress::Go,
        ),
        (
            "too late",
            long_ago,
            vec![old(), next("launched")],
            Progress::Stay(late),
        ),
        ("not bought", to_next(), vec![old()], Progress::Stay(gone.clone())),
        ("given up", to_next(), vec![old(), lost], Progress::Stay(gone)),
        (
            "edited back",
            to_next(),
            vec![cured, next("launched")],
            Progress::Stay(Why::NotDrifted),
        ),
        (
            "going",
            to_next(),
            vec![leaving, next("initialized")],
            Progress::Leaving,
        ),
        ("gone", to_next(), vec![next("initialized")], Progress::Gone),
        ("tainted a moment ago", just_now, vec![empty.clone()], waits(&[])),
        ("empty", rolling(&[]), vec![empty], Progress::Go),
        (
            "not empty any more",
            rolling(&[]),
            vec![old()],
            Progress::Stay(Why::NotEmpty),
        ),
    ] {
        let world = world(with_budgets(vec![]), nodes);
        assert_eq!(progress(&rolling, &world.snapshot, now()), want, "{name}");
    }
}

#[test]
fn a_node_of_a_static_pool_waits_until_the_pool_has_its_number_without_it() {
    let pool = || Pool {
        replicas: Some(2),
        ..with_budgets(vec![])
    };
    let mut old = drifted("a", 60, &[500]);
    old.marked_for_deletion = true;
    let there = |name: &str, phase: &str| node(name, "default", &types()[6], phase);
    for (others, want) in [
        (
            vec![there("b", "initialized")],
            Progress::Wait {
                starting: vec!["of NodePool default".into()],
            },
        ),
        (
            vec![there("b", "initialized"), there("c", "launched")],
            Progress::Wait {
                starting: vec!["c".into()],
            },
        ),
        (
            vec![there("b", "initialized"), there("c", "initialized")],
            Progress::Go,
        ),
    ] {
        let world = world(pool(), std::iter::once(old.clone()).chain(others));
        assert_eq!(progress(&rolling(&[]), &world.snapshot, now()), want);
    }
}

#[test]
fn marks_that_nobody_stands_behind_are_found() {
    let tainted = |name: &str| {
        let mut place = node(name, "default", &types()[6], "initialized");
        let mut object = (**place.object.as_ref().unwrap()).clone();
        object.taints.push(disrupted_taint());
        place.object = Some(object.into());
        place
    };
    let mut leaving = tainted("leaving");
    change(&mut leaving, |claim| claim.deletion = Some(now()));
    let mut marked = tainted("marked");
    marked.marked_for_deletion = true;
    let mut noted = node("noted", "default", &types()[6], "initialized");
    change(&mut noted, |claim| {
        claim.conditions.apply(&Wanted::yes("DisruptionReason"), now());
    });
    let plain = node("plain", "default", &types()[6], "initialized");
    let world = world(
        with_budgets(vec![]),
        [
            tainted("orphan"),
            tainted("rolling"),
            leaving,
            marked,
            noted,
            plain,
        ],
    );
    let found: Vec<String> = orphans(&world.snapshot, &BTreeSet::from(["rolling".into()]))
        .iter()
        .map(|it| it.claim.to_string())
        .collect();
    assert_eq!(found, ["orphan", "noted"]);
}

#[test]
fn conditions_are_set_and_taken_away_and_keep_their_time() {
    let mut old = node("old", "default", &types()[6], "initialized");
    change(&mut old, |claim| claim.annotations = made().annotations);
    let mut cured = drifted("cured", 50, &[]);
    change(&mut cured, |claim| claim.annotations.clear());
    let mut world = world(
        Pool {
            hash: hash("2"),
            ..pool("default")
        },
        [old, cured],
    );
    for seconds in [0, 60] {
        let at = now() + SignedDuration::from_secs(seconds);
        let found = mark(&mut world.snapshot, &world.catalogue, &Facts::default(), at);
        assert_eq!(found.keys().map(|name| &**name).collect::<Vec<_>>(), ["old"]);
        let since = |name: &str| {
            let node = world.snapshot.node(name).unwrap();
            let conditions = &node.claim.as_ref().unwrap().conditions;
            conditions.get("Drifted").map(|it| it.since)
        };
        assert_eq!((since("node-old"), since("node-cured")), (Some(now()), None));
    }
}

const PACE: Pace = Pace {
    boot: SignedDuration::from_secs(60),
    drain: SignedDuration::from_secs(30),
    most: 50,
};

/// One node: whether it has drifted, since when, its pods' milli cores, and whether one of them asks to be left alone.
type Shape = (bool, i64, Vec<i64>, bool);

/// Nodes, how many may go at once, and how many the pool may have.
fn some_roll() -> impl Strategy<Value = (Vec<Shape>, u32, Option<i64>)> {
    let place = (
        any::<bool>(),
        0i64..100,
        prop::collection::vec(1i64..1900, 0..4),
        any::<bool>(),
    );
    (
        prop::collection::vec(place, 1..8),
        0u32..5,
        prop::option::of(0i64..4),
    )
}

fn world_of((places, at_once, limit): &(Vec<Shape>, u32, Option<i64>)) -> World {
    let mut pool = with_budgets(vec![budget(&at_once.to_string())]);
    pool.limits = limit.map(|limit| ("nodes", limit)).into_iter().collect();
    let nodes = places
        .iter()
        .enumerate()
        .map(|(index, (has, since, pods, asks))| {
            let mut place = drifted(&format!("n{index}"), *since, pods);
            if !has {
                change(&mut place, |claim| claim.conditions.remove("Drifted"));
            }
            if *asks && index % 3 == 0 {
                let mut asks = pod(&format!("asks{index}"), 10, MI);
                asks.do_not_disrupt = DoNotDisrupt::Always;
                place.pods.push(bound(asks));
            }
            place
        });
    world(pool, nodes)
}

fn pods_of(snapshot: &Snapshot) -> BTreeSet<PodKey> {
    let pods = snapshot.nodes.iter().flat_map(|node| &node.pods);
    pods.map(|pod| pod.key.clone()).collect()
}

proptest! {
    /// Only what has drifted goes, no more than the budget allows, every pod of it has one place, and nothing is bought for nobody.
    #[test]
    fn every_roll_keeps_the_rules(shape in some_roll()) {
        let world = world_of(&shape);
        let roll = roll(&world.snapshot, &world.catalogue, now());
        prop_assert!(roll.violations.is_empty(), "{:?}", roll.violations);
        let BudgetNodes::Count(most) = world.snapshot.pools[0].disruption.budgets[0].nodes else { unreachable!() };
        prop_assert!(roll.nodes.len() <= usize::try_from(most).unwrap());
        let mut served = BTreeSet::new();
        for it in &roll.nodes {
            let node = world.snapshot.node(&it.doomed.node).unwrap();
            prop_assert!(node.claim.as_ref().unwrap().conditions.is_true("Drifted"));
            let pods: BTreeSet<&PodKey> = node.pods.iter().map(|pod| &pod.key).collect();
            let moved: BTreeSet<&PodKey> = it.moves.iter().map(|moved| &moved.pod).collect();
            prop_assert_eq!(pods, moved);
            for moved in &it.moves {
                match &moved.to {
                    Place::New(index) => drop(served.insert(*index)),
                    Place::There(name) => {
                        let goes = roll.nodes.iter().any(|other| other.doomed.node == *name);
                        prop_assert!(!goes, "{} goes to {}, which goes too", moved.pod, name);
                    }
                }
            }
        }
        prop_assert_eq!(served.len(), roll.claims.len());
    }

    /// After a roll-out nothing drifted is there but what is said to stay, and no pod is lost.
    #[test]
    fn a_roll_out_ends(shape in some_roll()) {
        let world = world_of(&shape);
        let played = waves(&world.snapshot, &world.catalogue, now(), PACE);
        let left: BTreeSet<&Text> = played.left.iter().map(|it| &it.node).collect();
        for node in &played.after.nodes {
            let drifted = node.claim.as_ref().unwrap().conditions.is_true("Drifted");
            prop_assert_eq!(drifted, left.contains(node.name()), "{}", node.name());
        }
        prop_assert_eq!(pods_of(&played.after), pods_of(&world.snapshot));
        let again = waves(&world.snapshot, &world.catalogue, now(), PACE);
        prop_assert_eq!(again.waves, played.waves);
    }
}
