//! What the rules that bind pods to others allow at the moment.

use super::Round;
use crate::schedule::atoms::{ABSENT, Bits};
use crate::schedule::problem::{Rule, Where};

/// Whether a rule keeps pods away from counted ones.
pub(super) const fn is_apart(rule: Rule) -> bool {
    matches!(rule, Rule::Apart | Rule::Repelled)
}

impl Round<'_, '_> {
    /// How many more pods of a class a host may take on which groups count `hosts`.
    pub(in crate::schedule) fn host_room(
        &self,
        class: usize,
        level: usize,
        hosts: &[u32],
        new: bool,
    ) -> usize {
        let it = &self.problem.classes[class];
        let mut room = usize::MAX;
        for group in &it.level(level).rules {
            let rule = self.problem.groups[*group].rule;
            if self.problem.groups[*group].at != Where::Host {
                continue;
            }
            let there = hosts[self.problem.groups[*group].host];
            let own = it.feeds.binary_search(group).is_ok();
            let here = match rule {
                Rule::Spread { skew, .. } if own => skew.saturating_sub(there) as usize,
                Rule::Spread { skew, .. } if there > skew => 0,
                Rule::Spread { .. } => usize::MAX,
                Rule::Together if there > 0 || (own && self.state.anywhere[*group] == 0) => usize::MAX,
                Rule::Together => 0,
                Rule::Apart | Rule::Repelled if there > 0 => 0,
                Rule::Apart | Rule::Repelled if own => 1,
                Rule::Apart | Rule::Repelled => usize::MAX,
                Rule::Share { most } if new => most.saturating_sub(there) as usize,
                Rule::Share { .. } => usize::MAX,
            };
            room = room.min(here);
        }
        room
    }

    /// The labels, hostname aside, over which the rules of a class speak.
    pub(in crate::schedule) fn label_keys(&self, class: usize, level: usize) -> Vec<usize> {
        let mut keys: Vec<usize> = Vec::new();
        if self.frozen {
            return keys;
        }
        keys.extend(&self.problem.classes[class].leads);
        for group in &self.problem.classes[class].level(level).rules {
            if let Where::Label(key) = self.problem.groups[*group].at
                && !keys.contains(&key)
            {
                keys.push(key);
            }
        }
        keys
    }

    /// Whether a class has rules of its own over a label that depend on what is placed, and not only those of pods that keep
    /// it away.
    pub(in crate::schedule) fn is_pinned(&self, class: usize, level: usize) -> bool {
        let it = &self.problem.classes[class];
        let own = |group: &usize| {
            let group = &self.problem.groups[*group];
            matches!(group.at, Where::Label(_)) && group.rule != Rule::Repelled && group.fed
        };
        !self.frozen && (!it.leads.is_empty() || it.level(level).rules.iter().any(own))
    }

    /// The values of a label that the rules of a class allow now, whether exactly one must be chosen, and how many pods
    /// may take one value at once.
    pub(in crate::schedule) fn allowed(&self, class: usize, level: usize, key: usize) -> (Bits, bool, usize) {
        let it = &self.problem.classes[class];
        let atoms = self.problem.keys.atoms(key);
        let mut allowed = Bits::all(atoms.len());
        let (mut single, mut most) = (it.leads.contains(&key), usize::MAX);
        for group in &it.level(level).rules {
            let about = &self.problem.groups[*group];
            if about.at != Where::Label(key) {
                continue;
            }
            let counts = &self.state.counts[*group];
            let own = it.feeds.binary_search(group).is_ok();
            match about.rule {
                Rule::Spread { skew, domains } => {
                    let least = if (about.domains.len() as u64) < u64::from(domains) {
                        0
                    } else {
                        about.domains.iter().map(|atom| counts[atom]).min().unwrap_or(0)
                    };
                    let top = least.saturating_add(skew).saturating_sub(u32::from(own));
                    let mut fair = Bits::none(atoms.len());
                    (0..atoms.len())
                        .filter(|atom| atoms.is_named(*atom) && counts[*atom] <= top)
                        .for_each(|atom| fair.set(atom));
                    allowed = allowed.and(&fair);
                    single |= about.fed;
                    if own {
                        most = 1;
                    }
                }
                Rule::Together => {
                    let founds = self.state.anywhere[*group] == 0;
                    let mut there = Bits::none(atoms.len());
                    (0..atoms.len())
                        .filter(|atom| atoms.is_named(*atom) && (counts[*atom] > 0 || (founds && own)))
                        .for_each(|atom| there.set(atom));
                    allowed = allowed.and(&there);
                    single |= founds;
                }
                Rule::Apart | Rule::Repelled => {
                    (0..atoms.len())
                        .filter(|atom| counts[*atom] > 0)
                        .for_each(|atom| allowed.clear(atom));
                    if own {
                        most = 1;
                    }
                    single |= (about.rule == Rule::Apart && about.fed) || own;
                }
                Rule::Share { .. } => {}
            }
        }
        (allowed, single, most)
    }

    /// How crowded a value is to the rules of a class; less is better.
    pub(in crate::schedule) fn crowd(&self, class: usize, level: usize, key: usize, atom: usize) -> u64 {
        let rules = self.problem.classes[class].level(level).rules.iter();
        rules
            .filter(|group| {
                let about = &self.problem.groups[**group];
                about.at == Where::Label(key) && matches!(about.rule, Rule::Spread { .. })
            })
            .map(|group| u64::from(self.state.counts[*group][atom]))
            .sum()
    }

    /// Whether a place that is there may take a pod as far as rules over labels go, and how many at once.
    pub(super) fn settled_room(&self, class: usize, level: usize, place: usize) -> usize {
        let mut room = usize::MAX;
        for key in self.label_keys(class, level) {
            let (allowed, _, most) = self.allowed(class, level, key);
            let set = self.state.places[place].set;
            let missing = Bits::one(self.problem.keys.atoms(key).len(), ABSENT);
            let here = self.desk.sets.on(set, key).unwrap_or(&missing);
            if !here.is_subset(&allowed) {
                return 0;
            }
            room = room.min(most);
        }
        room
    }
}
