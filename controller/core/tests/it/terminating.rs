//! How a node goes.

use std::sync::Arc;

use jiff::SignedDuration;
use joiner_core::conditions::{Condition, Status};
use joiner_core::snapshot::{DoNotDisrupt, Node, Owner, Pdb, Pod, PodSelector};
use joiner_core::taints::Toleration;
use joiner_core::terminate::{ClaimNext, Instance, NodeNext, drain, finalize_claim, finalize_node};

use crate::world::{MI, World, ago, bound, node, now, object, pod, types};

fn going(pods: Vec<Arc<Pod>>) -> Node {
    let mut node = node("n", "default", &types()[6], "initialized");
    let mut object = (**node.object.as_ref().unwrap()).clone();
    object.deletion = Some(ago(20));
    node.object = Some(object.into());
    let mut claim = (**node.claim.as_ref().unwrap()).clone();
    claim.deletion = Some(ago(20));
    node.claim = Some(claim.into());
    node.pods = pods;
    node
}

fn with(name: &str, change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
    let mut pod = pod(name, 1, MI);
    pod.owner = Owner::Controller;
    change(&mut pod);
    bound(pod)
}

fn names<'a>(keys: impl Iterator<Item = &'a joiner_core::snapshot::PodKey>) -> Vec<String> {
    keys.map(|key| key.name.to_string()).collect()
}

#[test]
fn pods_leave_in_groups() {
    let critical = |pod: &mut Pod| pod.priority = 2_000_000_000;
    let mut pods = vec![
        with("app", |_| {}),
        with("log", |pod| pod.owner = Owner::DaemonSet),
        with("dns", critical),
        with("cni", |pod| {
            critical(pod);
            pod.owner = Owner::DaemonSet;
        }),
        with("static", |pod| pod.owner = Owner::Node),
        with("agent", |pod| {
            pod.placement.tolerations.push(Toleration::everything())
        }),
    ];
    let world = World::new();
    let mut order = Vec::new();
    loop {
        let plan = drain(&going(pods.clone()), &world.snapshot, None, now());
        if plan.waiting == 0 {
            break;
        }
        let leaving = names(plan.evict.iter().map(|evict| &evict.pod));
        pods.retain(|pod| !leaving.contains(&pod.key.name.to_string()));
        order.push(leaving.join("+"));
    }
    assert_eq!(order, ["app", "log", "dns", "cni"]);
    assert_eq!(
        pods.len(),
        2,
        "static pods and those that bear the taint go with the node"
    );
}

#[test]
fn budgets_and_wishes_hold_pods() {
    let labelled = |name: &str| {
        with(name, |pod| {
            pod.labels.insert("app".into(), "web".into());
        })
    };
    let mut world = World::new();
    let pdb = |name: &str, allowed, always| {
        Arc::new(Pdb {
            namespace: "default".into(),
            name: name.into(),
            selector: PodSelector {
                labels: [joiner_core::requirements::Requirement::is("app", "web")]
                    .into_iter()
                    .collect(),
                matches_nothing: false,
            },
            disruptions_allowed: allowed,
            always_allow_unhealthy: always,
        })
    };
    let place = going(vec![
        labelled("web-1"),
        labelled("web-2"),
        with("alone", |pod| pod.do_not_disrupt = DoNotDisrupt::Always),
        with("leaving", |pod| pod.deletion = Some(now())),
        with("stuck", |pod| pod.deletion = Some(ago(61))),
        with("free", |_| {}),
    ]);
    for (pdbs, evicted, held) in [
        (vec![], vec!["web-1", "web-2", "free"], vec!["alone"]),
        (
            vec![pdb("one", 1, false)],
            vec!["web-1", "free"],
            vec!["web-2", "alone"],
        ),
        (
            vec![pdb("one", 0, false)],
            vec!["free"],
            vec!["web-1", "web-2", "alone"],
        ),
        (
            vec![pdb("one", 0, true)],
            vec!["web-1", "web-2", "free"],
            vec!["alone"],
        ),
        (
            vec![pdb("one", 9, false), pdb("two", 9, false)],
            vec!["free"],
            vec!["web-1", "web-2", "alone"],
        ),
    ] {
        world.snapshot.pdbs = pdbs;
        let plan = drain(&place, &world.snapshot, None, now());
        assert_eq!(names(plan.evict.iter().map(|evict| &evict.pod)), evicted);
        assert_eq!(names(plan.held.iter().map(|held| &held.pod)), held);
        assert_eq!(plan.waiting, 5, "one is stuck and not waited for");
    }
}

#[test]
fn time_up_deletes_what_will_not_leave() {
    let deadline = now() + SignedDuration::from_secs(20);
    let place = going(vec![
        with("default-grace", |pod| pod.do_not_disrupt = DoNotDisrupt::Always),
        with("short-grace", |pod| {
            pod.grace_period = SignedDuration::from_secs(5)
        }),
        with("leaving-late", |pod| {
            pod.deletion = Some(now() + SignedDuration::from_secs(99))
        }),
        with("leaving-soon", |pod| {
            pod.deletion = Some(now() + SignedDuration::from_secs(9))
        }),
    ]);
    let plan = drain(&place, &World::new().snapshot, Some(deadline), now());
    let deleted: Vec<_> = plan
        .delete
        .iter()
        .map(|it| (it.pod.name.to_string(), it.grace_seconds))
        .collect();
    assert_eq!(
        deleted,
        [("default-grace".to_owned(), 20), ("leaving-late".to_owned(), 20)]
    );
    assert_eq!(names(plan.evict.iter().map(|evict| &evict.pod)), ["short-grace"]);
    assert_eq!(plan.wake, Some(now() + SignedDuration::from_secs(15)));
}

#[test]
fn a_node_goes_stage_by_stage() {
    let world = World::new();
    let mut place = going(vec![with("app", |_| {})]);
    let step = finalize_node(&place, &world.snapshot, Instance::NotAsked, now());
    assert_eq!(
        step.taints.unwrap().last().unwrap().to_string(),
        "karpenter.sh/disrupted:NoSchedule"
    );
    assert_eq!(step.labels.len(), 1);
    assert_eq!(step.drain.evict.len(), 1);
    assert!(matches!(step.next, NodeNext::Wait(_)));
    assert_eq!(step.conditions[0].kind, "Drained");

    let set = |place: &mut Node, kind: &str, status, age| {
        let mut claim = (**place.claim.as_ref().unwrap()).clone();
        claim.conditions.insert(
            kind,
            Condition {
                status,
                reason: "x".into(),
                message: "".into(),
                since: ago(age),
            },
        );
        place.claim = Some(claim.into());
    };
    place.pods.clear();
    set(&mut place, "Drained", Status::Unknown, 4);
    let step = finalize_node(&place, &world.snapshot, Instance::NotAsked, now());
    assert!(matches!(step.next, NodeNext::Wait(_)), "at least five seconds");

    set(&mut place, "Drained", Status::Unknown, 5);
    place.attached_volumes = vec!["vol".into()];
    let step = finalize_node(&place, &world.snapshot, Instance::NotAsked, now());
    assert_eq!(
        (step.volumes.len(), matches!(step.next, NodeNext::Wait(_))),
        (1, true)
    );

    place.attached_volumes.clear();
    for (instance, terminating, next) in [
        (Instance::NotAsked, false, NodeNext::TerminateInstance),
        (Instance::NotAsked, true, NodeNext::TerminateInstance),
        (
            Instance::Exists,
            true,
            NodeNext::Wait(now() + SignedDuration::from_secs(5)),
        ),
        (Instance::Gone, true, NodeNext::Release),
    ] {
        if terminating {
            set(&mut place, "InstanceTerminating", Status::True, 1);
        }
        let step = finalize_node(&place, &world.snapshot, instance, now());
        assert_eq!(step.next, next, "{instance:?}");
    }
}

#[test]
fn a_node_whose_instance_is_gone_is_released_at_once() {
    let mut place = going(vec![with("app", |_| {})]);
    for (ready, instance, want) in [
        (false, Instance::Gone, true),
        (true, Instance::Gone, false),
        (false, Instance::NotAsked, false),
    ] {
        let mut object = (**place.object.as_ref().unwrap()).clone();
        object.ready = ready;
        place.object = Some(object.into());
        let step = finalize_node(&place, &World::new().snapshot, instance, now());
        assert_eq!(step.next == NodeNext::Release, want, "{ready} {instance:?}");
    }
}

#[test]
fn a_claim_goes_after_its_nodes() {
    let it = &types()[6];
    let mut claim = crate::world::claim("c", "default", it, "initialized");
    let node = Arc::new(object(&claim, it));
    assert_eq!(
        finalize_claim(&claim, &[], Instance::NotAsked, now()).next,
        ClaimNext::Nothing
    );
    claim.deletion = Some(now());
    claim.termination_grace_period = Some(SignedDuration::from_mins(10));
    let step = finalize_claim(&claim, &[Arc::clone(&node)], Instance::NotAsked, now());
    assert_eq!(step.annotation.unwrap().1.as_ref(), "2026-11-30T12:10:00Z");
    assert_eq!((step.delete_nodes.len(), step.next), (1, ClaimNext::AwaitNodes));
    let step = finalize_claim(&claim, &[], Instance::NotAsked, now());
    assert_eq!(
        (step.next, step.conditions.len()),
        (ClaimNext::TerminateInstance, 1)
    );
    assert_eq!(
        finalize_claim(&claim, &[], Instance::Gone, now()).next,
        ClaimNext::Release
    );
    claim.provider_id = None;
    assert_eq!(
        finalize_claim(&claim, &[], Instance::NotAsked, now()).next,
        ClaimNext::Release
    );
}
