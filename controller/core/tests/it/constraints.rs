//! One constraint at a time, with both strategies.

use std::sync::Arc;

use joiner_core::catalogue::{CapacityType, InstanceType, Reservation};
use joiner_core::requirements::{Operator, Requirement, Requirements};
use joiner_core::resources::Resources;
use joiner_core::schedule::Schedule;
use joiner_core::snapshot::{
    Attachment, InclusionPolicy, NodeTerm, Pod, PodSelector, PodTerm, Pool, Preferred, Spread, Strategy,
    Strength, VolumeNeed, Workload,
};
use joiner_core::taints::{Effect, Taint, Toleration};

use crate::world::{GI, MI, World, bound, instance, node, pod, pool, types};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const PAID: &str = "karpenter.sh/capacity-type";

/// What both strategies come to; they must place as many pods, and the price must not be higher.
fn both(mut world: World) -> [Schedule; 2] {
    world.snapshot.settings.bound = true;
    world.snapshot.settings.strategy = Strategy::FirstFit;
    let first = world.schedule();
    world.snapshot.settings.strategy = Strategy::Price;
    let best = world.schedule();
    assert!(
        best.price <= first.price,
        "{} is more than {}",
        best.price,
        first.price
    );
    assert!(
        best.lower_bound.unwrap() <= best.price,
        "{:?} {}",
        best.lower_bound,
        best.price
    );
    assert_eq!(best.unschedulable.len(), first.unschedulable.len());
    [first, best]
}

/// How many pods have no place, with either strategy.
fn left(world: World) -> usize {
    both(world)[0].unschedulable.len()
}

fn many(count: usize, cpu: i64, each: impl Fn(&mut Pod)) -> Vec<Pod> {
    let one = |index: usize| {
        let mut pod = pod(&format!("web-{index:02}"), cpu, 64 * MI);
        pod.labels.insert("app".into(), "web".into());
        each(&mut pod);
        pod
    };
    (0..count).map(one).collect()
}

fn selector(app: &str) -> PodSelector {
    PodSelector {
        labels: [Requirement::is("app", app)].into_iter().collect(),
        matches_nothing: false,
    }
}

fn term(key: &str, app: &str) -> PodTerm {
    PodTerm {
        topology_key: key.into(),
        selector: selector(app),
        namespaces: Some(vec!["default".into()]),
    }
}

fn spread(key: &str) -> Spread {
    Spread {
        topology_key: key.into(),
        max_skew: 1,
        strength: Strength::Required,
        selector: selector("web"),
        min_domains: None,
        node_affinity_policy: InclusionPolicy::Honor,
        node_taints_policy: InclusionPolicy::Ignore,
    }
}

fn require(pod: &mut Pod, one: Requirement) {
    let term = NodeTerm {
        expressions: [one].into_iter().collect(),
        fields: Vec::new(),
    };
    pod.placement.node_affinity = Some(vec![term]);
}

fn offering_value(claim: &joiner_core::schedule::NewClaim, key: &str) -> String {
    let value = claim.requirements.get(key).and_then(Requirement::single);
    value.map_or("?".into(), |value| value.to_string())
}

#[test]
fn operators_compare_integers() {
    let cpu = "karpenter.k8s.aws/instance-cpu";
    for (operator, value, want) in [
        (Operator::Gte, "16", 0),
        (Operator::Gt, "15", 0),
        (Operator::Gt, "16", 1),
        (Operator::Lte, "1", 0),
        (Operator::Lt, "1", 1),
    ] {
        let one = Requirement::new(cpu, operator, [value]).unwrap();
        let world = World::new()
            .pool(pool("default"), types())
            .pods(many(1, 100, |pod| require(pod, one.clone())));
        assert_eq!(left(world), want, "{one}");
    }
}

#[test]
fn labels_that_nobody_defines_are_missing() {
    for (name, one, own, want) in [
        ("In, undefined", Requirement::is("team", "a"), None, 1),
        ("Exists, undefined", Requirement::exists("team"), None, 1),
        ("NotIn, undefined", Requirement::is_not_in("team", ["a"]), None, 0),
        (
            "DoesNotExist, undefined",
            Requirement::does_not_exist("team"),
            None,
            0,
        ),
        (
            "In, defined",
            Requirement::is("team", "a"),
            Some(Requirement::is_in("team", ["a", "b"])),
            0,
        ),
        (
            "In, open",
            Requirement::is("team", "a"),
            Some(Requirement::exists("team")),
            0,
        ),
        (
            "In, excluded",
            Requirement::is("team", "a"),
            Some(Requirement::is_not_in("team", ["a"])),
            1,
        ),
        (
            "DoesNotExist, defined",
            Requirement::does_not_exist("team"),
            Some(Requirement::is("team", "a")),
            1,
        ),
        (
            "old spelling",
            Requirement::is("beta.kubernetes.io/arch", "arm64"),
            None,
            0,
        ),
        ("hostname", Requirement::is(HOST, "n1"), None, 1),
        ("not that hostname", Requirement::is_not_in(HOST, ["n1"]), None, 0),
    ] {
        let mut own_pool = pool("default");
        own.into_iter().for_each(|one| own_pool.requirements.add(one));
        let world = World::new()
            .pool(own_pool, types())
            .pods(many(1, 100, |pod| require(pod, one.clone())));
        assert_eq!(left(world), want, "{name}");
    }
}

#[test]
fn further_labels_count_as_well_known() {
    let mut sized = types();
    for it in &mut sized {
        let size = it.name.rsplit('.').next().unwrap().to_owned();
        it.requirements.add(Requirement::is("size", size));
    }
    let mut world = World::new()
        .pool(pool("default"), sized)
        .pods(many(1, 100, |pod| {
            require(pod, Requirement::is("size", "2xlarge"))
        }));
    assert_eq!(both_left(&world), 1, "not known");
    world.catalogue.well_known.insert("size".into());
    let decided = world.schedule();
    assert!(
        decided.new_claims[0]
            .instance_types
            .iter()
            .all(|name| name.ends_with(".2xlarge"))
    );
}

fn both_left(world: &World) -> usize {
    world.schedule().unschedulable.len()
}

#[test]
fn spread_looks_at_the_places_it_is_told_to() {
    let zones = |decided: &Schedule| {
        let mut all: Vec<String> = decided
            .new_claims
            .iter()
            .map(|claim| offering_value(claim, ZONE))
            .collect();
        all.sort();
        all.dedup();
        all.len()
    };
    let even = World::new()
        .pool(pool("default"), types())
        .pods(many(6, 1000, |pod| pod.placement.spread.push(spread(ZONE))));
    assert_eq!(both(even).map(|decided| zones(&decided)), [3, 3]);

    let by_payment = World::new()
        .pool(pool("default"), types())
        .pods(many(4, 1000, |pod| pod.placement.spread.push(spread(PAID))));
    for decided in both(by_payment) {
        let spot = decided
            .new_claims
            .iter()
            .filter(|claim| offering_value(claim, PAID) == "spot");
        assert_eq!(spot.map(|claim| claim.pods.len()).sum::<usize>(), 2);
    }

    let mut team = pool("default");
    team.requirements.add(Requirement::is_in("team", ["a", "b"]));
    let by_team = World::new()
        .pool(team, types())
        .pods(many(4, 1000, |pod| pod.placement.spread.push(spread("team"))));
    for decided in both(by_team) {
        let mut teams: Vec<String> = decided
            .new_claims
            .iter()
            .map(|claim| claim.labels["team"].to_string())
            .collect();
        teams.sort();
        teams.dedup();
        assert_eq!(teams, ["a", "b"]);
    }
}

#[test]
fn fewer_places_than_min_domains_hold_one_skew_each() {
    let mut two = pool("default");
    two.requirements
        .add(Requirement::is_in(ZONE, ["us-west-2a", "us-west-2b"]));
    let wants = |count| {
        let mut wanted = spread(ZONE);
        wanted.min_domains = Some(3);
        World::new()
            .pool(two.clone(), types())
            .pods(many(count, 1000, move |pod| {
                pod.placement.spread.push(wanted.clone())
            }))
    };
    assert_eq!(left(wants(2)), 0);
    assert_eq!(left(wants(5)), 3);
}

#[test]
fn pods_apart_get_a_zone_each() {
    let apart = |count| {
        World::new()
            .pool(pool("default"), types())
            .pods(many(count, 100, |pod| {
                pod.placement.anti_affinity.push(term(ZONE, "web"))
            }))
    };
    assert_eq!(left(apart(3)), 0);
    assert_eq!(left(apart(5)), 2);
}

#[test]
fn running_pods_keep_others_away() {
    let mut keeper = pod("keeper", 100, MI);
    keeper.placement.anti_affinity.push(term(HOST, "web"));
    let mut place = node("n", "default", &types()[4], "initialized");
    place.pods.push(bound(keeper));
    let world = World::new()
        .pool(pool("default"), types())
        .node(place)
        .pods(many(1, 100, |_| {}));
    assert!(both(world).iter().all(|decided| decided.existing.is_empty()));
}

#[test]
fn company_on_one_host_goes_where_it_fits() {
    let world = World::new()
        .pool(pool("default"), types())
        .node(node("small", "default", &types()[1], "initialized"))
        .pods(many(5, 1000, |pod| {
            pod.placement.affinity.push(term(HOST, "web"))
        }));
    for decided in both(world) {
        assert_eq!((decided.new_claims.len(), decided.unschedulable.len()), (1, 0));
    }
}

#[test]
fn followers_find_those_they_look_for() {
    let mut lead = pod("lead", 100, MI);
    lead.labels.insert("app".into(), "db".into());
    let world = World::new()
        .pool(pool("default"), types())
        .pods([lead])
        .pods(many(3, 3000, |pod| pod.placement.affinity.push(term(ZONE, "db"))));
    assert_eq!(left(world), 0);
}

#[test]
fn wishes_are_given_up_one_at_a_time() {
    let wish = |weight, zone: &str| Preferred {
        weight,
        term: NodeTerm {
            expressions: [Requirement::is(ZONE, zone)].into_iter().collect(),
            fields: Vec::new(),
        },
    };
    let world = World::new()
        .pool(pool("default"), types())
        .pods(many(1, 100, |pod| {
            pod.placement.preferred_node_affinity = vec![wish(1, "us-west-2b"), wish(9, "nowhere")];
        }));
    for decided in both(world) {
        assert_eq!(offering_value(&decided.new_claims[0], ZONE), "us-west-2b");
        let dropped = decided.relaxed.values().next().unwrap();
        assert_eq!(dropped.len(), 1);
        assert!(dropped[0].contains("nowhere"), "{dropped:?}");
    }
}

#[test]
fn soft_taints_are_borne_where_nothing_else_is_left() {
    let soft = |name: &str, weight| {
        let mut it: Pool = pool(name);
        it.weight = weight;
        it.taints.push(Taint::new("slow", "", Effect::PreferNoSchedule));
        it
    };
    let alone = World::new()
        .pool(soft("soft", 9), types())
        .pods(many(1, 100, |_| {}));
    assert_eq!(left(alone), 0);
    let other = World::new()
        .pool(soft("soft", 9), types())
        .pool(pool("plain"), types())
        .pods(many(1, 100, |_| {}));
    assert!(
        both(other)
            .iter()
            .all(|decided| &*decided.new_claims[0].pool == "plain")
    );
}

#[test]
fn volumes_are_attached_as_long_as_the_driver_can() {
    let with_volume = |pod: &mut Pod| {
        let volume = format!("default/{}", pod.key.name);
        pod.placement.volumes.push(VolumeNeed {
            claim: volume.as_str().into(),
            alternatives: Vec::new(),
            attach: Some(Attachment {
                driver: "ebs.csi.aws.com".into(),
                volume: volume.into(),
            }),
        });
    };
    let mut limited: Vec<InstanceType> = types();
    for it in &mut limited {
        it.attach_limits.insert("ebs.csi.aws.com".into(), 2);
    }
    let world = World::new()
        .pool(pool("default"), limited)
        .pods(many(5, 10, with_volume));
    assert!(both(world).iter().all(|decided| decided.new_claims.len() == 3));
    let mut place = node("n", "default", &types()[4], "initialized");
    place.attach_limits.insert("ebs.csi.aws.com".into(), 1);
    let world = World::new()
        .pool(pool("default"), types())
        .node(place)
        .pods(many(2, 10, with_volume));
    assert!(
        both(world)
            .iter()
            .all(|decided| decided.existing.values().map(Vec::len).sum::<usize>() == 1)
    );
}

#[test]
fn reservations_are_used_up_and_not_more() {
    let mut it = types().remove(4);
    let mut reserved = it.offerings[0].clone();
    reserved.capacity_type = CapacityType::Reserved;
    reserved.price = joiner_core::money::Price::from_micros(1);
    reserved.reservation = Some(Reservation {
        id: "cr-1".into(),
        remaining: 1,
    });
    it.requirements
        .replace(Requirement::is_in(PAID, ["spot", "on-demand", "reserved"]));
    it.offerings.push(reserved);
    // Of pools of one weight the last by name comes first, but by price not before what is paid already.
    let mut beside = World::new()
        .pool(pool("reserving"), vec![it.clone()])
        .pool(pool("selling"), types())
        .pods(many(1, 100, |_| {}));
    beside.snapshot.settings.strategy = Strategy::Price;
    assert_eq!(&*beside.schedule().new_claims[0].pool, "reserving");
    let world = World::new()
        .pool(pool("default"), vec![it])
        .pods(many(2, 100, |pod| {
            pod.placement.anti_affinity.push(term(HOST, "web"))
        }));
    for decided in both(world) {
        let paid: Vec<bool> = decided
            .new_claims
            .iter()
            .map(|claim| offering_value(claim, PAID) == "reserved")
            .collect();
        assert_eq!(paid.iter().filter(|it| **it).count(), 1, "{paid:?}");
        assert_eq!(decided.new_claims.len(), 2);
    }
}

#[test]
fn limits_go_to_the_important_first() {
    let limited = |bounds: &[(&str, i64)]| {
        let mut it = pool("default");
        it.limits = bounds.iter().map(|(name, bound)| (*name, *bound)).collect();
        it
    };
    let apart = |pod: &mut Pod| {
        pod.placement.anti_affinity.push(term(HOST, "web"));
        pod.priority = if &*pod.key.name == "web-03" { 100 } else { 0 };
    };
    let world = World::new()
        .pool(limited(&[("nodes", 2)]), types())
        .pods(many(4, 100, apart));
    for decided in both(world) {
        assert_eq!(decided.unschedulable.len(), 2);
        assert!(!decided.unschedulable.keys().any(|key| &*key.name == "web-03"));
    }
    let world = World::new()
        .pool(limited(&[("cpu", 8000)]), types())
        .pods(many(4, 1500, apart));
    assert_eq!(left(world), 0, "four nodes of two cores");
}

#[test]
fn guards_hold_back() {
    let replicas = |pod: &mut Pod| {
        pod.workload = Some(Workload {
            name: "ReplicaSet/default/web".into(),
            selector: None,
            replicas: 8,
        });
    };
    let mut world = World::new()
        .pool(pool("default"), types())
        .pods(many(8, 100, replicas));
    world.snapshot.settings.guards.max_replica_share = Some(25);
    for decided in both(world) {
        assert!(decided.new_claims.iter().all(|claim| claim.pods.len() <= 2));
    }
    let mut world = World::new()
        .pool(pool("default"), types())
        .pods(many(8, 1000, |_| {}));
    world.snapshot.settings.guards.largest_node = Some(Resources::cpu_memory(4000, 64 * GI));
    for decided in both(world) {
        let large = |name: &str| name.ends_with(".2xlarge") || name.ends_with(".4xlarge");
        assert!(
            decided
                .new_claims
                .iter()
                .all(|claim| !claim.instance_types.iter().any(|name| large(name)))
        );
    }
}

#[test]
fn pods_of_other_namespaces_do_not_count() {
    let mut other = pod("other", 100, MI);
    other.key.namespace = "elsewhere".into();
    other.labels.insert("app".into(), "web".into());
    let mut place = node("n", "default", &types()[4], "initialized");
    place.pods.push(bound(other));
    let world = World::new()
        .pool(pool("default"), types())
        .node(place)
        .pods(many(1, 100, |pod| {
            pod.placement.anti_affinity.push(term(HOST, "web"))
        }));
    assert!(both(world).iter().all(|decided| decided.existing.len() == 1));
}

#[test]
fn taints_are_counted_where_the_policy_says_so() {
    // Zone b has only a tainted node; to honour taints is not to count it.
    let mut tainted = node("n", "default", &types()[4], "initialized");
    let object = Arc::make_mut(tainted.object.as_mut().unwrap());
    object.labels.insert(ZONE.into(), "elsewhere".into());
    object.taints.push(Taint::new("team", "", Effect::NoSchedule));
    let wants = |policy| {
        let mut wanted = spread(ZONE);
        wanted.node_taints_policy = policy;
        World::new()
            .pool(pool("default"), types())
            .node(tainted.clone())
            .pods(many(9, 1000, move |pod| {
                pod.placement.spread.push(wanted.clone())
            }))
    };
    assert_eq!(left(wants(InclusionPolicy::Honor)), 0);
    assert_eq!(
        left(wants(InclusionPolicy::Ignore)),
        6,
        "the tainted zone keeps its count of zero"
    );
    let mut world = wants(InclusionPolicy::Ignore);
    world.snapshot.pending = many(4, 1000, |pod| {
        pod.placement.spread.push(spread(ZONE));
        pod.placement.tolerations.push(Toleration::everything());
    })
    .into_iter()
    .map(Arc::new)
    .collect();
    assert_eq!(left(world), 0);
}

#[test]
fn volumes_of_several_places_take_the_one_that_works() {
    let world = World::new()
        .pool(pool("default"), types())
        .pods(many(1, 100, |pod| {
            pod.placement.volumes.push(VolumeNeed {
                claim: "data".into(),
                alternatives: ["nowhere", "us-west-2c"]
                    .into_iter()
                    .map(|zone| Requirements::from_iter([Requirement::is(ZONE, zone)]))
                    .collect(),
                attach: None,
            });
        }));
    assert!(
        both(world)
            .iter()
            .all(|decided| offering_value(&decided.new_claims[0], ZONE) == "us-west-2c")
    );
}

#[test]
fn memory_for_huge_pages_is_no_memory_for_pods() {
    let mut it = instance("huge.large", "amd64", 4000, 16 * GI, 100_000);
    it.capacity.set(&"hugepages-2Mi".into(), 8 * GI);
    let pages = |name: &str, memory: i64| {
        let mut pod = pod(name, 100, memory);
        pod.requests.set(&"hugepages-2Mi".into(), 4 * GI);
        pod
    };
    let world =
        World::new()
            .pool(pool("p"), vec![it])
            .pods([pages("a", GI), pages("b", GI), pod("c", 100, 9 * GI)]);
    let decided = world.schedule();
    let left: Vec<String> = decided.unschedulable.keys().map(ToString::to_string).collect();
    assert_eq!(left, ["default/c"]);
    assert_eq!(decided.new_claims.len(), 1);
}
