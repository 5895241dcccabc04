//! What is there: nodes and claims on their way, in numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::pools::{Daemon, bears, possible_types};
use super::{Dims, PLENTY, Standing};
use crate::catalogue::Catalogue;
use crate::resources::Resources;
use crate::schedule::atoms::{ABSENT, Bits, Keys};
use crate::schedule::sets::Sets;
use crate::snapshot::{Node, Owner, Phase, Pod, PodKey, Snapshot};
use crate::text::Text;
use crate::well_known;

/// A node with who is on it.
pub(super) struct Found<'a> {
    pub(super) node: &'a Node,
    /// Running pods, and those that an earlier decision sends here.
    pub(super) pods: Vec<&'a Pod>,
    /// Those of them that are on their way.
    pub(super) coming: usize,
}

/// Every node in the order in which it is asked: complete ones first, then by how far they have come, then by name.
pub(super) fn found<'a>(snapshot: &'a Snapshot) -> Vec<Found<'a>> {
    let promised = snapshot.nodes.iter().any(|node| !node.nominated.is_empty());
    let leaving = snapshot
        .nodes
        .iter()
        .filter(|node| node.is_going())
        .flat_map(|node| &node.pods);
    let waiting: BTreeMap<&PodKey, &'a Pod> = leaving
        .chain(&snapshot.pending)
        .filter(|pod| promised && pod.deletion.is_none())
        .map(|pod| (&pod.key, &**pod))
        .collect();
    let mut all: Vec<Found<'a>> = snapshot
        .nodes
        .iter()
        .map(|node| {
            let mut pods: Vec<&'a Pod> = node
                .pods
                .iter()
                .map(|pod| &**pod)
                .filter(|pod| pod.is_running())
                .collect();
            let running = pods.len();
            if !node.is_going() {
                let here = |key: &&PodKey| node.pods.iter().any(|pod| pod.key == **key);
                let coming = node.nominated.iter().filter(|key| !here(key));
                pods.extend(coming.filter_map(|key| waiting.get(key).copied()));
            }
            Found {
                coming: pods.len() - running,
                node,
                pods,
            }
        })
        .collect();
    all.sort_by_key(|it| (Reverse(it.node.phase()), it.node.name()));
    all
}

/// The node in numbers; `None` for a claim that can become nothing.
pub(super) fn standing<'a>(
    found: &Found<'a>,
    taints: usize,
    catalogue: &'a Catalogue,
    daemons: &[Daemon<'a>],
    keys: &Keys,
    sets: &mut Sets,
    dims: &Dims,
) -> Option<Standing<'a>> {
    let node = found.node;
    let planned = node.phase() == Phase::Planned;
    let set = labels(node, catalogue, keys);
    if set.iter().any(|(_, bits)| bits.is_empty()) {
        return None;
    }
    let set = sets.intern(set);
    let own = node.taints();
    let (mut expected, mut ports) = (Resources::new(), Vec::new());
    for daemon in daemons.iter().filter(|daemon| {
        bears(&daemon.it.placement, &own) && daemon.wanted.iter().any(|one| sets.clash(set, *one).is_none())
    }) {
        expected.add(&daemon.it.requests);
        ports.extend(daemon.it.placement.host_ports.iter().cloned());
    }
    let there: Resources = found
        .pods
        .iter()
        .filter(|pod| pod.owner == Owner::DaemonSet)
        .map(|pod| &pod.requests)
        .sum();
    let mut taken: Resources = found.pods.iter().map(|pod| &pod.requests).sum();
    taken.add(&expected.minus(&there).at_least_zero());
    // A daemon that is there already has its own ports once.
    let mut here = Vec::new();
    for pod in &found.pods {
        here.extend(pod.placement.host_ports.iter().cloned());
    }
    ports.retain(|port| !here.contains(port));
    ports.extend(here);
    let allocatable = match (planned, &node.claim) {
        // What it was made for and nobody is promised is free: whoever made it may have been killed, or its pods are gone.
        (true, Some(_)) => possible_types(node, catalogue)
            .map(crate::catalogue::InstanceType::allocatable)
            .reduce(|all, it| all.lower(&it))?,
        _ => node.allocatable(),
    };
    let mut attached: Vec<(&Text, &Text)> = found
        .pods
        .iter()
        .flat_map(|pod| &pod.placement.volumes)
        .filter_map(|volume| volume.attach.as_ref())
        .map(|attach| (&attach.driver, &attach.volume))
        .collect();
    attached.sort_unstable();
    attached.dedup();
    let volumes = |driver: &Text| {
        let used = attached.iter().filter(|(of, _)| *of == driver).count();
        // Until the driver has said what the node can attach, its type says so.
        let limit = node.attach_limits.get(driver).copied();
        let limit = limit.or_else(|| limit_of_type(node, planned, catalogue, driver));
        limit.map_or(PLENTY, |limit| {
            i64::from(limit) - i64::try_from(used).unwrap_or(i64::MAX)
        })
    };
    Some(Standing {
        name: node.name(),
        set,
        taints,
        free: dims.amounts(&allocatable.minus(&taken), volumes),
        ports,
        hosts: Vec::new(),
        open: !node.is_going(),
        devices: Vec::new(),
        held: Vec::new(),
        attached: Vec::new(),
    })
}

/// How many volumes of a driver the node's type can attach; of several possible types the least.
fn limit_of_type(node: &Node, planned: bool, catalogue: &Catalogue, driver: &Text) -> Option<u32> {
    if planned {
        let types = possible_types(node, catalogue);
        return types.filter_map(|it| it.attach_limits.get(driver)).min().copied();
    }
    let name = node.labels()?.get(well_known::INSTANCE_TYPE)?;
    catalogue
        .find(node.pool()?, name)?
        .attach_limits
        .get(driver)
        .copied()
}

/// What the node's labels are, or may become.
fn labels(node: &Node, catalogue: &Catalogue, keys: &Keys) -> Vec<(usize, Bits)> {
    let all: BTreeMap<Text, &Text> = node
        .labels()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let key = well_known::normalise(key.clone());
            keys.id(&key).is_some().then_some((key, value))
        })
        .collect();
    let planned = node.phase() == Phase::Planned;
    let types: Vec<_> = if planned {
        possible_types(node, catalogue).collect()
    } else {
        Vec::new()
    };
    let claim = node.claim.as_ref();
    let one = |key: usize| {
        let (name, atoms) = (keys.name(key), keys.atoms(key));
        if let Some(value) = all.get(name) {
            return Bits::one(atoms.len(), atoms.of(Some(value)));
        }
        if !planned {
            return Bits::one(atoms.len(), ABSENT);
        }
        if &**name == well_known::HOSTNAME {
            return Bits::one(atoms.len(), atoms.of(Some("\u{0}")));
        }
        let asked = claim.and_then(|claim| claim.requirements.get(name));
        let mut may = Bits::none(atoms.len());
        for it in &types {
            if well_known::is_said_by_offerings(name) {
                let of = claim.map(|claim| &claim.requirements);
                for offering in of.into_iter().flat_map(|wanted| it.offerings_for(wanted)) {
                    match offering.requirements().get(name) {
                        Some(said) => may.add(&atoms.bits(said)),
                        None => may.set(ABSENT),
                    }
                }
            } else {
                match it.requirements.get(name) {
                    Some(said) => may.add(&atoms.bits(said)),
                    None => may.set(ABSENT),
                }
            }
        }
        let mut may = match asked {
            Some(asked) => {
                let asked = atoms.bits(asked);
                let left = may.and(&asked);
                if left.is_empty() { asked } else { left }
            }
            None => may,
        };
        // Of several values left an offering picks one; else the label may stay away.
        if may.len() > 1 && !well_known::is_said_by_offerings(name) {
            may.set(ABSENT);
        }
        may
    };
    (0..keys.len()).map(|key| (key, one(key))).collect()
}
