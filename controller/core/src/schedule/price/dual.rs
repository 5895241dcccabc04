//! What pods are worth: prices of the linear relaxation in which nodes and pods can be divided.
//!
//! Give each column a price for each resource so that all it holds is worth its own price. A pod is then worth what it
//! takes on the column where that is least (for a bound: of those that are large enough for it), and all pods together are worth no more than any set of
//! nodes that carries them: a lower bound, whatever the prices. The prices are moved towards the resources of which most is taken.

use std::collections::BTreeMap;

use super::columns::{Columns, Purpose};
use super::demands::Demand;

/// Worth of pods and prices of resources.
pub(in crate::schedule) struct Dual {
    /// What a pod of each demand is worth.
    pub(in crate::schedule) worth: Vec<f64>,
    /// Of each lean column the price of each resource.
    pub(in crate::schedule) prices: Vec<Option<Vec<f64>>>,
    /// The column on which each demand is worth least.
    pub(in crate::schedule) best: Vec<usize>,
    /// What all pods are worth: no set of nodes that carries them costs less.
    pub(in crate::schedule) bound: f64,
}

const ROUNDS: usize = 120;

/// How many columns for the same demands the prices are sought with.
const THIN: usize = 20;

/// Demands that ask the same in the same places.
struct Item<'d> {
    sort: usize,
    takes: &'d [f64],
    count: f64,
}

/// What is worked on: items, and columns as numbers with the items' sorts that they serve.
struct Table<'d> {
    items: Vec<Item<'d>>,
    columns: &'d Columns,
    used: Vec<usize>,
    /// For each item the places in `used` of the columns that serve it and hold one of its pods.
    reach: Vec<Vec<usize>>,
}

/// The worth of items under some shares.
struct Turn {
    worth: Vec<f64>,
    best: Vec<usize>,
    bound: f64,
}

/// The worth of pods, nearly the best; less near where `stop` ends the search.
pub(in crate::schedule) fn solve(demands: &[Demand], columns: &Columns, stop: &dyn Fn() -> bool) -> Dual {
    let mut index: BTreeMap<(usize, Vec<u64>), usize> = BTreeMap::new();
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut item_of = Vec::with_capacity(demands.len());
    for (demand, sort) in demands.iter().zip(&columns.sort) {
        let key = (*sort, demand.takes.iter().map(|takes| takes.to_bits()).collect());
        let next = items.len();
        let item = *index.entry(key).or_insert(next);
        if item == next {
            items.push(Item {
                sort: *sort,
                takes: &demand.takes,
                count: 0.0,
            });
        }
        items[item].count += demand.count as f64;
        item_of.push(item);
    }
    let (thin, like) = thin(columns);
    let mut table = Table::new(items, columns, thin);
    let shares = table.seek(stop);
    // The bound must hold for every column: those left out take the shares of the one that is most like them.
    let all: Vec<usize> = columns.lean.iter().collect();
    let shares: Vec<Vec<f64>> = all
        .iter()
        .map(|id| {
            table
                .used
                .iter()
                .position(|used| *used == like[*id])
                .map_or_else(Vec::new, |at| shares[at].clone())
        })
        .collect();
    table = Table::new(table.items, columns, all);
    let turn = table.evaluate(&shares);
    let mut prices: Vec<Option<Vec<f64>>> = vec![None; columns.all.len()];
    for (id, share) in table.used.iter().zip(&shares) {
        prices[*id] = Some(table.prices(*id, share));
    }
    Dual {
        worth: item_of.iter().map(|item| turn.worth[*item]).collect(),
        best: item_of.iter().map(|item| turn.best[*item]).collect(),
        bound: turn.bound,
        prices,
    }
}

/// A few lean columns of each service, evenly over their prices, and for every lean column the chosen one most like it.
fn thin(columns: &Columns) -> (Vec<usize>, Vec<usize>) {
    let mut service: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for id in columns.lean.iter() {
        let of = (0..columns.served.len()).filter(|sort| columns.served[*sort].has(id));
        service.entry(of.collect()).or_default().push(id);
    }
    let (mut chosen, mut like) = (Vec::new(), vec![usize::MAX; columns.all.len()]);
    for mut some in service.into_values() {
        let price = |id: &usize| columns.all[*id].price;
        some.sort_by(|a, b| price(a).total_cmp(&price(b)).then(a.cmp(b)));
        let kept: Vec<usize> = if some.len() <= THIN {
            some.clone()
        } else {
            let (low, high) = (price(&some[0]).ln(), price(&some[some.len() - 1]).ln());
            let step = ((high - low) / (THIN - 1) as f64).max(1e-9);
            let mut kept: Vec<usize> = Vec::new();
            let mut next = low;
            for id in &some {
                if price(id).ln() >= next - 1e-9 {
                    kept.push(*id);
                    next = price(id).ln() + step;
                }
            }
            kept
        };
        for id in &some {
            let near = |other: &&usize| (price(other).ln() - price(id).ln()).abs();
            let nearest = kept.iter().min_by(|a, b| near(a).total_cmp(&near(b)));
            like[*id] = nearest.copied().unwrap_or(*id);
        }
        chosen.extend(kept);
    }
    (chosen, like)
}

impl<'d> Table<'d> {
    fn new(items: Vec<Item<'d>>, columns: &'d Columns, used: Vec<usize>) -> Table<'d> {
        let holds = |item: &Item<'_>, column: usize| {
            let holds = &columns.all[column].holds;
            let mut dims = item.takes.iter().zip(holds);
            columns.purpose == Purpose::Packing || dims.all(|(takes, holds)| *takes <= 0.0 || takes <= holds)
        };
        let reach = items
            .iter()
            .map(|item| {
                let served = &columns.served[item.sort];
                let suits = |at: &usize| served.has(used[*at]) && holds(item, used[*at]);
                (0..used.len()).filter(suits).collect()
            })
            .collect();
        Table {
            items,
            columns,
            used,
            reach,
        }
    }

    /// The shares of each used column's price that go to each resource.
    fn seek(&self, stop: &dyn Fn() -> bool) -> Vec<Vec<f64>> {
        let dims = self.items.first().map_or(0, |item| item.takes.len());
        let mut shares: Vec<Vec<f64>> = self
            .used
            .iter()
            .map(|id| {
                let holds = &self.columns.all[*id].holds;
                let usable = |dim: usize| holds[dim] > 0.0 && holds[dim] < 1e17;
                let count = (0..dims).filter(|dim| usable(*dim)).count().max(1) as f64;
                (0..dims)
                    .map(|dim| if usable(dim) { 1.0 / count } else { 0.0 })
                    .collect()
            })
            .collect();
        let mut average = shares.clone();
        let mut best = (self.evaluate(&shares).bound, shares.clone());
        for turn in 0..ROUNDS {
            if stop() {
                break;
            }
            let now = self.evaluate(&shares);
            if now.bound > best.0 {
                best = (now.bound, shares.clone());
            }
            self.push(&now, &mut shares, 1.5 / (1.0 + turn as f64 / 12.0));
            let part = 2.0 / (turn as f64 + 3.0);
            for (mean, share) in average.iter_mut().flatten().zip(shares.iter().flatten()) {
                *mean += (share - *mean) * part;
            }
            if turn % 10 == 9 {
                let mean = self.evaluate(&average);
                if mean.bound > best.0 {
                    best = (mean.bound, average.clone());
                }
            }
        }
        best.1
    }

    fn prices(&self, id: usize, share: &[f64]) -> Vec<f64> {
        let it = &self.columns.all[id];
        let one = |(share, holds): (&f64, &f64)| {
            if *share > 0.0 && *holds > 0.0 {
                it.price * share / holds
            } else {
                0.0
            }
        };
        share.iter().zip(&it.holds).map(one).collect()
    }

    fn evaluate(&self, shares: &[Vec<f64>]) -> Turn {
        let per: Vec<Vec<f64>> = self
            .used
            .iter()
            .zip(shares)
            .map(|(id, share)| self.prices(*id, share))
            .collect();
        let mut turn = Turn {
            worth: Vec::with_capacity(self.items.len()),
            best: Vec::with_capacity(self.items.len()),
            bound: 0.0,
        };
        for (item, reach) in self.items.iter().zip(&self.reach) {
            let (mut least, mut best) = (f64::INFINITY, usize::MAX);
            for at in reach {
                let cost: f64 = per[*at]
                    .iter()
                    .zip(item.takes)
                    .map(|(price, takes)| price * takes)
                    .sum();
                if cost < least {
                    (least, best) = (cost, *at);
                }
            }
            let worth = if best == usize::MAX { 0.0 } else { least };
            turn.worth.push(worth);
            turn.best.push(self.used.get(best).copied().unwrap_or(usize::MAX));
            turn.bound += worth * item.count;
        }
        turn
    }

    /// Moves the shares of each column towards the resources that its pods use up first.
    fn push(&self, now: &Turn, shares: &mut [Vec<f64>], step: f64) {
        let mut load: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (item, best) in self.items.iter().zip(&now.best) {
            let Some(it) = self.columns.all.get(*best) else {
                continue;
            };
            let used = load.entry(*best).or_insert_with(|| vec![0.0; item.takes.len()]);
            for ((used, takes), holds) in used.iter_mut().zip(item.takes).zip(&it.holds) {
                if *holds > 0.0 {
                    *used += item.count * takes / holds;
                }
            }
        }
        for (share, id) in shares.iter_mut().zip(&self.used) {
            let Some(used) = load.get(id) else { continue };
            let most = used.iter().copied().fold(0.0, f64::max);
            if most <= 0.0 {
                continue;
            }
            let mut total = 0.0;
            for (share, used) in share.iter_mut().zip(used) {
                if *share > 0.0 {
                    *share = (*share * (step * (used / most - 0.5)).exp()).max(1e-6);
                    total += *share;
                }
            }
            share.iter_mut().for_each(|share| *share /= total);
        }
    }
}
