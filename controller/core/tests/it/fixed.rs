//! Static pools.

use joiner_core::requirements::Requirement;
use joiner_core::resources::Limits;
use joiner_core::schedule::lacks;
use joiner_core::snapshot::{Node, Readiness};

use crate::world::{GI, MI, World, daemon, node, pod, pool, types};

fn standing(count: usize) -> Vec<Node> {
    let types = types();
    (0..count)
        .map(|index| node(&format!("s-{index}"), "s", &types[0], "initialized"))
        .collect()
}

#[test]
fn a_static_pool_gets_the_nodes_it_wants() {
    for (name, replicas, there, going, limit, missing, held_back) in [
        ("none there", 3, 0, 0, None, Some(3), ""),
        ("some there", 3, 2, 0, None, Some(1), ""),
        ("all there", 2, 2, 0, None, None, ""),
        ("too many", 1, 2, 0, None, None, ""),
        ("one goes", 2, 2, 1, None, Some(1), ""),
        (
            "a limit of nodes",
            5,
            2,
            0,
            Some(4),
            Some(2),
            "its limit of nodes 4 would be exceeded: 2 are in use or on their way and the smallest node for this pod \
             needs 3",
        ),
    ] {
        let mut wanted = pool("s");
        wanted.replicas = Some(replicas);
        wanted.limits = limit
            .into_iter()
            .map(|limit| ("nodes", limit))
            .collect::<Limits>();
        let mut world = World::new().pool(wanted, types());
        for (index, mut node) in standing(there).into_iter().enumerate() {
            node.marked_for_deletion = index < going;
            world = world.node(node);
        }
        let lacks = lacks(&world.snapshot, &world.catalogue);
        let got = lacks.first();
        assert_eq!(got.map(|lack| lack.missing), missing, "{name}");
        let words = got.and_then(|lack| lack.held_back.as_ref());
        assert_eq!(
            words.map(ToString::to_string).unwrap_or_default(),
            held_back,
            "{name}"
        );
    }
}

#[test]
fn its_claim_is_any_type_that_suits() {
    let mut wanted = pool("s");
    wanted.replicas = Some(1);
    wanted
        .requirements
        .add(Requirement::is("kubernetes.io/arch", "amd64"));
    let world = World::new().pool(wanted, types()).daemon(daemon("d", 1500, GI));
    let all = lacks(&world.snapshot, &world.catalogue);
    let claim = all[0].claim.as_ref().unwrap();
    // Of the one-core types none carries the daemon.
    assert_eq!(&*claim.instance_types[0], "c5.large");
    assert!(
        claim
            .instance_types
            .iter()
            .all(|it| !it.starts_with("m6g") && !it.ends_with("medium"))
    );
    assert!(claim.pods.is_empty());
    assert_eq!(claim.requests.to_string(), "cpu 1500m, memory 1Gi, pods 1");
}

#[test]
fn a_pool_that_cannot_buy_says_why() {
    let mut wanted = pool("s");
    wanted.replicas = Some(1);
    wanted.readiness = Readiness::NotReady {
        reason: "no class".into(),
    };
    let world = World::new().pool(wanted, types());
    let all = lacks(&world.snapshot, &world.catalogue);
    assert_eq!(all[0].missing, 0);
    assert_eq!(
        all[0].held_back.as_ref().unwrap().to_string(),
        "it is not ready: no class"
    );
}

#[test]
fn pods_get_no_node_of_a_static_pool() {
    let mut fixed = pool("s");
    fixed.replicas = Some(2);
    fixed.weight = 50;
    let world = World::new()
        .pool(fixed, types())
        .pool(pool("dynamic"), types())
        .pods([pod("a", 100, MI)]);
    assert_eq!(&*world.schedule().new_claims[0].pool, "dynamic");
}
