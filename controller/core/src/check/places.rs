//! Where everybody is once the schedule is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Pods;
use crate::catalogue::Catalogue;
use crate::launch;
use crate::requirements::Requirements;
use crate::schedule::{NewClaim, Schedule};
use crate::snapshot::{Pod, PodSelector, Snapshot};
use crate::taints::Taint;
use crate::text::{Labels, Text};
use crate::well_known::HOSTNAME;

/// A place with everybody who is or will be there.
pub(super) struct Place<'a> {
    pub(super) name: String,
    /// The labels that are certain.
    pub(super) labels: Labels,
    /// Keys of labels whose values depend on what will be bought.
    pub(super) open: Arc<BTreeSet<Text>>,
    pub(super) taints: Vec<Taint>,
    /// Who, by number, and whether the schedule put it there.
    pub(super) pods: Vec<(&'a Pod, usize, bool)>,
}

impl Place<'_> {
    /// The place as rules over a label see it; none where that is not certain.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        match key {
            HOSTNAME => Some(&self.name),
            _ => self.labels.get(key).map(|value| &**value),
        }
    }
}

/// Everybody, with equal namespaces and labels under one number.
pub(super) struct Everybody<'a> {
    pub(super) places: Vec<Place<'a>>,
    who: Vec<(&'a Text, &'a Labels)>,
}

impl<'a> Everybody<'a> {
    /// Of each number whether a selector means it.
    pub(super) fn meant(&self, selector: &PodSelector, namespaces: Option<&[Text]>) -> Vec<bool> {
        let means = |(namespace, labels): &(&Text, &Labels)| {
            namespaces.is_none_or(|all| all.contains(namespace)) && selector.selects(labels)
        };
        self.who.iter().map(means).collect()
    }

    pub(super) fn new(
        snapshot: &'a Snapshot,
        catalogue: &Catalogue,
        schedule: &Schedule,
        pods: &Pods<'a>,
    ) -> Everybody<'a> {
        let mut index: BTreeMap<(&'a Text, &'a Labels), usize> = BTreeMap::new();
        let mut who = Vec::new();
        let mut number = |pod: &'a Pod| {
            let key = (&pod.key.namespace, &pod.labels);
            *index.entry(key).or_insert_with(|| {
                who.push(key);
                who.len() - 1
            })
        };
        let mut places = Vec::new();
        for node in snapshot.nodes.iter().filter(|node| !node.is_going()) {
            let new = schedule
                .existing
                .get(node.name())
                .map_or(&[][..], |keys| &keys[..]);
            let mut all = Vec::new();
            for pod in node.pods.iter().filter(|pod| pod.is_running()) {
                all.push((&**pod, number(pod), false));
            }
            if !node.nominated.is_empty() {
                let here = |key: &&crate::snapshot::PodKey| node.pods.iter().any(|pod| pod.key == **key);
                for pod in node
                    .nominated
                    .iter()
                    .filter(|key| !here(key))
                    .filter_map(|key| pods.get(key))
                {
                    all.push((pod, number(pod), false));
                }
            }
            for pod in new.iter().filter_map(|key| pods.get(key)) {
                all.push((pod, number(pod), true));
            }
            places.push(Place {
                name: format!("place {}", node.name()),
                labels: node.requirements().labels(),
                open: Arc::default(),
                taints: node.taints(),
                pods: all,
            });
        }
        let mut known: BTreeMap<(&Text, usize, &Requirements), Outcome> = BTreeMap::new();
        for (index, claim) in schedule.new_claims.iter().enumerate() {
            let key = (
                &claim.pool,
                Arc::as_ptr(&claim.instance_types).addr(),
                &claim.requirements,
            );
            let Outcome { mut labels, open } = known
                .entry(key)
                .or_insert_with(|| outcome(claim, catalogue))
                .clone();
            labels.extend(claim.labels.clone());
            let placed = claim.pods.iter().filter_map(|key| pods.get(key));
            places.push(Place {
                name: format!("new claim {index} of {}", claim.pool),
                labels,
                open,
                taints: claim.taints.clone(),
                pods: placed.map(|pod| (*pod, number(pod), true)).collect(),
            });
        }
        Everybody { places, who }
    }
}

/// What is known of the labels of whatever is bought for a claim.
#[derive(Clone)]
struct Outcome {
    /// Those that all of it has.
    labels: Labels,
    /// Keys of those that differ.
    open: Arc<BTreeSet<Text>>,
}

fn outcome(claim: &NewClaim, catalogue: &Catalogue) -> Outcome {
    let types = claim
        .instance_types
        .iter()
        .filter_map(|name| catalogue.find(&claim.pool, name));
    let mut bought = types.clone().flat_map(|it| {
        it.offerings_for(&claim.requirements)
            .map(move |offering| launch::labels(it, offering))
    });
    // What leaves a choice is decided with the purchase.
    let choices = types
        .clone()
        .map(|it| &it.requirements)
        .chain([&claim.requirements]);
    let mut open: BTreeSet<Text> = choices
        .flat_map(Requirements::iter)
        .filter(|requirement| requirement.single().is_none() && !requirement.values().is_empty())
        .map(|requirement| requirement.key().clone())
        .collect();
    let mut common = bought.next().unwrap_or_default();
    for labels in bought {
        open.extend(labels.keys().filter(|key| !common.contains_key(*key)).cloned());
        common.retain(|key, value| {
            let same = labels.get(key) == Some(value);
            if !same {
                open.insert(key.clone());
            }
            same
        });
    }
    let mut labels = claim.requirements.labels();
    labels.extend(common);
    open.retain(|key| !labels.contains_key(key));
    Outcome {
        labels,
        open: open.into(),
    }
}
