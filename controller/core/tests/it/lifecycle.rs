//! From instance to complete node, and what is cleared up when a half is lost.

use std::sync::Arc;

use joiner_core::collect::{Instance, collect};
use joiner_core::conditions::{Condition, Conditions, Status};
use joiner_core::pools::{self, ClassState, Health};
use joiner_core::register::{GiveUp, Outcome, Published, Step, advance, unregistered_taint};
use joiner_core::resources::Resources;
use joiner_core::snapshot::{Claim, Node, NodeObject, Nomination, Parts, PodKey, join};
use joiner_core::taints::{Effect, Taint};

use crate::world::{World, ago, bound, claim, node, now, object, pod, pool, provider_id, types};

fn changes(step: &Step) -> Vec<String> {
    step.conditions
        .iter()
        .map(|it| format!("{}={} {}", it.kind, it.status.as_str(), it.reason))
        .collect()
}

fn fresh_node(claim: &Claim) -> NodeObject {
    let mut node = object(claim, &types()[6]);
    node.labels
        .retain(|key, _| !key.starts_with("karpenter.sh/registered"));
    node.taints = vec![
        unregistered_taint(),
        Taint::new("node.kubernetes.io/not-ready", "", Effect::NoSchedule),
    ];
    node.ready = false;
    node
}

#[test]
fn a_node_registers_with_the_claims_labels_and_taints() {
    let mut claim = claim("c", "default", &types()[6], "launched");
    claim.taints = vec![Taint::new("team", "a", Effect::NoSchedule)];
    claim.startup_taints = vec![Taint::new("cni", "", Effect::NoExecute)];
    let node = Arc::new(fresh_node(&claim));
    let step = advance(&claim, &[Arc::clone(&node)], &Published::Ignored, now());
    assert_eq!(
        changes(&step),
        [
            "Registered=True Registered",
            "Initialized=Unknown AwaitingReconciliation",
            "Ready=Unknown ReconcilingDependents"
        ]
    );
    let patch = step.node.unwrap();
    let taints: Vec<String> = patch.taints.iter().map(ToString::to_string).collect();
    assert_eq!(
        taints,
        [
            "node.kubernetes.io/not-ready:NoSchedule",
            "team=a:NoSchedule",
            "cni:NoExecute"
        ]
    );
    assert_eq!(&*patch.labels["karpenter.sh/registered"], "true");
    assert_eq!(&*patch.labels["karpenter.sh/nodepool"], "default");
    assert!(patch.adopt);
    assert_eq!(
        (step.node_name.as_deref(), step.outcome),
        (Some("node-c"), Some(Outcome::Registered))
    );
    assert!(!step.unregistered_taint_missing);

    let mut synced = (*node).clone();
    synced
        .labels
        .insert("karpenter.sh/do-not-sync-taints".into(), "true".into());
    synced
        .taints
        .retain(|taint| &*taint.key != "karpenter.sh/unregistered");
    let step = advance(&claim, &[Arc::new(synced)], &Published::Ignored, now());
    assert_eq!(step.node.unwrap().taints.len(), 1, "its boot script has set them");
    assert!(step.unregistered_taint_missing);
}

#[test]
fn initialisation_waits_for_everything_in_turn() {
    let mut claim = claim("c", "default", &types()[6], "registered");
    claim.startup_taints = vec![Taint::new("cni", "", Effect::NoExecute)];
    claim.requests = Resources::cpu_memory(100, 100).with("nvidia.com/gpu", 1);
    let mut node = object(&claim, &types()[6]);
    node.ready = false;
    node.taints = vec![
        claim.startup_taints[0].clone(),
        Taint::new("node.kubernetes.io/not-ready", "", Effect::NoSchedule),
    ];
    let mut said = Vec::new();
    let mut see = |node: &NodeObject| {
        let step = advance(&claim, &[Arc::new(node.clone())], &Published::Ignored, now());
        said.push(changes(&step).join(", "));
        step.node
    };
    assert_eq!(see(&node), None);
    node.ready = true;
    see(&node);
    node.taints.remove(0);
    see(&node);
    node.taints.clear();
    see(&node);
    node.allocatable.set(&"nvidia.com/gpu".into(), 1);
    let patch = see(&node).unwrap();
    assert_eq!(&*patch.labels["karpenter.sh/initialized"], "true");
    insta::assert_snapshot!(said.join("\n"), @r"
    Initialized=Unknown NodeNotReady, Ready=Unknown ReconcilingDependents
    Initialized=Unknown StartupTaintsExist, Ready=Unknown ReconcilingDependents
    Initialized=Unknown KnownEphemeralTaintsExist, Ready=Unknown ReconcilingDependents
    Initialized=Unknown ResourceNotRegistered, Ready=Unknown ReconcilingDependents
    Initialized=True Initialized, Ready=True Ready
    ");
}

#[test]
fn what_never_comes_is_given_up() {
    let with = |phase: &str, kind: &str, status: Status, age: i64| {
        let mut claim = claim("c", "default", &types()[6], phase);
        claim.created = ago(age);
        let condition = Condition {
            status,
            reason: kind.into(),
            message: "".into(),
            since: ago(age),
        };
        claim.conditions = [(kind, condition)].into_iter().collect();
        if phase == "launched" {
            let registered = Condition {
                status: Status::Unknown,
                reason: "x".into(),
                message: "".into(),
                since: ago(age),
            };
            claim.conditions.insert("Registered", registered);
        }
        claim
    };
    for (name, claim, want) in [
        (
            "young, no instance",
            with("planned", "Launched", Status::Unknown, 299),
            None,
        ),
        (
            "no instance",
            with("planned", "Launched", Status::Unknown, 300),
            Some(GiveUp::LaunchTimeout),
        ),
        (
            "young, no node",
            with("launched", "Launched", Status::True, 899),
            None,
        ),
        (
            "no node",
            with("launched", "Launched", Status::True, 900),
            Some(GiveUp::RegistrationTimeout),
        ),
        (
            "complete",
            claim("c", "default", &types()[6], "initialized"),
            None,
        ),
    ] {
        let step = advance(&claim, &[], &Published::Ignored, now());
        assert_eq!(step.give_up, want, "{name}");
        let waits = want.is_none() && name != "complete";
        assert_eq!(step.wake.is_some(), waits, "{name}");
    }
}

#[test]
fn initialisation_waits_for_the_devices_that_pods_were_promised() {
    let plain = claim("c", "default", &types()[6], "registered");
    let mut promised = plain.clone();
    let drivers = "gpu.example.com, nic.example.com";
    promised
        .annotations
        .insert("karpenter.sh/requested-dra-drivers".into(), drivers.into());
    let by = |drivers: &[&str]| Published::By(drivers.iter().map(|driver| (*driver).into()).collect());
    for (name, claim, published, want) in [
        ("nobody looks", &promised, Published::Ignored, None),
        ("none was promised", &plain, by(&[]), None),
        (
            "all are there",
            &promised,
            by(&["gpu.example.com", "nic.example.com"]),
            None,
        ),
        (
            "one is missing",
            &promised,
            by(&["gpu.example.com"]),
            Some("nic.example.com"),
        ),
        (
            "both are missing",
            &promised,
            by(&["other"]),
            Some("gpu.example.com"),
        ),
    ] {
        let node = Arc::new(object(claim, &types()[6]));
        let step = advance(claim, &[node], &published, now());
        let said: Vec<String> = step.conditions.iter().map(|it| it.message.to_string()).collect();
        match want {
            None => assert!(
                changes(&step)[0].starts_with("Initialized=True"),
                "{name}: {said:?}"
            ),
            Some(driver) => {
                assert!(
                    changes(&step)[0].ends_with("DRADriverPoolsNotPublished"),
                    "{name}: {said:?}"
                );
                assert!(said[0].contains(driver), "{name}: {said:?}");
                assert!(step.node.is_none(), "{name}");
            }
        }
    }
}

#[test]
fn a_claim_starts_with_all_its_conditions() {
    let mut young = claim("c", "default", &types()[6], "planned");
    young.conditions = Conditions::default();
    let step = advance(&young, &[], &Published::Ignored, now());
    assert_eq!(step.conditions.len(), 4, "{:?}", changes(&step));
    let two = [Arc::new(fresh_node(&young)), Arc::new(fresh_node(&young))];
    let launched = claim("c", "default", &types()[6], "launched");
    let step = advance(&launched, &two, &Published::Ignored, now());
    assert_eq!(changes(&step)[0], "Registered=False MultipleNodesFound");
}

#[test]
fn halves_are_joined() {
    let it = &types()[6];
    let claims = ["a", "b"]
        .map(|name| Arc::new(claim(name, "default", it, "initialized")))
        .to_vec();
    let mut stranger = object(&claims[0], it);
    stranger.name = "system".into();
    stranger.provider_id = Some("aws:///us-west-2a/i-system".into());
    let parts = Parts {
        nodes: vec![Arc::new(object(&claims[0], it)), Arc::new(stranger)],
        claims,
        bound: vec![
            ("node-a".into(), bound(pod("x", 1, 1))),
            ("nowhere".into(), bound(pod("y", 1, 1))),
        ],
        nominations: vec![Nomination {
            place: "a".into(),
            pod: PodKey::new("default", "z"),
            until: now(),
        }],
        marked_for_deletion: vec!["b".into()],
        attachments: vec![("node-a".into(), "vol".into())],
    };
    let nodes = join(parts);
    let text: Vec<String> = nodes
        .iter()
        .map(|node| {
            let half = |there: bool, word: &str| if there { word.to_owned() } else { String::new() };
            format!(
                "{} {}{} pods {} nominated {} volumes {} going {}",
                node.name(),
                half(node.claim.is_some(), "claim "),
                half(node.object.is_some(), "node"),
                node.pods.len(),
                node.nominated.len(),
                node.attached_volumes.len(),
                node.is_going()
            )
        })
        .collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    b claim  pods 0 nominated 0 volumes 0 going true
    node-a claim node pods 1 nominated 1 volumes 1 going false
    system node pods 0 nominated 0 volumes 0 going false
    ");
}

#[test]
fn lost_halves_are_cleared_up() {
    let it = &types()[6];
    let instance = |name: &str, age: i64, claim: Option<&str>| Instance {
        provider_id: provider_id(name),
        launched: ago(age),
        claim: claim.map(Into::into),
        terminating: false,
    };
    let lost = |ready: bool, phase: &str| -> Node {
        let mut node = node("lost", "default", it, phase);
        node.object = node.object.map(|object| {
            let mut object = (*object).clone();
            object.ready = ready;
            object.into()
        });
        node
    };
    let unlaunched = || node("young", "default", it, "planned");
    for (name, instances, nodes, adopt, terminate, delete) in [
        (
            "an old instance without a claim",
            vec![instance("x", 31, None)],
            vec![],
            0,
            1,
            0,
        ),
        ("a young one", vec![instance("x", 30, None)], vec![], 0, 0, 0),
        (
            "one that a claim waits for",
            vec![instance("x", 31, Some("young"))],
            vec![unlaunched()],
            1,
            0,
            0,
        ),
        (
            "the second of one claim",
            vec![instance("x", 31, Some("young")), instance("y", 31, Some("young"))],
            vec![unlaunched()],
            1,
            1,
            0,
        ),
        (
            "of a claim that is not there",
            vec![instance("x", 31, Some("other"))],
            vec![unlaunched()],
            0,
            1,
            0,
        ),
        (
            "known",
            vec![instance("lost", 99, Some("lost"))],
            vec![lost(false, "initialized")],
            0,
            0,
            0,
        ),
        (
            "a claim whose instance is gone",
            vec![],
            vec![lost(false, "initialized")],
            0,
            0,
            1,
        ),
        (
            "but whose node is well",
            vec![],
            vec![lost(true, "initialized")],
            0,
            0,
            0,
        ),
        (
            "not registered: its timeout decides",
            vec![],
            vec![lost(false, "launched")],
            0,
            0,
            0,
        ),
    ] {
        let found = collect(&instances, &nodes, now());
        assert_eq!(
            (
                found.adopt.len(),
                found.terminate.len(),
                found.delete_claims.len()
            ),
            (adopt, terminate, delete),
            "{name}"
        );
    }
    let terminating = Instance {
        terminating: true,
        ..instance("lost", 99, None)
    };
    assert_eq!(
        collect(&[terminating], &[lost(false, "registered")], now())
            .delete_claims
            .len(),
        1
    );
}

#[test]
fn a_pool_is_ready_with_its_rules_and_its_class() {
    let ready = |status| ClassState::There {
        ready: Some(Condition {
            status,
            reason: "SubnetsReady".into(),
            message: "no subnet".into(),
            since: ago(9),
        }),
    };
    let text = |violations: &[&str], class: &ClassState| {
        let violations: Vec<_> = violations.iter().map(|text| (*text).into()).collect();
        let wanted = pools::conditions(&Conditions::default(), &violations, class, now());
        let all: Vec<String> = wanted
            .iter()
            .map(|it| format!("{}={} {} {}", it.kind, it.status.as_str(), it.reason, it.message))
            .collect();
        all.join("\n")
    };
    let all = [
        text(&[], &ready(Status::True)),
        text(&["requirements[0]: no such operator"], &ready(Status::False)),
        text(&[], &ClassState::NotFound),
        text(&[], &ClassState::Terminating),
        text(&[], &ready(Status::Unknown)),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
    let mut there = Conditions::default();
    for wanted in pools::conditions(&there, &[], &ready(Status::True), now()) {
        there.apply(&wanted, now());
    }
    assert_eq!(
        pools::conditions(&there, &[], &ready(Status::True), now()),
        [],
        "nothing changes twice"
    );
}

#[test]
fn registration_health_remembers_four_starts() {
    let run = |outcomes: &[Outcome]| {
        let mut health = Health::default();
        outcomes.iter().fold(Status::Unknown, |_, outcome| {
            health.remember(*outcome, "why").status
        })
    };
    use Outcome::{Failed as F, Registered as R};
    for (outcomes, want) in [
        (vec![R], Status::True),
        (vec![F], Status::Unknown),
        (vec![F, F], Status::False),
        (vec![R, F], Status::True),
        (vec![R, R, F, F], Status::False),
        (vec![F, F, R, R], Status::False),
        (vec![F, F, R, R, R], Status::True),
    ] {
        assert_eq!(run(&outcomes), want, "{outcomes:?}");
    }
}

#[test]
fn a_pool_counts_all_its_nodes() {
    let it = &types()[6];
    let world = World::new()
        .pool(pool("default"), types())
        .node(node("a", "default", it, "initialized"))
        .node(node("b", "default", it, "planned"))
        .node(node("c", "other", it, "initialized"));
    let totals = pools::totals(&world.snapshot, "default");
    assert_eq!(totals.nodes, 2);
    assert_eq!(totals.resources.get(&"cpu".into()), 2000);
}
