//! Pods that are alike are decided on together: same requests, same wishes, one question.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::identity::Identities;
use super::volumes::SharedVolumes;
use crate::resources::ResourceName;
use crate::snapshot::{Placement, Pod, PodKey, Settings, VolumeNeed};
use crate::text::Text;

/// Pods that are alike, and who they are to others.
pub(super) struct Alike<'a> {
    pub(super) pods: Vec<&'a Pod>,
    pub(super) identity: usize,
}

/// Groups `pods`; the largest first, and of equal size in the order in which the first of each was made.
pub(super) fn group<'a>(
    pods: Vec<&'a Pod>,
    identities: &mut Identities<'a>,
    settings: &Settings,
    shared: &SharedVolumes<'_>,
) -> Vec<Alike<'a>> {
    let by_workload = settings.guards.max_replica_share.is_some() || !settings.default_spread.is_empty();
    let mut buckets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut classes: Vec<Alike<'a>> = Vec::new();
    for pod in pods {
        let identity = identities.of(pod);
        let bucket = buckets.entry(fingerprint(pod, identity)).or_default();
        let known = bucket.iter().copied().find(|class| {
            let class = &classes[*class];
            class.identity == identity && alike(class.pods[0], pod, by_workload, shared)
        });
        match known {
            Some(class) => classes[class].pods.push(pod),
            None => {
                bucket.push(classes.len());
                classes.push(Alike {
                    pods: vec![pod],
                    identity,
                });
            }
        }
    }
    for class in &mut classes {
        class
            .pods
            .sort_by(|a, b| (a.created, &a.key).cmp(&(b.created, &b.key)));
        class.pods.dedup_by(|a, b| a.key == b.key);
    }
    classes.sort_by(|a, b| order(a.pods[0]).cmp(&order(b.pods[0])));
    classes
}

type Order<'a> = (Reverse<i64>, Reverse<i64>, jiff::Timestamp, &'a Text, &'a PodKey);

fn order(pod: &Pod) -> Order<'_> {
    (
        Reverse(pod.requests.get(&ResourceName::Cpu)),
        Reverse(pod.requests.get(&ResourceName::Memory)),
        pod.created,
        &pod.uid,
        &pod.key,
    )
}

/// A number that is equal for pods that are alike and mostly differs for others.
fn fingerprint(pod: &Pod, identity: usize) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut number = |value: u64| hash = (hash ^ value).wrapping_mul(PRIME).rotate_left(17);
    number(identity as u64);
    for (_, amount) in pod.requests.iter() {
        number(amount.cast_unsigned());
    }
    let it = &pod.placement;
    for len in [
        it.affinity.len(),
        it.anti_affinity.len(),
        it.spread.len(),
        it.tolerations.len(),
        it.host_ports.len(),
        it.volumes.len(),
        it.preferred_affinity.len(),
        it.preferred_anti_affinity.len(),
        it.preferred_node_affinity.len(),
        it.node_affinity.as_ref().map_or(99, Vec::len),
    ] {
        number(len as u64);
    }
    let keys = it
        .affinity
        .iter()
        .chain(&it.anti_affinity)
        .map(|term| &term.topology_key);
    let texts = it
        .node_selector
        .values()
        .chain(keys)
        .chain(it.spread.iter().map(|one| &one.topology_key));
    for text in texts {
        text.bytes().for_each(|byte| number(u64::from(byte)));
    }
    hash
}

fn alike(a: &Pod, b: &Pod, by_workload: bool, shared: &SharedVolumes<'_>) -> bool {
    let Placement {
        node_selector,
        node_affinity,
        preferred_node_affinity,
        affinity,
        preferred_affinity,
        anti_affinity,
        preferred_anti_affinity,
        spread,
        tolerations,
        host_ports,
        volumes,
        devices,
        unsupported,
    } = &a.placement;
    let other = &b.placement;
    a.priority == b.priority
        && a.requests == b.requests
        && *node_selector == other.node_selector
        && *affinity == other.affinity
        && *anti_affinity == other.anti_affinity
        && *spread == other.spread
        && *tolerations == other.tolerations
        && *node_affinity == other.node_affinity
        && *preferred_node_affinity == other.preferred_node_affinity
        && *preferred_affinity == other.preferred_affinity
        && *preferred_anti_affinity == other.preferred_anti_affinity
        && *host_ports == other.host_ports
        && volumes.len() == other.volumes.len()
        && volumes
            .iter()
            .zip(&other.volumes)
            .all(|(one, two)| same_volume(one, two, shared))
        && *devices == other.devices
        && *unsupported == other.unsupported
        && (!by_workload || a.workload == b.workload)
}

/// Whether two volumes ask the same of a node; one that several pods use is only like itself.
fn same_volume(a: &VolumeNeed, b: &VolumeNeed, shared: &SharedVolumes<'_>) -> bool {
    let driver = |need: &VolumeNeed| need.attach.as_ref().map(|attach| attach.driver.clone());
    let number = |need: &VolumeNeed| need.attach.as_ref().and_then(|attach| shared.number(attach));
    a.alternatives == b.alternatives && driver(a) == driver(b) && number(a) == number(b)
}
