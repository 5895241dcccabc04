//! Who a pod is to the rules of other pods: its namespace, and its labels as far as any selector looks at them.

use std::collections::BTreeMap;

use crate::requirements::{Absence, Values};
use crate::snapshot::{Pod, PodSelector};

/// Everybody who differs to some selector.
pub(super) struct Identities<'a> {
    /// The labels that selectors look at.
    keys: Vec<&'a str>,
    index: BTreeMap<(&'a str, Vec<Option<&'a str>>), usize>,
    /// For each identity: a namespace and values in the order of the labels.
    all: Vec<(&'a str, Vec<Option<&'a str>>)>,
    /// Identities by a label's place and value.
    by_value: BTreeMap<(usize, &'a str), Vec<usize>>,
}

impl<'a> Identities<'a> {
    /// Nobody yet; selectors look at `keys`, which are sorted.
    pub(super) fn new(keys: Vec<&'a str>) -> Identities<'a> {
        Identities {
            keys,
            index: BTreeMap::new(),
            all: Vec::new(),
            by_value: BTreeMap::new(),
        }
    }

    /// The identity of a pod.
    pub(super) fn of(&mut self, pod: &'a Pod) -> usize {
        let values: Vec<Option<&'a str>> = self
            .keys
            .iter()
            .map(|key| pod.labels.get(*key).map(|value| &**value))
            .collect();
        let who = (&*pod.key.namespace, values);
        if let Some(known) = self.index.get(&who) {
            return *known;
        }
        let id = self.all.len();
        for (place, value) in who.1.iter().enumerate() {
            if let Some(value) = value {
                self.by_value.entry((place, value)).or_default().push(id);
            }
        }
        self.all.push(who.clone());
        self.index.insert(who, id);
        id
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The identities that a selector means in `namespaces` (in every one where absent).
    pub(super) fn selected(&self, selector: &PodSelector, namespaces: Option<&[&str]>) -> Vec<usize> {
        if selector.matches_nothing {
            return Vec::new();
        }
        let placed: Vec<(usize, &crate::requirements::Requirement)> = selector
            .labels
            .iter()
            .map(|one| {
                let place = self.keys.binary_search(&&**one.key()).unwrap_or(usize::MAX);
                (place, one)
            })
            .collect();
        let means = |id: &usize| {
            let (namespace, values) = &self.all[*id];
            namespaces.is_none_or(|all| all.contains(namespace))
                && placed
                    .iter()
                    .all(|(place, one)| one.allows(values.get(*place).copied().flatten()))
        };
        let narrow = placed
            .iter()
            .find_map(|(place, one)| match (one.values(), one.absence()) {
                (Values::Only(values), Absence::Refused) => Some((*place, values)),
                _ => None,
            });
        match narrow {
            Some((place, values)) => {
                let mut some: Vec<usize> = values
                    .iter()
                    .filter_map(|value| self.by_value.get(&(place, &**value)))
                    .flatten()
                    .copied()
                    .filter(means)
                    .collect();
                some.sort_unstable();
                some
            }
            None => (0..self.all.len()).filter(means).collect(),
        }
    }
}
