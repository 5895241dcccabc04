//! Static pools: how many claims are made, which go.

use joiner_core::resources::Resources;
use joiner_core::snapshot::{DoNotDisrupt, Node, Pool, Readiness};
use joiner_core::static_pools::{Scale, claim, scale};

use crate::world::{GI, World, bound, daemon, instance, node, now, pod, pool, types};

fn fixed(replicas: u32) -> Pool {
    Pool {
        replicas: Some(replicas),
        ..pool("fixed")
    }
}

/// A place of the pool with pods on it.
fn place(name: &str, phase: &str, pods: &[&str]) -> Node {
    let it = instance("m5.xlarge", "amd64", 4000, 16 * GI, 200_000);
    let mut place = node(name, "fixed", &it, phase);
    for kind in pods {
        let mut pod = pod(&format!("{kind}-{name}"), 500, GI);
        match *kind {
            "dear" => pod.deletion_cost = 1000,
            "critical" => pod.do_not_disrupt = DoNotDisrupt::Always,
            _ => {}
        }
        place.pods.push(bound(pod));
    }
    place
}

fn world(pool: &Pool, nodes: Vec<Node>) -> World {
    nodes
        .into_iter()
        .fold(World::new().pool(pool.clone(), types()), World::node)
}

#[test]
fn a_static_pool_is_brought_to_its_number() {
    let three = || {
        ["a", "b", "c"]
            .map(|name| place(name, "initialized", &[]))
            .to_vec()
    };
    let going = || {
        let mut all = three();
        all[2].marked_for_deletion = true;
        all
    };
    let limited = |replicas: u32, nodes: i64| Pool {
        limits: [("nodes", nodes)].into_iter().collect(),
        ..fixed(replicas)
    };
    let not_ready = |replicas: u32| Pool {
        readiness: Readiness::NotReady {
            reason: "class".into(),
        },
        ..fixed(replicas)
    };
    let deleting = Pool {
        deleting: true,
        ..fixed(5)
    };
    // Made, let go, beyond the limit.
    for (name, pool, nodes, want) in [
        ("enough", fixed(3), three(), (0, 0, 0)),
        ("more", fixed(5), three(), (2, 0, 0)),
        ("fewer", fixed(1), three(), (0, 2, 0)),
        ("none", fixed(0), three(), (0, 3, 0)),
        ("one goes", fixed(3), going(), (1, 0, 0)),
        ("limited", limited(9, 5), three(), (2, 0, 4)),
        ("limited while one goes", limited(9, 4), going(), (1, 0, 6)),
        ("not ready", not_ready(5), three(), (0, 0, 0)),
        ("not ready, too many", not_ready(2), three(), (0, 1, 0)),
        ("on its way out", deleting, three(), (0, 0, 0)),
        ("not static", pool("fixed"), three(), (0, 0, 0)),
    ] {
        let Scale {
            make,
            delete,
            beyond_limit,
        } = scale(&world(&pool, nodes).snapshot, &pool, now());
        assert_eq!((make, delete.len(), beyond_limit), want, "{name}");
    }
}

#[test]
fn what_costs_least_goes_first() {
    let pool = fixed(0);
    let nodes = || {
        vec![
            place("a-critical", "initialized", &["critical"]),
            place("b-dear", "initialized", &["dear"]),
            place("c-plain", "initialized", &["web"]),
            place("d-empty", "initialized", &[]),
            place("e-new", "planned", &[]),
            place("f-two", "initialized", &["web", "other"]),
        ]
    };
    let order = scale(&world(&pool, nodes()).snapshot, &pool, now()).delete;
    let names: Vec<&str> = order.iter().map(|name| &**name).collect();
    assert_eq!(
        names,
        ["e-new", "d-empty", "c-plain", "b-dear", "f-two", "a-critical"]
    );
}

#[test]
fn a_claim_of_a_static_pool_has_room_for_its_daemons() {
    let pool = fixed(2);
    let world = world(&pool, Vec::new()).daemon(daemon("agent", 300, GI));
    let made = claim(&world.snapshot, &world.catalogue, &pool, now()).unwrap();
    assert!(made.pods.is_empty());
    assert_eq!(made.requests, Resources::cpu_memory(300, GI).with("pods", 1));
    assert_eq!(&*made.pool, "fixed");
    assert!(!made.instance_types.is_empty());
    // Nothing on sale: nothing is made.
    let empty = World::new().pool(pool.clone(), Vec::new());
    assert!(claim(&empty.snapshot, &empty.catalogue, &pool, now()).is_none());
}
