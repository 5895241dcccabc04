//! Volumes that drivers attach to nodes, and shares of workloads.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pods, Violation};
use crate::catalogue::Catalogue;
use crate::schedule::Schedule;
use crate::snapshot::{Pod, Snapshot};
use crate::text::Text;

/// Whether every node can attach the volumes of its pods, and no new node carries more of a workload than it may.
pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    for (name, keys) in &schedule.existing {
        let Some(node) = snapshot.node(name) else { continue };
        let new = keys.iter().filter_map(|key| pods.get(key).copied());
        let there = node.pods.iter().map(|pod| &**pod).filter(|pod| pod.is_running());
        let asked = attached(new.clone());
        for (driver, volumes) in attached(there.chain(new)) {
            let over = node
                .attach_limits
                .get(driver)
                .is_some_and(|limit| volumes.len() > *limit as usize);
            if over && asked.contains_key(driver) {
                violations.push(Violation {
                    place: format!("place {name}"),
                    rule: format!("{} volumes of {driver} are too many", volumes.len()),
                });
            }
        }
    }
    for (index, claim) in schedule.new_claims.iter().enumerate() {
        let mut complain = |rule: String| {
            violations.push(Violation {
                place: format!("new claim {index} of {}", claim.pool),
                rule,
            });
        };
        let of_claim = || claim.pods.iter().filter_map(|key| pods.get(key).copied());
        for (driver, volumes) in attached(of_claim()) {
            let types = claim
                .instance_types
                .iter()
                .filter_map(|name| catalogue.find(&claim.pool, name));
            let least = types.filter_map(|it| it.attach_limits.get(driver)).min();
            if least.is_some_and(|limit| volumes.len() > *limit as usize) {
                complain(format!("{} volumes of {driver} are too many", volumes.len()));
            }
        }
        if let Some(percent) = snapshot.settings.guards.max_replica_share {
            let mut replicas: BTreeMap<&Text, (u64, u64)> = BTreeMap::new();
            for workload in of_claim().filter_map(|pod| pod.workload.as_ref()) {
                let entry = replicas
                    .entry(&workload.name)
                    .or_insert((0, u64::from(workload.replicas)));
                entry.0 += 1;
            }
            for (name, (here, all)) in replicas {
                if all > 0 && here > (all * u64::from(percent) / 100).max(1) {
                    complain(format!(
                        "{here} of {all} replicas of {name} are more than {percent} %"
                    ));
                }
            }
        }
    }
}

fn attached<'a>(pods: impl Iterator<Item = &'a Pod>) -> BTreeMap<&'a Text, BTreeSet<&'a Text>> {
    let mut by_driver: BTreeMap<&Text, BTreeSet<&Text>> = BTreeMap::new();
    let volumes = pods.flat_map(|pod| &pod.placement.volumes);
    for attach in volumes.filter_map(|volume| volume.attach.as_ref()) {
        by_driver
            .entry(&attach.driver)
            .or_default()
            .insert(&attach.volume);
    }
    by_driver
}
