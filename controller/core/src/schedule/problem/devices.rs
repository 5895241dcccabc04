//! The devices of a node that is there or on its way, and to whom they are promised.

use std::collections::BTreeSet;

use super::nodes::Found;
use super::pools::possible_types;
use crate::catalogue::Catalogue;
use crate::snapshot::{Device, DeviceClaim, Node, Phase};
use crate::text::Text;
use crate::well_known;

/// The devices of a node, a list for each instance type that it may still become. Until it is complete, what a driver has not
/// published yet is taken from its instance type, so that nothing is bought for the pods that are on their way to it.
pub(super) fn of_node<'a>(node: &'a Node, catalogue: &'a Catalogue) -> Vec<Vec<&'a Device>> {
    match node.phase() {
        Phase::Initialized => vec![node.devices.iter().collect()],
        Phase::Planned => {
            let mut all: Vec<Vec<&Device>> = possible_types(node, catalogue)
                .map(|it| it.devices.iter().collect())
                .collect();
            all.sort();
            all.dedup();
            all
        }
        Phase::Launched | Phase::Registered => {
            let there: BTreeSet<&Text> = node.devices.iter().map(|device| &device.driver).collect();
            let missing = of_type(node, catalogue).iter();
            let missing = missing.filter(|device| !there.contains(&device.driver));
            vec![node.devices.iter().chain(missing).collect()]
        }
    }
}

/// The claims for which pods that an earlier decision sends here will want devices.
pub(super) fn held<'a>(found: &Found<'a>) -> Vec<&'a DeviceClaim> {
    let coming = &found.pods[found.pods.len() - found.coming..];
    let claims = coming.iter().flat_map(|pod| &pod.placement.devices);
    claims.filter(|claim| claim.allocated.is_none()).collect()
}

fn of_type<'a>(node: &Node, catalogue: &'a Catalogue) -> &'a [Device] {
    let name = node
        .labels()
        .and_then(|labels| labels.get(well_known::INSTANCE_TYPE));
    let found = name
        .zip(node.pool())
        .and_then(|(name, pool)| catalogue.find(pool, name));
    found.map_or(&[][..], |it| &it.devices[..])
}
