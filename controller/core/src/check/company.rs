//! Pods that must or must not be together. Only what is certain is judged: places whose label has one value.

use std::collections::BTreeMap;

use super::Violation;
use super::places::Everybody;
use crate::snapshot::PodTerm;

/// How many pods that a term means share a value: all, and those that the schedule put there.
type Shared<'e> = BTreeMap<&'e str, (usize, usize)>;

pub(super) fn check(everybody: &Everybody<'_>, violations: &mut Vec<Violation>) {
    let mut known: BTreeMap<&PodTerm, (Vec<bool>, Shared<'_>)> = BTreeMap::new();
    for place in &everybody.places {
        for (pod, who, is_new) in &place.pods {
            let placement = &pod.placement;
            for term in &placement.anti_affinity {
                let Some(value) = place.value(&term.topology_key) else {
                    continue;
                };
                let (meant, shared) = known.entry(term).or_insert_with(|| count(everybody, term));
                let (all, new) = shared.get(value).copied().unwrap_or_default();
                let own = usize::from(meant[*who]);
                let (others, new_others) = (all - own, new - if *is_new { own } else { 0 });
                // One of the two must have been put there now.
                if others > 0 && (*is_new || new_others > 0) {
                    violations.push(Violation {
                        place: place.name.clone(),
                        rule: format!(
                            "pod {} must not share {} with {others} others",
                            pod.key, term.topology_key
                        ),
                    });
                }
            }
            for term in placement.affinity.iter().filter(|_| *is_new) {
                let Some(value) = place.value(&term.topology_key) else {
                    continue;
                };
                let (_, shared) = known.entry(term).or_insert_with(|| count(everybody, term));
                if shared.get(value).is_none_or(|(all, _)| *all == 0) {
                    violations.push(Violation {
                        place: place.name.clone(),
                        rule: format!(
                            "pod {} lacks the company it wants on {}",
                            pod.key, term.topology_key
                        ),
                    });
                }
            }
        }
    }
}

fn count<'e>(everybody: &'e Everybody<'_>, term: &PodTerm) -> (Vec<bool>, Shared<'e>) {
    let meant = everybody.meant(&term.selector, term.namespaces.as_deref());
    let mut shared = Shared::new();
    for place in &everybody.places {
        let Some(value) = place.value(&term.topology_key) else {
            continue;
        };
        for (_, _, is_new) in place.pods.iter().filter(|(_, who, _)| meant[*who]) {
            let (all, new) = shared.entry(value).or_default();
            *all += 1;
            *new += usize::from(*is_new);
        }
    }
    (meant, shared)
}
