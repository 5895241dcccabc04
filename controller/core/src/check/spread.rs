//! Topology spread. Pods come one after the other, in an order that nobody knows; what is judged is whether there is an
//! order in which every pod was within its skew: at the last moment the least crowded place has at most what it has in
//! the end, and the pod's own place at least what was there before and what came by the same rule. A claim that may become
//! a node that the rule looks at, or one that it does not, counts where that helps.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{Everybody, Place};
use super::{Violation, labels_suit, taints_suit};
use crate::snapshot::{InclusionPolicy, Placement, Pod, Spread, Strength};
use crate::text::Text;

pub(super) fn check(everybody: &Everybody<'_>, violations: &mut Vec<Violation>) {
    let mut rules: BTreeSet<(&Text, &Spread, Filter<'_>)> = BTreeSet::new();
    for (pod, _, _) in everybody
        .places
        .iter()
        .flat_map(|place| &place.pods)
        .filter(|(_, _, new)| *new)
    {
        for spread in required(&pod.placement) {
            rules.insert((&pod.key.namespace, spread, Filter::of(pod, spread)));
        }
    }
    for (namespace, spread, filter) in rules {
        judge(everybody, namespace, spread, &filter, violations);
    }
}

/// What of a pod decides which nodes its spread looks at.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Filter<'a> {
    affinity: Option<Placement>,
    taints: Option<&'a [crate::taints::Toleration]>,
}

impl<'a> Filter<'a> {
    fn of(pod: &'a Pod, spread: &Spread) -> Filter<'a> {
        let it = &pod.placement;
        let narrow = Placement {
            node_selector: it.node_selector.clone(),
            node_affinity: it.node_affinity.clone(),
            ..Placement::default()
        };
        Filter {
            affinity: (spread.node_affinity_policy == InclusionPolicy::Honor).then_some(narrow),
            taints: (spread.node_taints_policy == InclusionPolicy::Honor).then_some(&it.tolerations[..]),
        }
    }

    /// Whether a place is one of those that count; none where that depends on what will be bought.
    fn sees(&self, place: &Place<'_>) -> Option<bool> {
        let label = |key: &str| place.labels.get(key).map(|value| &**value);
        let bears = |tolerations: &[crate::taints::Toleration]| {
            let placement = Placement {
                tolerations: tolerations.to_vec(),
                ..Placement::default()
            };
            taints_suit(&placement, &place.taints)
        };
        if !self.taints.is_none_or(bears) {
            return Some(false);
        }
        match &self.affinity {
            None => Some(true),
            Some(placement) if asks_for(placement, &place.open) => None,
            Some(placement) => Some(labels_suit(placement, &label)),
        }
    }
}

/// Whether a placement looks at one of these labels.
fn asks_for(placement: &Placement, keys: &BTreeSet<Text>) -> bool {
    let mut selector = placement.node_selector.keys();
    let terms = placement.node_affinity.iter().flatten();
    let mut wishes = terms.flat_map(|term| term.expressions.iter());
    !keys.is_empty()
        && (selector.any(|key| keys.contains(&crate::well_known::normalise(key.clone())))
            || wishes.any(|wish| keys.contains(wish.key())))
}

fn required(placement: &Placement) -> impl Iterator<Item = &Spread> {
    placement
        .spread
        .iter()
        .filter(|spread| spread.strength == Strength::Required)
}

/// What is counted of one place.
#[derive(Default)]
struct Count {
    /// All pods in the end.
    all: usize,
    /// Those there before, and those that came by the rule and count for it.
    at_least: usize,
    /// Somebody who came by the rule.
    newcomer: Option<String>,
}

fn judge(
    everybody: &Everybody<'_>,
    namespace: &Text,
    spread: &Spread,
    filter: &Filter<'_>,
    violations: &mut Vec<Violation>,
) {
    let meant = everybody.meant(&spread.selector, Some(std::slice::from_ref(namespace)));
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut uncertain = 0;
    let mut perhaps: BTreeMap<&str, usize> = BTreeMap::new();
    for place in &everybody.places {
        let owners = |pod: &Pod| {
            pod.key.namespace == *namespace
                && required(&pod.placement).any(|other| other == spread)
                && Filter::of(pod, spread) == *filter
        };
        let counted = |pod: &Pod, who: usize| meant[who] && pod.deletion.is_none();
        let Some(value) = place.value(&spread.topology_key) else {
            uncertain += place
                .pods
                .iter()
                .filter(|(pod, who, _)| counted(pod, *who))
                .count();
            continue;
        };
        match filter.sees(place) {
            Some(true) => {}
            Some(false) => continue,
            // Whoever came by the rule is on a node that it looks at.
            None if place.pods.iter().any(|(pod, _, new)| *new && owners(pod)) => {}
            None => {
                let here = place.pods.iter().filter(|(pod, who, _)| counted(pod, *who));
                *perhaps.entry(value).or_default() += here.count();
                continue;
            }
        }
        let count = counts.entry(value).or_default();
        for (pod, who, is_new) in &place.pods {
            let owner = *is_new && owners(pod);
            if owner {
                count.newcomer = Some(pod.key.to_string());
            }
            if counted(pod, *who) {
                count.all += 1;
                count.at_least += usize::from(!*is_new || owner);
            }
        }
    }
    for (value, more) in perhaps {
        if let Some(count) = counts.get_mut(value) {
            count.all += more;
        }
    }
    let enough = spread
        .min_domains
        .is_none_or(|wanted| counts.len() >= wanted as usize);
    let least = counts.values().map(|count| count.all).min().unwrap_or(0) + uncertain;
    let least = if enough { least } else { 0 };
    for (value, count) in &counts {
        let skew = count.at_least.saturating_sub(least);
        if let (Some(pod), true) = (&count.newcomer, skew > spread.max_skew as usize) {
            violations.push(Violation {
                place: (*value).to_owned(),
                rule: format!(
                    "pod {pod} is spread over {} with a skew of {skew}, more than {}",
                    spread.topology_key, spread.max_skew
                ),
            });
        }
    }
}
