//! What an instance type's nodes will publish, by what nodes of it publish: a pure function of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use joiner_core::snapshot::Device;
use joiner_core::text::Text;

/// What nodes of each instance type publish, by the type's name.
pub(crate) type Seen = BTreeMap<Text, Arc<[Device]>>;

/// What was seen until now with what nodes publish now, each with its type, in the order of their names; none where that is
/// nothing new. Of the nodes of a type the first counts of those that have as many devices of a driver as most: one with a
/// broken device does not speak for its type. A driver that no node has now is remembered.
pub(super) fn learn(seen: &Seen, news: &[(Text, Vec<Device>)]) -> Option<Seen> {
    let mut by_driver: BTreeMap<(&Text, &Text), Vec<Vec<&Device>>> = BTreeMap::new();
    for (kind, devices) in news {
        let mut of_node: BTreeMap<&Text, Vec<&Device>> = BTreeMap::new();
        devices
            .iter()
            .for_each(|device| of_node.entry(&device.driver).or_default().push(device));
        for (driver, devices) in of_node {
            by_driver.entry((kind, driver)).or_default().push(devices);
        }
    }
    let mut all = seen.clone();
    for ((kind, driver), nodes) in by_driver {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        nodes
            .iter()
            .for_each(|devices| *counts.entry(devices.len()).or_default() += 1);
        let usual = counts.into_iter().max_by_key(|(size, nodes)| (*nodes, *size));
        let first = nodes
            .iter()
            .find(|devices| usual.is_some_and(|(size, _)| devices.len() == size));
        let others = all.get(kind).into_iter().flat_map(|known| known.iter());
        let others = others.filter(|device| device.driver != *driver).cloned();
        let own = first.into_iter().flatten().map(|device| of_type(device));
        let mut devices: Vec<Device> = others.chain(own).collect();
        devices.sort();
        all.insert(kind.clone(), devices.into());
    }
    (all != *seen).then_some(all)
}

/// The device without what tells it from that of another node: its pool, who has it, and its own number.
fn of_type(device: &Device) -> Device {
    let mut device = device.clone();
    device.pool = "".into();
    device.taken = false;
    device.attributes.retain(|name, _| !name.ends_with("/uuid"));
    device
}

#[cfg(test)]
mod tests {
    use joiner_core::snapshot::Attribute;

    use super::*;

    fn device(driver: &str, node: &str, name: &str) -> Device {
        Device {
            driver: driver.into(),
            pool: node.into(),
            name: name.into(),
            attributes: [
                (format!("{driver}/model").into(), Attribute::Text("x".into())),
                (format!("{driver}/uuid").into(), Attribute::Text(node.into())),
            ]
            .into(),
            capacity: BTreeMap::new(),
            taken: true,
        }
    }

    #[test]
    fn types_publish_what_most_of_their_nodes_do() {
        let gpus = |node: &str, count: usize| -> Vec<Device> {
            (0..count)
                .map(|index| device("gpu", node, &format!("g{index}")))
                .collect()
        };
        let nic = |node: &str| vec![device("nic", node, "n0")];
        let known: Seen = [("a.large".into(), gpus("old", 4).iter().map(of_type).collect())].into();
        let on = |kind: &str, devices: Vec<Device>| (Text::from(kind), devices);
        for (name, news, want) in [
            ("nobody publishes", vec![], None),
            ("as before", vec![on("a.large", gpus("n", 4))], None),
            (
                "another type",
                vec![on("b.large", gpus("n", 1))],
                Some("a.large 4, b.large 1"),
            ),
            ("another driver", vec![on("a.large", nic("n"))], Some("a.large 5")),
            (
                "one of three is broken",
                vec![
                    on("a.large", gpus("n1", 1)),
                    on("a.large", gpus("n2", 2)),
                    on("a.large", gpus("n3", 2)),
                ],
                Some("a.large 2"),
            ),
            (
                "one of two is broken",
                vec![on("a.large", gpus("n1", 7)), on("a.large", gpus("n2", 8))],
                Some("a.large 8"),
            ),
        ] {
            let learned = learn(&known, &news);
            let told = learned.as_ref().map(|all| {
                let count = |(kind, devices): (&Text, &Arc<[Device]>)| format!("{kind} {}", devices.len());
                all.iter().map(count).collect::<Vec<_>>().join(", ")
            });
            assert_eq!(told.as_deref(), want, "{name}");
            let all = learned
                .iter()
                .flat_map(|all| all.values())
                .flat_map(|devices| devices.iter());
            for device in all {
                assert!(!device.taken && device.pool.is_empty() && device.attributes.len() == 1);
            }
        }
    }
}
