//! What needs a place whatever is chosen: the pods of the answer as far as they themselves say where they have to be.

use std::collections::BTreeMap;

use super::demands::{Caps, Demand, Found, listed};
use crate::schedule::atoms::Bits;
use crate::schedule::problem::{Rule, Where};
use crate::schedule::state::Round;

/// All that has a place in the answer, and how many pods of each crowded group a node holds. Which place a pod is in does not
/// count, nor the weight of its pool, but where pods are spread evenly so many must be in each place. Of crowded groups at
/// most `most` count, of those that need so many `nodes` or more.
pub(in crate::schedule) fn free_demands(
    round: &mut Round<'_, '_>,
    most: usize,
    nodes: f64,
    caps: Caps,
) -> (Vec<Demand>, Vec<f64>) {
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for it in &round.state.places {
        for (class, level, count) in &it.load {
            *counts.entry((*class, *level)).or_default() += count;
        }
    }
    let mut found = Found::new();
    for ((class, level), count) in counts {
        let mut free = count;
        for (key, atom, least) in shares(round, class, level, count) {
            let atoms = round.problem.keys.atoms(key);
            let pin = round.desk.sets.only(key, Bits::one(atoms.len(), atom));
            let least = least.min(free);
            if least > 0 {
                found.insert((class, level, Some(pin), ANY), least);
                free -= least;
            }
        }
        if free > 0 {
            *found.entry((class, level, None, ANY)).or_default() += free;
        }
    }
    listed(round, found, most, nodes, caps)
}

/// Stands for the weight of whatever pool.
const ANY: u32 = 0;

/// How many of `count` pods of a class must be in each place of a label over which they are spread, at least: label, value,
/// number. Nothing where other pods are counted too or not all of the class is asked about.
fn shares(round: &Round<'_, '_>, class: usize, level: usize, count: usize) -> Vec<(usize, usize, usize)> {
    let problem = round.problem;
    let it = &problem.classes[class];
    let own = |group: &usize| {
        let feeders = problem.classes.iter().enumerate();
        let mut others = feeders.filter(|(other, it)| *other != class && it.feeds.contains(group));
        it.feeds.contains(group) && others.next().is_none()
    };
    let spread = it.level(level).rules.iter().copied().find_map(|group| {
        let about = &problem.groups[group];
        match (about.rule, about.at) {
            (Rule::Spread { skew, domains }, Where::Label(key))
                if own(&group) && about.domains.len() >= domains as usize && !about.domains.is_empty() =>
            {
                Some((group, key, skew as usize))
            }
            _ => None,
        }
    });
    let Some((group, key, skew)) = spread.filter(|_| round.state.done[class] == count) else {
        return Vec::new();
    };
    // What is counted without the pods in question.
    let mut there: Vec<usize> = round.state.counts[group]
        .iter()
        .map(|count| *count as usize)
        .collect();
    let mut seen = 0;
    for place in &round.state.places {
        let here = place
            .load
            .iter()
            .filter(|(of, at, _)| *of == class && *at == level);
        let here: usize = here.map(|(_, _, count)| count).sum();
        let value = round.desk.sets.on(place.set, key).and_then(Bits::single);
        match value {
            Some(atom) if here > 0 => {
                there[atom] = there[atom].saturating_sub(here);
                seen += here;
            }
            _ => {}
        }
    }
    if seen != count {
        return Vec::new();
    }
    let domains: Vec<usize> = problem.groups[group].domains.iter().collect();
    let counts: Vec<usize> = domains.iter().map(|atom| there[*atom]).collect();
    let least = least_crowded(&counts, count, skew);
    domains
        .into_iter()
        .map(|atom| (key, atom, least.saturating_sub(there[atom])))
        .collect()
}

/// How many the least crowded of some places has at least once `more` were spread over them: were it fewer, the others,
/// none of which takes a pod beyond the skew, could not have taken all.
fn least_crowded(counts: &[usize], more: usize, skew: usize) -> usize {
    let low = counts.iter().copied().min().unwrap_or(0);
    let room = |least: usize| {
        let taken = counts.iter().map(|count| (least + skew).saturating_sub(*count));
        taken.sum::<usize>().saturating_sub(skew)
    };
    (low..=low + more)
        .find(|least| room(*least) >= more)
        .unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::least_crowded;

    #[test]
    fn the_least_crowded_has_what_the_others_cannot_take() {
        for (counts, more, skew, want) in [
            (&[0, 0, 0][..], 9, 1, 3),
            (&[0, 0, 0], 8, 1, 2),
            (&[0, 0, 0], 7, 1, 2),
            (&[0, 0, 0], 2, 1, 0),
            (&[0, 0, 0], 9, 3, 1),
            (&[10, 0, 0], 3, 1, 1),
            (&[10, 0, 0], 30, 1, 13),
            (&[5], 4, 1, 9),
        ] {
            assert_eq!(least_crowded(counts, more, skew), want, "{counts:?} and {more}");
        }
    }
}
