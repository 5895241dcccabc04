//! Pods that must or must not be together. Only what is certain is judged: places whose label has one value.

use std::collections::BTreeMap;

use super::{Pods, Violation};
use crate::catalogue::Catalogue;
use crate::launch;
use crate::schedule::{NewClaim, Schedule};
use crate::snapshot::{Pod, PodTerm, Snapshot};
use crate::text::{Labels, Text};
use crate::well_known::HOSTNAME;

/// A place with everybody who is or will be there.
struct Place<'a> {
    name: String,
    labels: BTreeMap<Text, Text>,
    pods: Vec<&'a Pod>,
    /// How many of the pods, the last ones, were put there by the schedule.
    new: usize,
}

pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    let bound = |pod: &Pod| !pod.placement.anti_affinity.is_empty() || !pod.placement.affinity.is_empty();
    let everybody = snapshot
        .nodes
        .iter()
        .flat_map(|node| &node.pods)
        .chain(&snapshot.pending);
    if !everybody.into_iter().any(|pod| bound(pod)) {
        return;
    }
    let places = places(snapshot, catalogue, schedule, pods);
    for place in &places {
        let first_new = place.pods.len() - place.new;
        for (index, pod) in place.pods.iter().enumerate() {
            let is_new = index >= first_new;
            for term in &pod.placement.anti_affinity {
                let others = companions(&places, place, term);
                // One of the two must have been put there now.
                let avoided = others.into_iter().find(|(other, other_is_new)| {
                    other.key != pod.key && (is_new || *other_is_new) && means(term, other)
                });
                if let Some((other, _)) = avoided {
                    let rule = format!(
                        "pods {} and {} must not share {}",
                        pod.key, other.key, term.topology_key
                    );
                    violations.push(Violation {
                        place: place.name.clone(),
                        rule,
                    });
                }
            }
            for term in pod.placement.affinity.iter().filter(|_| is_new) {
                let known = *term.topology_key == *HOSTNAME || place.labels.contains_key(&term.topology_key);
                let company = companions(&places, place, term)
                    .iter()
                    .any(|(other, _)| means(term, other));
                if known && !company {
                    let rule = format!(
                        "pod {} lacks the company it wants on {}",
                        pod.key, term.topology_key
                    );
                    violations.push(Violation {
                        place: place.name.clone(),
                        rule,
                    });
                }
            }
        }
    }
}

/// Everybody who shares the place, as the term's label sees it, and whether they are new there.
fn companions<'a>(places: &[Place<'a>], place: &Place<'a>, term: &PodTerm) -> Vec<(&'a Pod, bool)> {
    let value = |place: &Place<'_>| match &*term.topology_key {
        HOSTNAME => Some(Text::from(place.name.as_str())),
        key => place.labels.get(key).cloned(),
    };
    let here = value(place);
    let same = |other: &&Place<'_>| other.name == place.name || (here.is_some() && value(other) == here);
    let of = |place: &Place<'a>| {
        let first_new = place.pods.len() - place.new;
        let all = place
            .pods
            .iter()
            .enumerate()
            .map(|(index, pod)| (*pod, index >= first_new));
        all.collect::<Vec<_>>()
    };
    places.iter().filter(same).flat_map(of).collect()
}

fn places<'a>(
    snapshot: &'a Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'a>,
) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    for node in snapshot.nodes.iter().filter(|node| !node.is_going()) {
        let new = schedule
            .existing
            .get(node.name())
            .map_or(&[][..], |keys| &keys[..]);
        let promised = node
            .nominated
            .iter()
            .filter(|key| !node.pods.iter().any(|pod| pod.key == **key));
        let mut all: Vec<&Pod> = node
            .pods
            .iter()
            .map(|pod| &**pod)
            .filter(|pod| pod.is_running())
            .collect();
        all.extend(promised.chain(new).filter_map(|key| pods.get(key).copied()));
        let labels = node.requirements().labels();
        places.push(Place {
            name: format!("place {}", node.name()),
            labels,
            pods: all,
            new: new.len(),
        });
    }
    for (index, claim) in schedule.new_claims.iter().enumerate() {
        let all: Vec<&Pod> = claim
            .pods
            .iter()
            .filter_map(|key| pods.get(key).copied())
            .collect();
        let mut labels = claim.requirements.labels();
        labels.extend(certain(claim, catalogue));
        labels.extend(claim.labels.clone());
        places.push(Place {
            name: format!("new claim {index} of {}", claim.pool),
            labels,
            new: all.len(),
            pods: all,
        });
    }
    places
}

fn means(term: &PodTerm, pod: &Pod) -> bool {
    let namespace = match &term.namespaces {
        Some(all) => all.contains(&pod.key.namespace),
        None => true,
    };
    namespace && term.selector.selects(&pod.labels)
}

/// The labels that whatever is bought for a claim has.
fn certain(claim: &NewClaim, catalogue: &Catalogue) -> Labels {
    let types = claim
        .instance_types
        .iter()
        .filter_map(|name| catalogue.find(&claim.pool, name));
    let bought = types.flat_map(|it| {
        it.offerings_for(&claim.requirements)
            .map(move |offering| launch::labels(it, offering))
    });
    let common = bought.reduce(|mut all, labels| {
        all.retain(|key, value| labels.get(key) == Some(value));
        all
    });
    common.unwrap_or_default()
}
