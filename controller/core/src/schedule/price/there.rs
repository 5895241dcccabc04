//! What nodes that are there spare: whatever an answer puts on them, it need not buy.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::dual::Dual;
use super::knapsack::{Knapsack, Takes};
use super::table::shares;
use crate::schedule::state::{Round, State};

/// The bound without what nodes that are there may carry, at most, at the prices of the bound. Pods count for nothing where
/// those that share such nodes, directly or by way of others, are worth less than that.
pub(in crate::schedule) fn spared(round: &mut Round<'_, '_>, columns: &Columns, dual: &Dual) -> f64 {
    let problem = round.problem;
    let takes: Vec<Takes> = dual.items.iter().map(|(item, _)| item.takes.clone()).collect();
    let worth: Vec<f64> = dual.items.iter().map(|(_, worth)| *worth).collect();
    if problem.nodes.is_empty() {
        return dual.bound;
    }
    let mut parties = Parties::new(dual.items.len());
    let slack = State::new(problem).slack;
    let mut carried: Vec<(usize, f64)> = Vec::new();
    let mut suited: BTreeMap<(usize, usize), Vec<bool>> = BTreeMap::new();
    for (node, slack) in problem.nodes.iter().zip(slack) {
        if slack[3] == i64::MIN {
            continue;
        }
        let sorts = suited.entry((node.set.index(), node.taints)).or_insert_with(|| {
            let mut all = Vec::with_capacity(columns.sorts.len());
            for (wanted, pin, _, bears) in &columns.sorts {
                let pinned = pin.is_none_or(|pin| round.desk.implies(node.set, pin));
                all.push(
                    pinned
                        && bears.has(node.taints)
                        && wanted.iter().any(|one| round.desk.implies(node.set, *one)),
                );
            }
            all
        });
        let mut free: Vec<f64> = node.free.iter().map(|free| *free as f64).collect();
        // How many pods of a group are on a node that is there is not asked.
        free.resize(dual.scale.len(), f64::INFINITY);
        let room = shares(&free, &dual.scale);
        let here: Vec<usize> = (0..dual.items.len())
            .filter(|item| {
                let it = &dual.items[*item].0;
                sorts[it.sort] && it.takes.iter().all(|(dim, takes)| *takes <= room[*dim])
            })
            .collect();
        if let Some(first) = here.first() {
            let most = Knapsack::new(&room, takes.len()).most(&here, &takes, &worth, &room);
            let all: f64 = here
                .iter()
                .map(|item| worth[*item] * dual.items[*item].0.count)
                .sum();
            carried.push((*first, most.min(all)));
            parties.join(&here);
        }
    }
    let mut left: BTreeMap<usize, f64> = BTreeMap::new();
    for (index, (item, worth)) in dual.items.iter().enumerate() {
        *left.entry(parties.of(index)).or_default() += item.count * worth;
    }
    for (item, most) in carried {
        *left.entry(parties.of(item)).or_default() -= most;
    }
    left.into_values().map(|left| left.max(0.0)).sum()
}

/// Items that share nodes that are there, directly or by way of others.
pub(super) struct Parties(Vec<usize>);

impl Parties {
    /// So many items, none of which shares a node with another as yet.
    pub(super) fn new(items: usize) -> Parties {
        Parties((0..items).collect())
    }

    pub(super) fn of(&self, item: usize) -> usize {
        let mut at = item;
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    pub(super) fn join(&mut self, items: &[usize]) {
        let Some((first, others)) = items.split_first() else {
            return;
        };
        let mut head = self.of(*first);
        for other in others {
            let known = self.of(*other);
            let low = head.min(known);
            (self.0[head], self.0[known]) = (low, low);
            head = low;
            // Short ways.
            self.0[*other] = low;
        }
        self.0[*first] = head;
    }
}

#[cfg(test)]
mod tests {
    use super::Parties;

    #[test]
    fn who_meets_is_of_one_party() {
        let mut parties = Parties::new(6);
        parties.join(&[4, 5]);
        parties.join(&[1, 2]);
        parties.join(&[]);
        parties.join(&[5, 2]);
        let of: Vec<usize> = (0..6).map(|item| parties.of(item)).collect();
        assert_eq!(of, [0, 1, 1, 3, 1, 1]);
    }
}
