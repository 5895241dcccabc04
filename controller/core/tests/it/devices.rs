//! Devices that pods claim, over whole schedules.

use joiner_core::catalogue::InstanceType;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{
    Attribute, Device, DeviceClaim, DeviceRequest, DeviceTest, DeviceWish, Pod, Strategy,
};

use crate::world::{GI, MI, World, bound, instance, node, pod, pool, summary};

const DRIVER: &str = "gpu.example.com";

fn device(name: usize, model: &str) -> Device {
    Device {
        driver: DRIVER.into(),
        pool: "p".into(),
        name: format!("gpu-{name}").into(),
        attributes: std::iter::once(("model".into(), Attribute::Text(model.into()))).collect(),
        capacity: Default::default(),
        taken: false,
    }
}

/// A large type with so many devices of a model.
fn with_devices(name: &str, count: usize, model: &str, micros: u64) -> InstanceType {
    let mut it = instance(name, "amd64", 16_000, 64 * GI, micros);
    it.devices = (0..count).map(|index| device(index, model)).collect();
    it
}

fn claim(name: &str, model: Option<&str>, count: u32) -> DeviceClaim {
    let mut tests = vec![DeviceTest::Driver(DRIVER.into())];
    tests.extend(model.map(|model| DeviceTest::Is("model".into(), vec![Attribute::Text(model.into())])));
    DeviceClaim {
        name: name.into(),
        requests: vec![DeviceRequest {
            name: "gpu".into(),
            alternatives: vec![DeviceWish {
                tests,
                count: Some(count),
            }],
        }],
        same: Vec::new(),
        allocated: None,
    }
}

fn claiming(count: usize, of: &DeviceClaim) -> Vec<Pod> {
    (0..count)
        .map(|index| {
            let mut pod = pod(&format!("c-{index}"), 100, MI);
            pod.placement.devices.push(of.clone());
            pod
        })
        .collect()
}

fn world() -> World {
    let mut world = World::new().pool(
        pool("p"),
        vec![
            instance("plain.large", "amd64", 16_000, 64 * GI, 100_000),
            with_devices("a.two", 2, "a", 200_000),
            with_devices("b.four", 4, "b", 300_000),
        ],
    );
    world.snapshot.settings.gates.dynamic_resources = true;
    world
}

#[test]
fn nodes_are_bought_with_the_devices_that_are_claimed() {
    for (name, pods, want) in [
        (
            "of one model",
            claiming(5, &claim("", Some("a"), 1)),
            "p:a.twox2 p:a.twox2 p:a.twox1",
        ),
        ("of another", claiming(3, &claim("", Some("b"), 1)), "p:b.fourx3"),
        (
            "two each",
            claiming(2, &claim("", Some("a"), 2)),
            "p:a.twox1 p:a.twox1",
        ),
        (
            "more than any node has",
            claiming(1, &claim("", None, 5)),
            "left 1",
        ),
        (
            "of no model that is sold",
            claiming(1, &claim("", Some("c"), 1)),
            "left 1",
        ),
        (
            "one claim for all",
            claiming(6, &claim("default/shared", Some("a"), 2)),
            "p:a.twox6",
        ),
    ] {
        for strategy in [Strategy::FirstFit, Strategy::Price] {
            let mut world = world().pods(pods.clone());
            world.snapshot.settings.strategy = strategy;
            assert_eq!(summary(&world.schedule()), want, "{name}, {}", strategy.as_str());
        }
    }
}

#[test]
fn devices_that_are_there_are_used_first() {
    let mut place = node("n", "p", &with_devices("a.two", 2, "a", 200_000), "initialized");
    place.devices = vec![device(0, "a"), device(1, "a")];
    place.devices[0].taken = true;
    place.pods.push(bound(pod("old", 100, MI)));
    let world = world().node(place).pods(claiming(2, &claim("", Some("a"), 1)));
    assert_eq!(summary(&world.schedule()), "p:a.twox1 node-n+1");
}

/// Until its drivers have published, a node on its way has the devices of its type, less those promised already.
#[test]
fn a_node_on_its_way_is_not_bought_for_twice() {
    let two = with_devices("a.two", 2, "a", 200_000);
    let one = claim("", Some("a"), 1);
    for (phase, promised, want) in [
        ("planned", 0, "n+2"),
        ("launched", 0, "n+2"),
        ("registered", 0, "node-n+2"),
        ("initialized", 0, "p:a.twox2"),
        ("launched", 1, "p:a.twox1 n+1"),
        ("launched", 2, "p:a.twox2"),
    ] {
        let mut place = node("n", "p", &two, phase);
        let mut world = world().pods(claiming(2, &one));
        for index in 0..promised {
            let mut pod = pod(&format!("promised-{index}"), 100, MI);
            pod.placement.devices.push(one.clone());
            place.nominated.push(pod.key.clone());
            world = world.pods([pod]);
        }
        let decided = world.node(place).schedule();
        assert_eq!(summary(&decided), want, "{phase}, {promised} promised");
    }
}

/// What is published counts, and what other drivers of the type have not published yet is still to come.
#[test]
fn what_is_published_counts() {
    let mut place = node("n", "p", &with_devices("a.two", 2, "a", 200_000), "registered");
    place.devices = vec![device(7, "b")];
    let world = world().node(place).pods(claiming(1, &claim("", Some("a"), 1)));
    assert_eq!(summary(&world.schedule()), "p:a.twox1");
}

#[test]
fn a_claim_that_is_promised_draws_the_others_there() {
    let shared = claim("default/shared", Some("a"), 1);
    let mut place = node("n", "p", &with_devices("a.two", 2, "a", 200_000), "registered");
    let mut first = pod("first", 100, MI);
    first.placement.devices.push(shared.clone());
    place.nominated.push(first.key.clone());
    let world = world().node(place).pods([first]).pods(claiming(3, &shared));
    assert_eq!(summary(&world.schedule()), "node-n+3");
}

#[test]
fn a_claim_says_whose_devices_its_pods_were_promised() {
    let annotation = |world: World| {
        let claims = world.schedule().new_claims;
        claims[0]
            .annotations
            .get("karpenter.sh/requested-dra-drivers")
            .map(ToString::to_string)
    };
    let claiming = world().pods(claiming(1, &claim("", Some("b"), 1)));
    assert_eq!(annotation(claiming).as_deref(), Some(DRIVER));
    let plain = world().pods([pod("plain", 100, MI)]);
    assert_eq!(annotation(plain), None);
}

#[test]
fn a_claim_that_has_its_devices_draws_its_pods_there() {
    let mut there = claim("default/shared", Some("a"), 1);
    let at: Requirements = std::iter::once(Requirement::is("kubernetes.io/hostname", "node-n")).collect();
    there.allocated = Some(vec![at]);
    let place = node("n", "p", &with_devices("a.two", 2, "a", 200_000), "initialized");
    let world = world().node(place).pods(claiming(2, &there));
    assert_eq!(summary(&world.schedule()), "node-n+2");
}

#[test]
fn behind_the_gate_they_are_not_decided_on() {
    let mut world = world().pods(claiming(1, &claim("", Some("a"), 1)));
    world.snapshot.settings.gates.dynamic_resources = false;
    assert_eq!(summary(&world.schedule()), "left 1");
}

/// The audit sees what the solver would not do.
#[test]
fn the_audit_counts_devices() {
    for (name, claims, want) in [
        ("enough", claiming(2, &claim("", Some("a"), 1)), 0),
        ("one too many", claiming(3, &claim("", Some("a"), 1)), 1),
        ("of another model", claiming(1, &claim("", Some("b"), 1)), 1),
        (
            "one claim for all",
            claiming(3, &claim("default/shared", Some("a"), 2)),
            0,
        ),
    ] {
        let plain = claiming(claims.len(), &claim("", Some("a"), 1))
            .into_iter()
            .map(|mut pod| {
                pod.placement.devices.clear();
                pod
            });
        let mut world = World::new().pool(pool("p"), vec![with_devices("a.two", 2, "a", 200_000)]);
        world.snapshot.settings.gates.dynamic_resources = true;
        let decided = world.pods(plain).schedule();
        let mut world = World::new()
            .pool(pool("p"), vec![with_devices("a.two", 2, "a", 200_000)])
            .pods(claims);
        world.snapshot.settings.gates.dynamic_resources = true;
        let found =
            joiner_core::check::schedule(&world.snapshot, &world.catalogue, &decided, crate::world::now());
        let about: Vec<String> = found.iter().map(ToString::to_string).collect();
        let devices = about.iter().filter(|it| it.contains("devices")).count();
        assert_eq!(devices, want, "{name}: {about:?}");
    }
}
