//! Which nodes are given back.

use std::sync::Arc;

use jiff::SignedDuration;
use joiner_core::disrupt::{Consolidatable, consolidatable, emptiness, expiration, still_empty};
use joiner_core::snapshot::{
    Budget, BudgetNodes, BudgetWindow, Claim, DisruptionReason, DoNotDisrupt, Node, Owner, Pdb, PodSelector,
    Pool,
};

use crate::world::{MI, World, ago, bound, claim, node, now, pod, pool, types};

fn patient(seconds: i64) -> Pool {
    let mut pool = pool("default");
    pool.disruption.consolidate_after = Some(SignedDuration::from_secs(seconds));
    pool
}

fn empty(name: &str) -> Node {
    node(name, "default", &types()[6], "initialized")
}

fn doomed(world: &World) -> Vec<String> {
    let command = emptiness(&world.snapshot, now()).command;
    command
        .into_iter()
        .flat_map(|command| command.nodes)
        .map(|doomed| doomed.node.to_string())
        .collect()
}

fn with_claim(mut node: Node, change: impl FnOnce(&mut Claim)) -> Node {
    let mut claim = (**node.claim.as_ref().unwrap()).clone();
    change(&mut claim);
    node.claim = Some(Arc::new(claim));
    node
}

#[test]
fn empty_nodes_go_after_a_while() {
    let with_pod = |change: &dyn Fn(&mut joiner_core::snapshot::Pod)| {
        let mut pod = pod("p", 1, MI);
        change(&mut pod);
        let mut node = empty("n");
        node.pods = vec![bound(pod)];
        node
    };
    let unlabelled = |node: Node| {
        let mut node = node;
        let mut object = (**node.object.as_ref().unwrap()).clone();
        object
            .annotations
            .insert("karpenter.sh/do-not-disrupt".into(), "true".into());
        node.object = Some(object.into());
        node
    };
    let nominated = {
        let mut node = empty("n");
        node.nominated_until = Some(now() + SignedDuration::from_secs(9));
        node
    };
    for (name, node, goes) in [
        ("empty", empty("n"), true),
        ("with a pod", with_pod(&|_| {}), false),
        (
            "with a daemon",
            with_pod(&|pod| pod.owner = Owner::DaemonSet),
            true,
        ),
        (
            "with a static pod",
            with_pod(&|pod| pod.owner = Owner::Node),
            true,
        ),
        (
            "with a pod on its way out",
            with_pod(&|pod| pod.deletion = Some(now())),
            true,
        ),
        (
            "with a daemon that must not be disturbed",
            with_pod(&|pod| {
                pod.owner = Owner::DaemonSet;
                pod.do_not_disrupt = DoNotDisrupt::Always;
            }),
            false,
        ),
        (
            "with a daemon that may be disturbed again",
            with_pod(&|pod| {
                pod.owner = Owner::DaemonSet;
                pod.do_not_disrupt = DoNotDisrupt::For(SignedDuration::from_secs(60));
            }),
            true,
        ),
        ("annotated", unlabelled(empty("n")), false),
        ("nominated", nominated, false),
        (
            "not initialised",
            node("n", "default", &types()[6], "registered"),
            false,
        ),
        (
            "initialised, and its claim does not say so yet",
            with_claim(empty("n"), |claim| {
                claim.conditions = self::claim("c", "default", &types()[6], "registered")
                    .conditions
                    .clone();
            }),
            false,
        ),
        (
            "a pod came just now",
            with_claim(empty("n"), |claim| claim.last_pod_event = Some(ago(29))),
            false,
        ),
        (
            "a pod came a while ago",
            with_claim(empty("n"), |claim| claim.last_pod_event = Some(ago(30))),
            true,
        ),
        (
            "already going",
            with_claim(empty("n"), |claim| claim.deletion = Some(now())),
            false,
        ),
    ] {
        let world = World::new().pool(patient(30), types()).node(node);
        assert_eq!(doomed(&world).len(), usize::from(goes), "{name}");
    }
}

#[test]
fn pools_can_keep_their_empty_nodes() {
    let mut never = pool("default");
    never.disruption.consolidate_after = None;
    let fixed = Pool {
        replicas: Some(1),
        ..pool("default")
    };
    for (name, pool) in [("never", never), ("static", fixed), ("other", pool("other"))] {
        let world = World::new().pool(pool, types()).node(empty("n"));
        assert_eq!(doomed(&world), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn budgets_bound_how_many_go() {
    let budget = |nodes: &str, reasons: &[DisruptionReason], window: Option<(&str, i64)>| Budget {
        reasons: reasons.iter().copied().collect(),
        nodes: BudgetNodes::parse(nodes).unwrap(),
        window: window.map(|(schedule, hours)| BudgetWindow {
            schedule: schedule.into(),
            duration: SignedDuration::from_hours(hours),
        }),
    };
    use DisruptionReason::{Drifted, Empty};
    for (name, budgets, want) in [
        ("none", vec![], 5),
        ("two", vec![budget("2", &[], None)], 2),
        ("a tenth, rounded up", vec![budget("10%", &[], None)], 1),
        ("nothing", vec![budget("0", &[], None)], 0),
        ("for another reason", vec![budget("0", &[Drifted], None)], 5),
        ("for this reason", vec![budget("1", &[Empty, Drifted], None)], 1),
        (
            "the strictest",
            vec![budget("4", &[], None), budget("2", &[Empty], None)],
            2,
        ),
        (
            "in its hours",
            vec![budget("0", &[], Some(("0 9 * * mon", 8)))],
            0,
        ),
        (
            "outside its hours",
            vec![budget("0", &[], Some(("0 13 * * *", 8)))],
            5,
        ),
        (
            "that nobody can read",
            vec![budget("5", &[Drifted], Some(("every noon", 8)))],
            0,
        ),
    ] {
        let mut pool = pool("default");
        pool.disruption.budgets = budgets;
        let mut world = World::new().pool(pool, types());
        for index in 0..5 {
            world = world.node(empty(&format!("n{index}")));
        }
        assert_eq!(doomed(&world).len(), want, "{name}");
        let blocked = emptiness(&world.snapshot, now()).blocked;
        assert_eq!(blocked.len(), 5 - want, "{name}: {blocked:?}");
    }
}

#[test]
fn nodes_that_are_unwell_or_going_use_up_the_budget() {
    let mut pool = pool("default");
    pool.disruption.budgets = vec![Budget {
        reasons: [].into(),
        nodes: BudgetNodes::Count(2),
        window: None,
    }];
    let mut unwell = node("unwell", "default", &types()[6], "initialized");
    let mut object = (**unwell.object.as_ref().unwrap()).clone();
    object.ready = false;
    unwell.object = Some(object.into());
    unwell.pods = vec![bound(pod("p", 1, MI))];
    let world = World::new()
        .pool(pool, types())
        .node(unwell)
        .node(empty("a"))
        .node(empty("b"));
    assert_eq!(doomed(&world), ["node-a"]);
}

#[test]
fn guarded_daemons_keep_a_node() {
    let mut daemon = pod("d", 1, MI);
    daemon.owner = Owner::DaemonSet;
    let mut place = empty("n");
    place.pods = vec![bound(daemon)];
    let mut world = World::new().pool(pool("default"), types()).node(place);
    let pdb = |name: &str, allowed| {
        Arc::new(Pdb {
            namespace: "default".into(),
            name: name.into(),
            selector: PodSelector::default(),
            disruptions_allowed: allowed,
            always_allow_unhealthy: false,
        })
    };
    for (pdbs, want) in [
        (vec![pdb("a", 1)], 1),
        (vec![pdb("a", 0)], 0),
        (vec![pdb("a", 1), pdb("b", 1)], 0),
    ] {
        world.snapshot.pdbs = pdbs;
        assert_eq!(doomed(&world).len(), want);
    }
    let blocked = emptiness(&world.snapshot, now()).blocked;
    assert_eq!(
        blocked[0].blocker.to_string(),
        "pod default/d has more than one PodDisruptionBudget, which eviction does not support"
    );
}

#[test]
fn a_command_is_looked_at_again() {
    let mut world = World::new()
        .pool(pool("default"), types())
        .node(empty("a"))
        .node(empty("b"));
    let command = emptiness(&world.snapshot, now()).command.unwrap();
    for node in &mut world.snapshot.nodes {
        node.marked_for_deletion = true;
    }
    assert_eq!(still_empty(&command, &world.snapshot, now()).len(), 2);
    world.snapshot.nodes[0].pods = vec![bound(pod("late", 1, MI))];
    let left = still_empty(&command, &world.snapshot, now());
    assert_eq!(
        left.iter().map(|doomed| &*doomed.node).collect::<Vec<_>>(),
        ["node-b"]
    );
}

#[test]
fn consolidatable_follows_the_last_pod() {
    let it = &types()[6];
    let at = |phase: &str, last: Option<i64>, there: bool| {
        let mut claim = claim("c", "default", it, phase);
        claim.last_pod_event = last.map(ago);
        if there {
            let condition = claim.conditions.get("Launched").unwrap().clone();
            claim.conditions.insert("Consolidatable", condition);
        }
        claim
    };
    let due = now() + SignedDuration::from_secs(10);
    for (claim, want) in [
        (at("initialized", Some(30), false), Consolidatable::Set),
        (at("initialized", Some(30), true), Consolidatable::Holds),
        (
            at("initialized", Some(20), true),
            Consolidatable::Clear { wake: Some(due) },
        ),
        (
            at("initialized", Some(20), false),
            Consolidatable::Wait { wake: Some(due) },
        ),
        (at("initialized", None, false), Consolidatable::Set),
        (
            at("registered", Some(30), true),
            Consolidatable::Clear { wake: None },
        ),
        (
            at("registered", Some(30), false),
            Consolidatable::Wait { wake: None },
        ),
    ] {
        assert_eq!(consolidatable(&claim, &patient(30), now()), want);
    }
}

#[test]
fn claims_expire_at_their_age() {
    let aged = |name: &str, age: i64, limit: Option<i64>| {
        with_claim(empty(name), |claim| {
            claim.created = ago(age);
            claim.expire_after = limit.map(SignedDuration::from_secs);
        })
    };
    let going = with_claim(aged("going", 200, Some(100)), |claim| {
        claim.deletion = Some(now())
    });
    let world = World::new()
        .pool(pool("default"), types())
        .node(aged("old", 101, Some(100)))
        .node(aged("due", 100, Some(100)))
        .node(aged("young", 60, Some(100)))
        .node(aged("younger", 10, Some(100)))
        .node(aged("forever", 9999, None))
        .node(going);
    let found = expiration(&world.snapshot, now());
    assert_eq!(
        found.expired.iter().map(|name| &**name).collect::<Vec<_>>(),
        ["due", "old"]
    );
    assert_eq!(found.wake, Some(now() + SignedDuration::from_secs(40)));
}
