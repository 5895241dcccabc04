//! What a change does to nodes that run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;
use joiner_core::disrupt::Blocker;
use joiner_core::disrupt::drift::Facts;
use joiner_core::disrupt::forecast::{Asked, Fate, Forecast, forecast, gone};
use joiner_core::snapshot::{Budget, BudgetNodes, Node, Pdb, Pod, PodSelector, Pool, PoolHash};

use crate::world::{GI, World, bound, node, now, pod, pool, select, types};

/// Nodes of two cores and eight gibibytes.
const SIZE: usize = 6;

fn hash(value: &str) -> PoolHash {
    PoolHash {
        value: value.into(),
        version: "v1".into(),
    }
}

/// A pool that lets `at_once` nodes go at a time.
fn changed(name: &str, at_once: u32) -> Pool {
    let mut pool = pool(name);
    pool.hash = hash("new");
    pool.disruption.budgets = vec![Budget {
        reasons: BTreeSet::new(),
        nodes: BudgetNodes::Count(at_once),
        window: None,
    }];
    pool
}

/// A node whose claim was made by a template with this hash.
fn made(name: &str, pool: &str, by: &str, pods: Vec<Pod>) -> Node {
    let mut node = node(name, pool, &types()[SIZE], "initialized");
    let claim = Arc::make_mut(node.claim.as_mut().unwrap());
    for (key, value) in [("", by), ("-version", "v1")] {
        let key = format!("karpenter.sh/nodepool-hash{key}");
        claim.annotations.insert(key.into(), value.into());
    }
    node.pods = pods.into_iter().map(bound).collect();
    node
}

/// A pod that leaves no room for a second one on its node.
fn large(name: &str) -> Pod {
    pod(name, 1200, GI)
}

fn ask(world: &World, pools: &[&str]) -> Forecast {
    let facts = Facts {
        classes: BTreeMap::new(),
        machines: BTreeMap::new(),
    };
    let asked = Asked {
        catalogue: &world.catalogue,
        facts: &facts,
        pools: &pools.iter().map(|name| (*name).into()).collect(),
        most_waves: 10,
    };
    forecast(world.snapshot.clone(), &asked, now())
}

/// `NODE WAVE` or `NODE stays`, in order.
fn fates(forecast: &Forecast) -> Vec<String> {
    let fate = |fate: &Fate| match fate {
        Fate::Goes { wave, .. } => wave.to_string(),
        Fate::Later => "later".to_owned(),
        Fate::Stays { .. } => "stays".to_owned(),
    };
    let nodes = forecast.nodes.iter();
    nodes
        .map(|it| format!("{} {}", it.node, fate(&it.fate)))
        .collect()
}

#[test]
fn nodes_of_an_older_template_go_within_the_budget() {
    for (at_once, nodes, waves) in [
        (1, vec!["node-a 1", "node-b 2", "node-c 3"], 3),
        (2, vec!["node-a 1", "node-b 1", "node-c 2"], 2),
        (5, vec!["node-a 1", "node-b 1", "node-c 1"], 1),
    ] {
        let world = World::new()
            .pool(changed("default", at_once), types())
            .node(made("a", "default", "old", vec![large("1")]))
            .node(made("b", "default", "old", vec![large("2")]))
            .node(made("c", "default", "old", vec![large("3")]))
            .node(made("d", "default", "new", vec![large("4")]));
        let told = ask(&world, &["default"]);
        assert_eq!(fates(&told), nodes, "{at_once} at once");
        assert_eq!((told.waves, told.moving()), (waves, 3), "{at_once} at once");
        // A node took a minute and a half or so to get complete, and its pods half a minute to go.
        let lasts = told.lasts.unwrap();
        let most = SignedDuration::from_mins(3 * i64::try_from(waves).unwrap());
        assert!(lasts.is_positive() && lasts <= most, "{at_once} at once: {lasts}");
        assert!(told.homeless.is_empty() && told.before.micros() > 0 && told.after.micros() > 0);
        assert!(
            told.nodes
                .iter()
                .all(|it| it.drift.reason.as_str() == "NodePoolDrifted" && !it.already)
        );
    }
}

#[test]
fn what_does_not_differ_stays() {
    let world =
        World::new()
            .pool(changed("default", 1), types())
            .node(made("a", "default", "new", vec![large("1")]));
    let told = ask(&world, &["default"]);
    assert_eq!((told.nodes.len(), told.waves, told.lasts), (0, 0, None));
    assert_eq!(told.before, told.after);
}

#[test]
fn drift_of_other_pools_is_not_the_changes_doing() {
    let world = World::new()
        .pool(changed("default", 1), types())
        .pool(changed("other", 1), types())
        .node(made("a", "default", "old", vec![large("1")]))
        .node(made("b", "other", "old", vec![large("2")]));
    assert_eq!(fates(&ask(&world, &["default"])), ["node-a 1"]);
    assert_eq!(fates(&ask(&world, &["other"])), ["node-b 1"]);
}

#[test]
fn a_smaller_need_is_a_smaller_price() {
    // Two nodes that are half empty become one.
    let world = World::new()
        .pool(changed("default", 2), types())
        .node(made("a", "default", "old", vec![pod("1", 200, GI)]))
        .node(made("b", "default", "old", vec![pod("2", 200, GI)]));
    let told = ask(&world, &["default"]);
    assert!(
        told.after < told.before,
        "{} is not below {}",
        told.after,
        told.before
    );
}

#[test]
fn a_pod_that_would_find_no_node_keeps_its_own() {
    let mut only_arm = changed("default", 2);
    only_arm.requirements = [joiner_core::requirements::Requirement::is(
        "kubernetes.io/arch",
        "arm64",
    )]
    .into_iter()
    .collect();
    let world = World::new()
        .pool(only_arm, types())
        .node(made(
            "a",
            "default",
            "old",
            vec![select(large("intel"), "kubernetes.io/arch", "amd64")],
        ))
        .node(made("b", "default", "old", vec![large("any")]));
    let told = ask(&world, &["default"]);
    assert_eq!(fates(&told), ["node-b 1", "node-a stays"]);
    let homeless: Vec<String> = told.homeless.iter().map(|it| it.pod.to_string()).collect();
    assert_eq!(homeless, ["default/intel"]);
    assert!(
        !told.homeless[0].why.starts_with("Failed"),
        "{}",
        told.homeless[0].why
    );
}

#[test]
fn what_keeps_a_node_is_told() {
    let mut guarded = large("1");
    guarded.labels.insert("app".into(), "web".into());
    let mut world =
        World::new()
            .pool(changed("default", 2), types())
            .node(made("a", "default", "old", vec![guarded]));
    world.snapshot.pdbs.push(Arc::new(Pdb {
        namespace: "default".into(),
        name: "web".into(),
        selector: PodSelector::default(),
        disruptions_allowed: 0,
        always_allow_unhealthy: false,
    }));
    let told = ask(&world, &["default"]);
    assert!(
        matches!(
            &told.nodes[0].fate,
            Fate::Stays {
                why: Blocker::Pdb { .. }
            }
        ),
        "{:?}",
        told.nodes
    );
    assert_eq!((told.waves, told.moving()), (0, 0));
}

#[test]
fn a_pool_that_goes_leaves_pods_behind() {
    let mut special = pool("special");
    special.labels.insert("team".into(), "a".into());
    let nodes = |world: World| {
        world
            .node(made(
                "a",
                "special",
                "new",
                vec![select(large("picky"), "team", "a"), pod("easy", 100, GI)],
            ))
            .node(made("b", "default", "new", Vec::new()))
    };
    let world = nodes(World::new().pool(special, types()).pool(pool("default"), types()));
    let told = gone(
        &world.snapshot,
        &world.catalogue,
        &["special".into()].into(),
        &[],
        now(),
    );
    let homeless: Vec<String> = told.homeless.iter().map(|it| it.pod.to_string()).collect();
    assert_eq!((told.nodes, told.pods), (vec!["node-a".into()], 2));
    assert_eq!(homeless, ["default/picky"]);
    let all = gone(
        &world.snapshot,
        &world.catalogue,
        &["special".into(), "default".into()].into(),
        &[],
        now(),
    );
    assert_eq!(all.homeless.len(), 2);
    assert!(
        all.homeless[0].why.contains("there is no NodePool"),
        "{}",
        all.homeless[0].why
    );
}

#[test]
fn pods_of_a_pool_that_goes_find_nodes_of_those_that_come() {
    let world = World::new().pool(pool("old"), types()).node(made(
        "a",
        "old",
        "new",
        vec![select(large("picky"), "team", "a")],
    ));
    let mut catalogue = world.catalogue.clone();
    for name in ["new", "old"] {
        catalogue.pools.insert(name.into(), types().into());
    }
    let homeless = |planned: Pool| {
        let planned = [Arc::new(planned)];
        let told = gone(
            &world.snapshot,
            &catalogue,
            &["old".into()].into(),
            &planned,
            now(),
        );
        assert_eq!(told.pods, 1);
        told.homeless.len()
    };
    let with_team = |name: &str| {
        let mut pool = pool(name);
        pool.labels.insert("team".into(), "a".into());
        pool
    };
    assert_eq!(homeless(with_team("new")), 0, "a successor");
    assert_eq!(homeless(pool("new")), 1, "one that the pod does not suit");
    // The same name, another object: a pool that is replaced.
    assert_eq!(homeless(with_team("old")), 0, "a replacement");
}
