//! Which labels the question is about, and which of their values differ to some rule.

use super::classes::Alike;
use crate::catalogue::{Catalogue, InstanceType};
use crate::requirements::Requirement;
use crate::schedule::atoms::{Gather, Keys};
use crate::snapshot::{DaemonSet, Node, Phase, Placement, Snapshot};
use crate::text::Text;
use crate::well_known;

/// Every label that a rule speaks of.
pub(super) fn vocabulary(snapshot: &Snapshot, catalogue: &Catalogue, classes: &[Alike<'_>]) -> Keys {
    let mut gather = Gather::default();
    gather.key(&well_known::ZONE.into());
    gather.key(&well_known::CAPACITY_TYPE.into());
    let placements = || {
        let pods = classes.iter().map(|class| &class.pods[0].placement);
        pods.chain(
            snapshot
                .daemon_sets
                .iter()
                .map(|daemon: &std::sync::Arc<DaemonSet>| &daemon.placement),
        )
    };
    let defaults = snapshot
        .settings
        .default_spread
        .iter()
        .map(|one| &one.topology_key);
    let mut topologies: Vec<&Text> = defaults.collect();
    for placement in placements() {
        topologies.extend(topology_keys(placement));
        wishes(placement, &mut |wish| gather.key(wish.key()));
        placement
            .node_selector
            .keys()
            .for_each(|key| gather.key(&well_known::normalise(key.clone())));
    }
    let running = snapshot.nodes.iter().flat_map(|node| &node.pods);
    topologies.extend(
        running
            .flat_map(|pod| &pod.placement.anti_affinity)
            .map(|term| &term.topology_key),
    );
    topologies.sort_unstable();
    topologies.dedup();
    topologies.iter().for_each(|key| gather.key(key));
    for pool in &snapshot.pools {
        pool.template_requirements()
            .iter()
            .for_each(|one| gather.key(one.key()));
    }
    for claim in planned(snapshot) {
        claim.requirements.iter().for_each(|one| gather.key(one.key()));
    }
    let types = || catalogue.pools.values().flat_map(|types| types.iter());
    for offering in types().flat_map(|it| &it.offerings) {
        offering.extra.iter().for_each(|one| gather.key(one.key()));
    }

    for placement in placements() {
        wishes(placement, &mut |wish| gather.requirement(wish));
        for (key, value) in &placement.node_selector {
            gather.value(&well_known::normalise(key.clone()), value);
        }
    }
    for pool in &snapshot.pools {
        pool.template_requirements()
            .iter()
            .for_each(|one| gather.requirement(one));
    }
    for claim in planned(snapshot) {
        claim.requirements.iter().for_each(|one| gather.requirement(one));
    }
    for it in types() {
        values_of_type(it, &mut gather);
    }
    for node in &snapshot.nodes {
        let labels = node.labels();
        for key in &topologies {
            if let Some(value) = labels.and_then(|labels| labels.get(&***key)) {
                gather.value(key, value);
            }
        }
    }
    gather.finish()
}

fn values_of_type(it: &InstanceType, gather: &mut Gather) {
    gather.value(well_known::INSTANCE_TYPE, &it.name);
    it.requirements.iter().for_each(|one| gather.requirement(one));
    for offering in &it.offerings {
        gather.value(well_known::ZONE, &offering.zone);
        if gather.has(well_known::ZONE_ID) {
            gather.value(well_known::ZONE_ID, &offering.zone_id);
        }
        gather.value(well_known::CAPACITY_TYPE, &offering.capacity_type.as_str().into());
        offering.extra.iter().for_each(|one| gather.requirement(one));
    }
}

fn planned(snapshot: &Snapshot) -> impl Iterator<Item = &crate::snapshot::Claim> {
    let planned = |node: &&Node| node.phase() == Phase::Planned;
    snapshot
        .nodes
        .iter()
        .filter(planned)
        .filter_map(|node| node.claim.as_deref())
}

fn topology_keys(placement: &Placement) -> impl Iterator<Item = &Text> {
    let wished = placement
        .preferred_affinity
        .iter()
        .chain(&placement.preferred_anti_affinity)
        .map(|one| &one.term);
    let terms = placement
        .affinity
        .iter()
        .chain(&placement.anti_affinity)
        .chain(wished);
    terms
        .map(|term| &term.topology_key)
        .chain(placement.spread.iter().map(|one| &one.topology_key))
}

/// Every requirement on a node's labels in a placement, the selector aside.
fn wishes(placement: &Placement, each: &mut dyn FnMut(&Requirement)) {
    let wished = placement.preferred_node_affinity.iter().map(|one| &one.term);
    let terms = placement.node_affinity.iter().flatten().chain(wished);
    terms
        .flat_map(|term| term.expressions.iter())
        .for_each(&mut *each);
    placement
        .volumes
        .iter()
        .flat_map(|volume| &volume.alternatives)
        .flat_map(|one| one.iter())
        .for_each(&mut *each);
    let places = placement
        .devices
        .iter()
        .filter_map(|claim| claim.allocated.as_ref());
    places.flatten().flat_map(|one| one.iter()).for_each(&mut *each);
}
