//! Devices that pods claim: whether a place can have enough for all of its pods, by matching each device that is asked for with
//! one that would do, and whether a claim that pods share is in one place. That devices of a claim must be equal in something is
//! not looked at.

use std::collections::BTreeMap;

use super::{Pods, Violation};
use crate::catalogue::Catalogue;
use crate::schedule::Schedule;
use crate::snapshot::{
    Attribute, Device, DeviceClaim, DeviceTest, DeviceWish, Node, Phase, Pod, PodKey, Snapshot,
};
use crate::text::Text;
use crate::well_known;

pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    if pods.values().all(|pod| pod.placement.devices.is_empty()) {
        return;
    }
    let mut homes: BTreeMap<Text, String> = BTreeMap::new();
    let mut look = |place: String, having: &[Vec<&Device>], of: &[&Pod]| {
        let claims = claims(of);
        for name in claims
            .iter()
            .map(|claim| &claim.name)
            .filter(|name| !name.is_empty())
        {
            let home = homes.entry(name.clone()).or_insert_with(|| place.clone());
            if *home != place {
                violations.push(Violation {
                    place: place.clone(),
                    rule: format!("has a pod of the claim {name}, whose devices are on {home}"),
                });
            }
        }
        if !having.iter().all(|devices| suffices(devices, &claims)) {
            violations.push(Violation {
                place,
                rule: "has too few devices for the claims of its pods".into(),
            });
        }
    };
    for (name, keys) in &schedule.existing {
        let Some(node) = snapshot.node(name) else { continue };
        let here = |key: &&PodKey| !node.pods.iter().any(|pod| pod.key == **key);
        let promised = node.nominated.iter().filter(here);
        let of: Vec<&Pod> = promised
            .chain(keys)
            .filter_map(|key| pods.get(key).copied())
            .filter(|pod| pod.deletion.is_none())
            .collect();
        let asks = |key: &PodKey| pods.get(key).is_some_and(|pod| !pod.placement.devices.is_empty());
        if keys.iter().any(asks) {
            look(format!("place {name}"), &having(node, catalogue), &of);
        }
    }
    for (index, claim) in schedule.new_claims.iter().enumerate() {
        let of: Vec<&Pod> = claim
            .pods
            .iter()
            .filter_map(|key| pods.get(key).copied())
            .collect();
        if of.iter().all(|pod| pod.placement.devices.is_empty()) {
            continue;
        }
        let types = claim.instance_types.iter();
        let types = types.filter_map(|name| catalogue.find(&claim.pool, name));
        let having: Vec<Vec<&Device>> = types.map(|it| it.devices.iter().collect()).collect();
        look(format!("new claim {index} of {}", claim.pool), &having, &of);
    }
}

/// The claims of pods that need devices, each once.
fn claims<'a>(pods: &[&'a Pod]) -> Vec<&'a DeviceClaim> {
    let mut all: Vec<&DeviceClaim> = Vec::new();
    for claim in pods.iter().flat_map(|pod| &pod.placement.devices) {
        let known = !claim.name.is_empty() && all.iter().any(|other| other.name == claim.name);
        if claim.allocated.is_none() && !known {
            all.push(claim);
        }
    }
    all
}

/// What a place may have: one list for each type that it may become.
fn having<'a>(node: &'a Node, catalogue: &'a Catalogue) -> Vec<Vec<&'a Device>> {
    let types = node.pool().map_or(&[][..], |pool| catalogue.types(pool));
    if node.phase() == Phase::Planned {
        let suits = types.iter().filter(|it| {
            let of = node.claim.as_ref();
            of.is_some_and(|claim| it.suits(&claim.requirements) && claim.requests.fits(&it.allocatable()))
        });
        return suits.map(|it| it.devices.iter().collect()).collect();
    }
    let mut all: Vec<&Device> = node.devices.iter().collect();
    let name = node
        .labels()
        .and_then(|labels| labels.get(well_known::INSTANCE_TYPE));
    if node.phase() != Phase::Initialized
        && let Some(it) = types.iter().find(|it| Some(&it.name) == name)
    {
        let to_come = |device: &&Device| node.devices.iter().all(|there| there.driver != device.driver);
        all.extend(it.devices.iter().filter(to_come));
    }
    vec![all]
}

/// Whether each device that is asked for can be another one.
fn suffices(devices: &[&Device], claims: &[&DeviceClaim]) -> bool {
    let free: Vec<&Device> = devices.iter().copied().filter(|device| !device.taken).collect();
    let mut given: Vec<Option<usize>> = vec![None; free.len()];
    let mut slots: Vec<Vec<usize>> = Vec::new();
    for request in claims.iter().flat_map(|claim| &claim.requests) {
        let fitting = |wish: &DeviceWish| -> Vec<usize> {
            let fits = |index: &usize| wish.tests.iter().all(|test| holds(test, free[*index]));
            (0..free.len()).filter(fits).collect()
        };
        let ways: Vec<(usize, Vec<usize>)> = request
            .alternatives
            .iter()
            .map(|wish| {
                let fitting = fitting(wish);
                let count = wish.count.map_or(fitting.len().max(1), |count| count as usize);
                (count, fitting)
            })
            .collect();
        let Some(count) = ways.iter().map(|(count, _)| *count).min() else {
            continue;
        };
        let mut any: Vec<usize> = ways.into_iter().flat_map(|(_, fitting)| fitting).collect();
        any.sort_unstable();
        any.dedup();
        slots.extend(std::iter::repeat_n(any, count));
    }
    (0..slots.len()).all(|slot| give(slot, &slots, &mut given, &mut vec![false; free.len()]))
}

/// Gives a slot a device, moving others where that helps.
fn give(slot: usize, slots: &[Vec<usize>], given: &mut [Option<usize>], asked: &mut [bool]) -> bool {
    for device in &slots[slot] {
        if std::mem::replace(&mut asked[*device], true) {
            continue;
        }
        if given[*device].is_none_or(|other| give(other, slots, given, asked)) {
            given[*device] = Some(slot);
            return true;
        }
    }
    false
}

fn holds(test: &DeviceTest, device: &Device) -> bool {
    let own = |name: &Text| device.attributes.get(name);
    let number = |name: &Text| match own(name) {
        Some(Attribute::Int(number)) => Some(*number),
        _ => None,
    };
    match test {
        DeviceTest::Driver(driver) => *driver == device.driver,
        DeviceTest::Is(name, values) => own(name).is_some_and(|own| values.contains(own)),
        DeviceTest::IsNot(name, values) => !own(name).is_some_and(|own| values.contains(own)),
        DeviceTest::AtLeast(name, Attribute::Int(least)) => number(name).is_some_and(|own| own >= *least),
        DeviceTest::AtMost(name, Attribute::Int(most)) => number(name).is_some_and(|own| own <= *most),
        // Versions are not compared here; one has to be there.
        DeviceTest::AtLeast(name, _) | DeviceTest::AtMost(name, _) => own(name).is_some(),
        DeviceTest::Capacity(name, least) => device.capacity.iter().any(|(own, amount)| {
            (own == name || **own == *format!("{}/{name}", device.driver)) && amount >= least
        }),
    }
}
