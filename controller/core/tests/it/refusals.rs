//! Why not, in words. What a person reads when a pod stays pending.

use joiner_core::requirements::Requirement;
use joiner_core::snapshot::{NodeTerm, Pool, Readiness};
use joiner_core::taints::{Effect, Taint};

use crate::world::{GI, MI, World, daemon, pod, pool, select, types};

#[test]
fn every_refusal_says_what_where_and_how_near() {
    let mut tainted = pool("gpu");
    tainted
        .taints
        .push(Taint::new("nvidia.com/gpu", "true", Effect::NoSchedule));
    let mut batch = pool("batch");
    batch
        .requirements
        .add(Requirement::is("karpenter.sh/capacity-type", "spot"));
    batch.limits = [("cpu", 16_000)].into_iter().collect();
    let resting = Pool {
        readiness: Readiness::NotReady {
            reason: "NodeClassReady=False".into(),
        },
        ..pool("resting")
    };
    let world = World::new()
        .pool(tainted, types())
        .pool(batch, types())
        .pool(resting, types())
        .pool(
            Pool {
                replicas: Some(3),
                ..pool("steady")
            },
            types(),
        )
        .pool(pool("void"), vec![])
        .daemon(daemon("log", 500, GI))
        .pods([
            pod("huge", 20_000, 300 * GI),
            select(pod("lost", 100, MI), "topology.kubernetes.io/zone", "eu-west-1a"),
            select(
                pod("on-demand", 100, MI),
                "karpenter.sh/capacity-type",
                "on-demand",
            ),
            select(pod("typo", 100, MI), "kubernetes.io/zone", "us-west-2a"),
        ]);
    insta::assert_snapshot!(world.refusals().join("\n\n"));
}

#[test]
fn a_limit_says_what_is_used_and_what_is_needed() {
    let batch = Pool {
        limits: [("cpu", 16_000)].into_iter().collect(),
        ..pool("spot-batch")
    };
    let four: Vec<_> = types()
        .into_iter()
        .filter(|it| it.name.ends_with(".xlarge"))
        .collect();
    let pods = (0..5).map(|index| pod(&format!("p{index}"), 3000, GI));
    let world = World::new().pool(batch, four).pods(pods);
    insta::assert_snapshot!(world.refusals().join("\n"));
}

#[test]
fn without_pools_the_remedy_is_named() {
    insta::assert_snapshot!(World::new().pods([pod("a", 1, 1)]).refusals().join("\n"));
}

#[test]
fn what_is_not_supported_is_refused_rather_than_broken() {
    let mut field = pod("field", 100, MI);
    field.placement.node_affinity = Some(vec![NodeTerm {
        expressions: joiner_core::requirements::Requirements::new(),
        fields: vec!["metadata.name".into()],
    }]);
    let mut claimed = pod("claimed", 100, MI);
    claimed
        .placement
        .unsupported
        .push("devices claimed dynamically".into());
    let world = World::new().pool(pool("default"), types()).pods([field, claimed]);
    insta::assert_snapshot!(world.refusals().join("\n"));
}

#[test]
fn a_pool_that_contradicts_itself_buys_nothing() {
    let labelled = |values: &str| Pool {
        labels: joiner_core::text::labels([("example.com/team", values)]),
        ..pool("torn")
    };
    let mut differs = labelled("b");
    differs.requirements.add(Requirement::is("example.com/team", "a"));
    let mut excludes = labelled("a");
    excludes
        .requirements
        .add(Requirement::is_not_in("example.com/team", ["a"]));
    let mut empty = pool("torn");
    empty.requirements.add(Requirement::is("example.com/team", "a"));
    empty
        .requirements
        .add(Requirement::does_not_exist("example.com/team"));
    for (torn, want) in [
        (
            differs,
            "its label example.com/team=b, its requirement example.com/team In [a]",
        ),
        (
            excludes,
            "its label example.com/team=a, its requirement example.com/team NotIn [a]",
        ),
        (empty, "its requirements on example.com/team exclude each other"),
    ] {
        let world = World::new().pool(torn, types()).pods([pod("a", 100, MI)]);
        let want =
            format!("default/a: Failed to schedule pod: NodePool \"torn\": it contradicts itself: {want}");
        assert_eq!(world.refusals(), [want]);
    }
}
