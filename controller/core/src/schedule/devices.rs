//! Whether devices suffice for claims: each request is met by devices that pass its tests, and no device is given twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::snapshot::{Attribute, Device, DeviceClaim, DeviceTest, DeviceWish};
use crate::text::Text;

/// How many steps the search for an allocation may take.
const STEPS: usize = 20_000;

/// Whether `devices` satisfy all of `claims` at once.
pub(super) fn suffice<'d>(devices: impl IntoIterator<Item = &'d Device>, claims: &[&DeviceClaim]) -> bool {
    Search::among(devices).claims(claims)
}

/// The drivers of the devices that `claims` get of `devices`; none where these do not suffice.
pub(super) fn drivers<'d>(
    devices: impl IntoIterator<Item = &'d Device>,
    claims: &[&DeviceClaim],
) -> Option<BTreeSet<Text>> {
    let mut search = Search::among(devices);
    let given = search.claims(claims);
    let used = search.free.iter().zip(&search.used).filter(|(_, used)| **used);
    given.then(|| used.map(|(device, _)| device.driver.clone()).collect())
}

struct Search<'d> {
    free: Vec<&'d Device>,
    used: Vec<bool>,
    steps: usize,
}

impl<'d> Search<'d> {
    fn among(devices: impl IntoIterator<Item = &'d Device>) -> Search<'d> {
        let free: Vec<&Device> = devices.into_iter().filter(|device| !device.taken).collect();
        Search {
            used: vec![false; free.len()],
            free,
            steps: 0,
        }
    }

    fn claims(&mut self, claims: &[&DeviceClaim]) -> bool {
        match claims.split_first() {
            None => true,
            Some((claim, rest)) => self.requests(claim, 0, &BTreeMap::new(), rest),
        }
    }

    /// Meets the requests of a claim from the `at`-th on, and then the other claims. `fixed` holds the values that
    /// attributes must have because all devices of the claim share them.
    fn requests(
        &mut self,
        claim: &DeviceClaim,
        at: usize,
        fixed: &BTreeMap<Text, Attribute>,
        rest: &[&DeviceClaim],
    ) -> bool {
        let Some(request) = claim.requests.get(at) else {
            return self.claims(rest);
        };
        request.alternatives.iter().any(|wish| {
            let all = wish.count.is_none();
            let passing = (0..self.free.len())
                .filter(|device| passes(self.free[*device], wish))
                .count();
            let wanted = wish.count.map_or(passing, |count| count as usize);
            // "All" needs every device that passes, and at least one.
            !(all && passing == 0) && self.pick(claim, at, wish, wanted, 0, fixed, rest)
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one step of a search: what is decided and what is left"
    )]
    fn pick(
        &mut self,
        claim: &DeviceClaim,
        at: usize,
        wish: &DeviceWish,
        wanted: usize,
        from: usize,
        fixed: &BTreeMap<Text, Attribute>,
        rest: &[&DeviceClaim],
    ) -> bool {
        self.steps += 1;
        if self.steps > STEPS {
            return false;
        }
        if wanted == 0 {
            return self.requests(claim, at + 1, fixed, rest);
        }
        for device in from..self.free.len() {
            if self.used[device] || !passes(self.free[device], wish) {
                continue;
            }
            let Some(fixed) = agree(self.free[device], &claim.same, fixed) else {
                continue;
            };
            self.used[device] = true;
            if self.pick(claim, at, wish, wanted - 1, device + 1, &fixed, rest) {
                return true;
            }
            self.used[device] = false;
        }
        false
    }
}

/// The values shared by all devices of a claim once `device` is one of them; none where it differs.
fn agree(
    device: &Device,
    same: &[Text],
    fixed: &BTreeMap<Text, Attribute>,
) -> Option<BTreeMap<Text, Attribute>> {
    let mut fixed = fixed.clone();
    for name in same {
        let own = device.attributes.get(name)?;
        match fixed.get(name) {
            Some(shared) if shared != own => return None,
            Some(_) => {}
            None => drop(fixed.insert(name.clone(), own.clone())),
        }
    }
    Some(fixed)
}

fn passes(device: &Device, wish: &DeviceWish) -> bool {
    wish.tests.iter().all(|test| match test {
        DeviceTest::Driver(driver) => device.driver == *driver,
        DeviceTest::Is(name, values) => device
            .attributes
            .get(name)
            .is_some_and(|own| values.contains(own)),
        DeviceTest::IsNot(name, values) => device
            .attributes
            .get(name)
            .is_none_or(|own| !values.contains(own)),
        DeviceTest::AtLeast(name, least) => compares(device, name, least, std::cmp::Ordering::is_ge),
        DeviceTest::AtMost(name, most) => compares(device, name, most, std::cmp::Ordering::is_le),
        DeviceTest::Capacity(name, least) => capacity(device, name).is_some_and(|own| own >= *least),
    })
}

/// A capacity by its qualified name; one without a domain is of the device's own driver.
fn capacity(device: &Device, name: &Text) -> Option<i64> {
    let own = || Text::from(format!("{}/{name}", device.driver));
    let found = device.capacity.get(name);
    found
        .or_else(|| device.capacity.get(&own()).filter(|_| !name.contains('/')))
        .copied()
}

fn compares(device: &Device, name: &Text, with: &Attribute, holds: fn(std::cmp::Ordering) -> bool) -> bool {
    match (device.attributes.get(name), with) {
        (Some(Attribute::Int(own)), Attribute::Int(with)) => holds(own.cmp(with)),
        (Some(Attribute::Version(own)), Attribute::Version(with)) => holds(version(own).cmp(&version(with))),
        _ => false,
    }
}

/// The numbers of a semantic version; a version before its release (`1.0.0-rc`) comes before it.
fn version(text: &str) -> (Vec<u64>, bool) {
    let (numbers, pre) = text
        .split_once('-')
        .map_or((text, false), |(numbers, _)| (numbers, true));
    let numbers = numbers.split('+').next().unwrap_or(numbers).split('.');
    (numbers.map(|part| part.parse().unwrap_or(0)).collect(), !pre)
}

#[cfg(test)]
mod tests {
    use super::{drivers, suffice};
    use crate::snapshot::{Attribute, Device, DeviceClaim, DeviceRequest, DeviceTest, DeviceWish};

    fn device(name: &str, model: &str, numa: i64) -> Device {
        Device {
            driver: "gpu.example.com".into(),
            pool: "p".into(),
            name: name.into(),
            attributes: [
                ("model".into(), Attribute::Text(model.into())),
                ("numa".into(), Attribute::Int(numa)),
            ]
            .into_iter()
            .collect(),
            capacity: std::iter::once(("memory".into(), 40)).collect(),
            taken: false,
        }
    }

    fn claim(tests: Vec<DeviceTest>, count: Option<u32>, same: &[&str]) -> DeviceClaim {
        DeviceClaim {
            name: "".into(),
            requests: vec![DeviceRequest {
                name: "gpu".into(),
                alternatives: vec![DeviceWish { tests, count }],
            }],
            same: same.iter().map(|name| (*name).into()).collect(),
            allocated: None,
        }
    }

    #[test]
    fn devices_are_given_once() {
        let all = [device("0", "a", 0), device("1", "a", 1), device("2", "b", 1)];
        let model = |model: &str| DeviceTest::Is("model".into(), vec![Attribute::Text(model.into())]);
        let one_a = claim(vec![model("a")], Some(1), &[]);
        let two_a = claim(vec![model("a")], Some(2), &[]);
        let pair = claim(
            vec![DeviceTest::Driver("gpu.example.com".into())],
            Some(2),
            &["numa"],
        );
        let large = claim(vec![DeviceTest::Capacity("memory".into(), 80)], Some(1), &[]);
        let any = claim(vec![], None, &[]);
        for (name, claims, want) in [
            ("one", vec![&one_a], true),
            ("two of a kind", vec![&two_a], true),
            ("three of a kind", vec![&two_a, &one_a], false),
            ("a pair on one side, and one more", vec![&pair, &one_a], true),
            (
                "a pair on one side, and two of a kind",
                vec![&pair, &two_a],
                false,
            ),
            ("too large", vec![&large], false),
            ("all", vec![&any], true),
            ("all, and one more", vec![&any, &one_a], false),
        ] {
            assert_eq!(suffice(&all, &claims), want, "{name}");
        }
    }

    #[test]
    fn the_drivers_are_those_of_the_devices_given() {
        let mut other = device("3", "c", 0);
        other.driver = "nic.example.com".into();
        other.capacity = std::iter::once(("nic.example.com/queues".into(), 8)).collect();
        let all = [device("0", "a", 0), other];
        let queues = |least| claim(vec![DeviceTest::Capacity("queues".into(), least)], Some(1), &[]);
        let model = |model: &str| {
            let is = DeviceTest::Is("model".into(), vec![Attribute::Text(model.into())]);
            claim(vec![is], Some(1), &[])
        };
        for (name, claims, want) in [
            ("of one", vec![model("a")], Some("gpu.example.com")),
            (
                "of the other, by a capacity of its own",
                vec![queues(8)],
                Some("nic.example.com"),
            ),
            (
                "of both",
                vec![model("a"), queues(1)],
                Some("gpu.example.com,nic.example.com"),
            ),
            ("of none", vec![queues(9)], None),
            ("nothing asked", vec![], Some("")),
        ] {
            let claims: Vec<&DeviceClaim> = claims.iter().collect();
            let found = drivers(&all, &claims).map(|all| all.into_iter().collect::<Vec<_>>().join(","));
            assert_eq!(found.as_deref(), want, "{name}");
        }
    }
}
