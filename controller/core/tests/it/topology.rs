//! Pods whose place depends on where others are.

use std::collections::BTreeMap;

use joiner_core::money::Price;
use joiner_core::requirements::Requirement;
use joiner_core::resources::Resources;
use joiner_core::schedule::Schedule;
use joiner_core::snapshot::{
    DefaultSpread, HostPort, InclusionPolicy, Node, NodeTerm, Pod, PodKey, PodSelector, PodTerm, Pool,
    Spread, Strategy, Strength, Workload,
};
use joiner_core::text::labels;

use crate::world::{GI, MI, World, bound, instance, node, pod, pool, summary, types};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

fn app(name: &str) -> PodSelector {
    PodSelector {
        labels: [Requirement::is("app", name)].into_iter().collect(),
        matches_nothing: false,
    }
}

fn spread(key: &str, max_skew: u32) -> Spread {
    Spread {
        topology_key: key.into(),
        max_skew,
        strength: Strength::Required,
        selector: app("web"),
        min_domains: None,
        node_affinity_policy: InclusionPolicy::Honor,
        node_taints_policy: InclusionPolicy::Ignore,
    }
}

fn term(key: &str, of: &str) -> PodTerm {
    PodTerm {
        topology_key: key.into(),
        selector: app(of),
        namespaces: Some(vec!["default".into()]),
    }
}

/// `count` pods of an app, changed alike.
fn pods(of: &str, count: usize, change: impl Fn(&mut Pod)) -> Vec<Pod> {
    (0..count)
        .map(|index| {
            let mut pod = pod(&format!("{of}-{index:02}"), 500, 512 * MI);
            pod.labels = labels([("app", of)]);
            change(&mut pod);
            pod
        })
        .collect()
}

/// How many pods go to each zone; `?` where the claim leaves it open.
fn zones(decided: &Schedule, world: &World) -> String {
    let mut zones: BTreeMap<String, usize> = BTreeMap::new();
    for claim in &decided.new_claims {
        let zone = claim
            .requirements
            .get(ZONE)
            .and_then(|zone| zone.single())
            .map_or("?", |zone| zone);
        *zones.entry(zone.to_owned()).or_default() += claim.pods.len();
    }
    for (place, pods) in &decided.existing {
        let zone = world.snapshot.node(place).unwrap().labels().unwrap()[ZONE].to_string();
        *zones.entry(zone).or_default() += pods.len();
    }
    let text: Vec<String> = zones
        .into_iter()
        .map(|(zone, count)| format!("{}{count}", zone.trim_start_matches("us-west-2")))
        .collect();
    text.join(" ")
        + &if decided.unschedulable.is_empty() {
            String::new()
        } else {
            format!(" left {}", decided.unschedulable.len())
        }
}

fn running(zone_a: usize) -> Node {
    let mut place = node("n", "default", &types()[6], "initialized");
    place.pods = pods("web", zone_a, |pod| pod.requests = Default::default())
        .into_iter()
        .map(|mut pod| {
            pod.key = PodKey::new("default", format!("old-{}", pod.key.name));
            bound(pod)
        })
        .collect();
    place
}

#[test]
fn spread_over_zones_is_even() {
    let web = |count, max_skew| {
        pods("web", count, move |pod| {
            pod.placement.spread.push(spread(ZONE, max_skew))
        })
    };
    for (name, world, want) in [
        ("three zones", World::new().pods(web(9, 1)), "a3 b3 c3"),
        ("a remainder", World::new().pods(web(7, 1)), "a3 b2 c2"),
        ("one", World::new().pods(web(1, 1)), "a1"),
        (
            "what runs counts",
            World::new().node(running(2)).pods(web(4, 1)),
            "b2 c2",
        ),
        (
            "what runs counts, and more",
            World::new().node(running(2)).pods(web(7, 1)),
            "a1 b3 c3",
        ),
    ] {
        let world = world.pool(pool("default"), types());
        assert_eq!(zones(&world.schedule(), &world), want, "{name}");
    }
}

#[test]
fn a_zone_without_offerings_is_no_place() {
    let mut two = pool("default");
    two.requirements
        .add(Requirement::is_in(ZONE, ["us-west-2a", "us-west-2b"]));
    let world = World::new()
        .pool(two, types())
        .pods(pods("web", 5, |pod| pod.placement.spread.push(spread(ZONE, 1))));
    assert_eq!(zones(&world.schedule(), &world), "a3 b2");

    let mut wanting = spread(ZONE, 1);
    wanting.min_domains = Some(3);
    let mut two = pool("default");
    two.requirements
        .add(Requirement::is_in(ZONE, ["us-west-2a", "us-west-2b"]));
    let world = World::new()
        .pool(two, types())
        .pods(pods("web", 5, |pod| pod.placement.spread.push(wanting.clone())));
    assert_eq!(
        zones(&world.schedule(), &world),
        "a1 b1 left 3",
        "fewer zones than minDomains"
    );
}

#[test]
fn a_zone_without_the_wanted_offerings_is_no_place() {
    let mut types = types();
    for it in &mut types {
        it.offerings
            .retain(|one| &*one.zone != "us-west-2c" || one.capacity_type.as_str() == "spot");
    }
    let mut on_demand = pool("default");
    on_demand
        .requirements
        .add(Requirement::is("karpenter.sh/capacity-type", "on-demand"));
    let world = World::new()
        .pool(on_demand, types)
        .pods(pods("web", 6, |pod| pod.placement.spread.push(spread(ZONE, 1))));
    assert_eq!(zones(&world.schedule(), &world), "a3 b3");
}

#[test]
fn a_zone_that_fills_up_holds_the_others_back() {
    let it = types()[6].clone();
    // The one pool sells in zone b alone; zone a has a node with room for one.
    let mut only_b = pool("default");
    only_b.requirements.add(Requirement::is(ZONE, "us-west-2b"));
    let mut place = node("n", "default", &it, "initialized");
    place.pods = vec![bound(pod("filler", 1200, MI))];
    let world = World::new()
        .pool(only_b, types())
        .node(place)
        .pods(pods("web", 4, |pod| pod.placement.spread.push(spread(ZONE, 1))));
    let decided = world.schedule();
    assert_eq!(decided.existing.len(), 1);
    assert_eq!(zones(&decided, &world), "a1 b2 left 1");
}

#[test]
fn hosts_carry_what_the_skew_allows() {
    for (max_skew, want) in [(1, 6), (2, 3), (6, 1)] {
        let world = World::new()
            .pool(pool("default"), types())
            .pods(pods("web", 6, |pod| {
                pod.placement.spread.push(spread(HOST, max_skew))
            }));
        let decided = world.schedule();
        assert_eq!(
            decided.new_claims.len(),
            want,
            "maxSkew {max_skew}: {}",
            summary(&decided)
        );
    }
}

#[test]
fn pods_apart_are_apart() {
    let apart = |key: &'static str| move |pod: &mut Pod| pod.placement.anti_affinity.push(term(key, "web"));
    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("web", 4, apart(HOST)));
    assert_eq!(world.schedule().new_claims.len(), 4);

    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("web", 4, apart(ZONE)));
    assert_eq!(zones(&world.schedule(), &world), "a1 b1 c1 left 1");

    let world = World::new()
        .pool(pool("default"), types())
        .node(running(1))
        .pods(pods("web", 3, apart(ZONE)));
    assert_eq!(
        zones(&world.schedule(), &world),
        "b1 c1 left 1",
        "what runs counts"
    );

    let world = World::new()
        .pool(pool("default"), types())
        .node(running(1))
        .pods(pods("db", 3, apart(ZONE)));
    let decided = world.schedule();
    assert_eq!(
        zones(&decided, &world),
        "?3",
        "nobody else comes: the zone need not be chosen"
    );
    let zone = decided.new_claims[0].requirements.get(ZONE).unwrap();
    assert!(!zone.allows(Some("us-west-2a")) && zone.allows(Some("us-west-2b")));
}

#[test]
fn whoever_is_avoided_stays_away_too() {
    // The db pods avoid web; the web pods, decided on later, know nothing of it.
    for (key, want) in [(HOST, 2), (ZONE, 2)] {
        let mut db = pods("db", 1, |pod| pod.placement.anti_affinity.push(term(key, "web")));
        db[0].priority = 10;
        let world = World::new()
            .pool(pool("default"), types())
            .pods(db)
            .pods(pods("web", 3, |_| {}));
        let decided = world.schedule();
        assert!(decided.unschedulable.is_empty());
        assert_eq!(decided.new_claims.len(), want, "{key}: {}", summary(&decided));
    }
}

#[test]
fn pods_together_are_together() {
    let together =
        |key: &'static str, of: &'static str| move |pod: &mut Pod| pod.placement.affinity.push(term(key, of));
    for (name, world, want) in [
        (
            "with themselves in one zone",
            World::new().pods(pods("web", 5, together(ZONE, "web"))),
            "a5",
        ),
        (
            "with what runs",
            World::new()
                .node(running(1))
                .pods(pods("db", 2, together(ZONE, "web"))),
            "a2",
        ),
        (
            "with nobody",
            World::new().pods(pods("db", 2, together(ZONE, "web"))),
            " left 2",
        ),
    ] {
        let world = world.pool(pool("default"), types());
        assert_eq!(zones(&world.schedule(), &world), want, "{name}");
    }
    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("web", 5, together(HOST, "web")));
    assert_eq!(world.schedule().new_claims.len(), 1, "on one host");
    let mut many = pods("web", 40, together(HOST, "web"));
    many.iter_mut()
        .for_each(|pod| pod.requests = pod.requests.clone().with("cpu", 1000));
    let world = World::new().pool(pool("default"), types()).pods(many);
    let decided = world.schedule();
    assert_eq!(
        (decided.new_claims.len(), decided.unschedulable.len() > 20),
        (1, true),
        "as many as fit on it"
    );
    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("db", 1, together(HOST, "web")));
    insta::assert_snapshot!(world.refusals().join("\n"), @r#"default/db-00: Failed to schedule pod: NodePool "default": pod affinity on kubernetes.io/hostname finds no place with the pods it looks for"#);
}

#[test]
fn several_rules_hold_at_once() {
    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("web", 6, |pod| {
            pod.placement.spread.push(spread(ZONE, 1));
            pod.placement.anti_affinity.push(term(HOST, "web"));
        }));
    let decided = world.schedule();
    assert_eq!(
        (decided.new_claims.len(), zones(&decided, &world).as_str()),
        (6, "a2 b2 c2")
    );
}

#[test]
fn limits_hold_for_bound_pods_too() {
    let limited = Pool {
        limits: [("nodes", 2)].into_iter().collect(),
        ..pool("default")
    };
    let world = World::new().pool(limited, types()).pods(pods("web", 5, |pod| {
        pod.placement.anti_affinity.push(term(HOST, "web"))
    }));
    let decided = world.schedule();
    assert_eq!((decided.new_claims.len(), decided.unschedulable.len()), (2, 3));
}

#[test]
fn what_is_on_its_way_counts() {
    let mut place = node("n", "default", &types()[6], "launched");
    place.nominated = vec![PodKey::new("default", "web-00")];
    let world = World::new()
        .pool(pool("default"), types())
        .node(place)
        .pods(pods("web", 3, |pod| pod.placement.spread.push(spread(ZONE, 1))));
    assert_eq!(zones(&world.schedule(), &world), "b1 c1");
}

#[test]
fn the_preferred_is_not_required() {
    let world = World::new()
        .pool(pool("default"), types())
        .pods(pods("web", 3, |pod| {
            pod.placement.spread.push(Spread {
                strength: Strength::Preferred,
                ..spread(HOST, 1)
            });
        }));
    // As long as there is a way to grant it, it is granted, as Karpenter does.
    assert_eq!(world.schedule().new_claims.len(), 3);
    let mut world = world;
    world.snapshot.settings.preference_policy = joiner_core::snapshot::PreferencePolicy::Ignore;
    let decided = world.schedule();
    assert_eq!(decided.new_claims.len(), 1);
    assert_eq!(decided.relaxed.len(), 3);
}

#[test]
fn a_value_that_holds_no_pod_is_passed_over() {
    // Spot is cheapest on types that are too small; those that are large enough are sold on demand only.
    let mut types = types();
    for it in &mut types {
        let small = it.name.ends_with("medium") || it.name.ends_with(".large");
        it.offerings
            .retain(|one| small == (one.capacity_type.as_str() == "spot"));
    }
    let world = World::new()
        .pool(pool("default"), types)
        .pods(pods("db", 2, |pod| {
            pod.requests = joiner_core::resources::Resources::cpu_memory(3000, MI).with("pods", 1);
            pod.placement
                .affinity
                .push(term("karpenter.sh/capacity-type", "db"));
        }));
    let decided = world.schedule();
    assert!(decided.unschedulable.is_empty(), "{decided:#?}");
}

#[test]
fn a_default_spread_that_is_wished_for_is_given_up_last() {
    let wished = |max_skew| DefaultSpread {
        topology_key: HOST.into(),
        max_skew,
        strength: Strength::Preferred,
        min_domains: None,
        node_affinity_policy: InclusionPolicy::Honor,
        node_taints_policy: InclusionPolicy::Ignore,
    };
    let replicas = || {
        pods("web", 4, |pod| {
            pod.workload = Some(Workload {
                name: "ReplicaSet/default/web".into(),
                selector: Some(app("web")),
                replicas: 4,
            });
        })
    };
    let mut world = World::new().pool(pool("default"), types()).pods(replicas());
    world.snapshot.settings.default_spread = vec![wished(2)];
    let decided = world.schedule();
    assert_eq!(decided.new_claims.len(), 2);
    assert!(decided.relaxed.is_empty());
    // With room for one node alone the wish is given up.
    let mut narrow = pool("default");
    narrow.limits = [("nodes", 1)].into_iter().collect();
    let mut world = World::new().pool(narrow, types()).pods(replicas());
    world.snapshot.settings.default_spread = vec![wished(2)];
    let decided = world.schedule();
    assert_eq!((decided.new_claims.len(), decided.unschedulable.len()), (1, 0));
    assert_eq!(decided.relaxed.len(), 2, "{:?}", decided.relaxed);
    // A pod that spreads itself has no use for defaults.
    let own = replicas().into_iter().map(|mut pod| {
        pod.placement.spread.push(spread(ZONE, 9));
        pod
    });
    let mut world = World::new().pool(pool("default"), types()).pods(own);
    world.snapshot.settings.default_spread = vec![wished(1)];
    assert!(world.schedule().new_claims.len() < 4);
}

#[test]
fn a_wish_that_fails_costs_claims_no_kinds() {
    // A limit that is far away must not make claims small when a spread cannot be kept.
    let mut limited = pool("default");
    limited.limits = [("cpu", 2_000_000)].into_iter().collect();
    limited
        .requirements
        .add(Requirement::is("karpenter.sh/capacity-type", "on-demand"));
    let mut spot = node("n", "default", &types()[0], "initialized");
    if let Some(object) = &mut spot.object {
        std::sync::Arc::make_mut(object)
            .labels
            .insert("karpenter.sh/capacity-type".into(), "spot".into());
    }
    let mut world = World::new()
        .pool(limited, types())
        .node(spot)
        .pods(pods("web", 8, |pod| {
            pod.requests = joiner_core::resources::Resources::cpu_memory(1500, MI).with("pods", 1);
            let mut wished = spread("karpenter.sh/capacity-type", 1);
            wished.strength = Strength::Preferred;
            pod.placement.spread.push(wished);
        }));
    world.snapshot.settings.strategy = Strategy::FirstFit;
    let decided = world.schedule();
    assert_eq!(decided.new_claims.len(), 1, "{}", summary(&decided));
}

/// Which tenancy and how many CPUs a node has is known once it is bought, so a claim of pods that count, but are not
/// spread themselves, may or may not be one of the nodes that the spread of the others looks at. All want the same port: no
/// two share a node.
#[test]
fn a_claim_may_become_a_node_that_a_spread_looks_at() {
    let wishes = [
        Requirement::is("karpenter.k8s.aws/instance-tenancy", "default"),
        Requirement::parse("karpenter.k8s.aws/instance-cpu", "Gt", ["3"]).unwrap(),
    ];
    let port = HostPort {
        ip: "".into(),
        port: 8000,
        protocol: "TCP".into(),
    };
    for wish in wishes {
        for count in 1..8 {
            let spread = pods("web", count, |pod| {
                pod.placement.host_ports.push(port.clone());
                let terms = [wish.clone()].map(|wish| NodeTerm {
                    expressions: [wish].into_iter().collect(),
                    fields: Vec::new(),
                });
                pod.placement.node_affinity = Some(terms.into());
                pod.placement.spread.push(spread(ZONE, 1));
            });
            let counted = (0..2).map(|index| {
                let mut pod = pod(&format!("counted-{index}"), 800, 512 * MI);
                pod.labels = labels([("app", "web")]);
                pod.placement.host_ports.push(port.clone());
                pod.placement.node_selector = labels([(ZONE, "us-west-2a")]);
                pod
            });
            // The audit is part of it.
            let world = World::new()
                .pool(pool("default"), types())
                .pods(spread)
                .pods(counted);
            assert!(world.schedule().unschedulable.is_empty(), "{wish:?} {count}");
        }
    }
}

/// What counts for a rule, but has none of its own, can be anywhere: it must not be in the way of those that have one.
#[test]
fn pods_with_rules_are_not_kept_out_by_pods_without() {
    let tied = pods("web", 1, |pod| {
        pod.placement.affinity.push(term(ZONE, "web"));
        pod.placement.spread.push(spread(ZONE, 1));
    });
    let free = pods("web", 2, |pod| {
        pod.key.name = format!("large-{}", pod.key.name).into();
        pod.requests = Resources::cpu_memory(600, 512 * MI).with("pods", 1);
    });
    for strategy in [Strategy::FirstFit, Strategy::Price] {
        let world = World::new().pool(pool("default"), types());
        let mut world = world.pods(tied.clone()).pods(free.clone());
        world.snapshot.settings.strategy = strategy;
        let decided = world.schedule();
        assert!(
            decided.unschedulable.is_empty(),
            "{strategy:?} {}",
            summary(&decided)
        );
    }
}

/// A small type that is cheap in a zone says nothing of what a large pod costs there.
#[test]
fn a_zone_is_chosen_by_what_holds_the_pod() {
    let mut small = instance("c5.medium", "amd64", 1000, 2 * GI, 10_000);
    small.offerings.retain(|offering| &*offering.zone == "us-west-2a");
    let mut large = instance("c5.large", "amd64", 4000, 8 * GI, 90_000);
    for offering in &mut large.offerings {
        if &*offering.zone != "us-west-2c" {
            offering.price = Price::from_micros(120_000);
        }
    }
    type Rule = fn(&mut Pod);
    let company: Rule = |pod| pod.placement.affinity.push(term(ZONE, "web"));
    let apart: Rule = |pod| pod.placement.anti_affinity.push(term(ZONE, "web"));
    let spread: Rule = |pod| pod.placement.spread.push(spread(ZONE, 1));
    for (name, rule) in [("company", company), ("apart", apart), ("spread", spread)] {
        let world = World::new()
            .pool(pool("default"), vec![small.clone(), large.clone()])
            .pods(pods("web", 1, |pod| {
                rule(pod);
                pod.requests = Resources::cpu_memory(2000, GI).with("pods", 1);
            }));
        assert_eq!(zones(&world.schedule(), &world), "c1", "{name}");
    }
}
