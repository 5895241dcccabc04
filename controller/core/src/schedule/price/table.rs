//! Pods and nodes as the linear program sees them: kinds of pods with their number, and nodes that can be bought with what
//! they hold. Resources are counted in shares of what the largest node has, so that numbers are near one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::columns::Columns;
use super::demands::Demand;
use super::knapsack::{Goods, Takes};
use crate::schedule::atoms::Bits;

/// Demands that ask the same in the same places.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) sort: usize,
    /// What each pod takes, in shares.
    pub(super) takes: Takes,
    pub(super) count: f64,
    /// How many a node holds at most, whatever its size.
    pub(super) cap: f64,
}

/// A node that can be bought.
#[derive(Clone, Debug)]
pub(super) struct Shop {
    pub(super) column: usize,
    pub(super) price: f64,
    /// What it holds, in shares.
    pub(super) room: Vec<f64>,
    /// The items that may be on it and fit.
    pub(super) items: Vec<usize>,
}

/// The linear program.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) items: Vec<Item>,
    pub(super) takes: Vec<Takes>,
    pub(super) caps: Vec<f64>,
    pub(super) shops: Vec<Shop>,
    /// For each item the shops where it may be.
    pub(super) reach: Vec<Vec<usize>>,
}

/// What a shop asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Prices {
    /// For each resource.
    pub(super) each: Vec<f64>,
    /// For a pod of each of its items beyond that, where a node holds but a few of them.
    pub(super) beyond: Vec<f64>,
}

/// What items are worth at some prices.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) worth: Vec<f64>,
    /// The shop where each is worth least; none where it can be nowhere.
    pub(super) best: Vec<Option<usize>>,
    /// What all items are worth together.
    pub(super) bound: f64,
}

/// More than any node holds: no limit.
const UNLIMITED: f64 = 1e17;
/// Stands for no limit, in shares.
const AMPLE: f64 = 1e6;

/// What the largest node has of each resource.
pub(super) fn scale(columns: &Columns, dims: usize) -> Vec<f64> {
    let mut most = vec![1.0f64; dims];
    for column in &columns.all {
        for (most, holds) in most.iter_mut().zip(&column.holds) {
            if *holds < UNLIMITED {
                *most = most.max(*holds);
            }
        }
    }
    most
}

/// Amounts in shares.
pub(super) fn shares(amounts: &[f64], scale: &[f64]) -> Vec<f64> {
    let share = |(amount, scale): (&f64, &f64)| {
        if *amount >= UNLIMITED {
            AMPLE
        } else {
            amount.max(0.0) / scale
        }
    };
    amounts.iter().zip(scale).map(share).collect()
}

/// Demands by item, and the item of each demand.
pub(super) fn items(demands: &[Demand], sorts: &[usize], scale: &[f64]) -> (Vec<Item>, Vec<usize>) {
    let mut index: BTreeMap<(usize, Vec<u64>), usize> = BTreeMap::new();
    let mut items: Vec<Item> = Vec::new();
    let mut item_of = Vec::with_capacity(demands.len());
    for (demand, sort) in demands.iter().zip(sorts) {
        let key = (*sort, demand.takes.iter().map(|takes| takes.to_bits()).collect());
        let next = items.len();
        let item = *index.entry(key).or_insert(next);
        if item == next {
            items.push(Item {
                sort: *sort,
                takes: sparse(&shares(&demand.takes, scale)),
                count: 0.0,
                cap: 0.0,
            });
        }
        items[item].count += demand.count as f64;
        items[item].cap += demand.cap;
        item_of.push(item);
    }
    (items, item_of)
}

fn sparse(amounts: &[f64]) -> Takes {
    let taken = amounts.iter().copied().enumerate();
    taken.filter(|(_, amount)| *amount > 0.0).collect()
}

/// The cost of a pod at the prices of resources.
pub(super) fn cost(takes: &[(usize, f64)], prices: &[f64]) -> f64 {
    takes.iter().map(|(dim, takes)| prices[*dim] * takes).sum()
}

impl Table {
    /// Items, and of the columns those that are not beaten by another that holds as much for the same money and takes all
    /// that they take.
    pub(super) fn new(items: Vec<Item>, columns: &Columns, scale: &[f64]) -> Table {
        let takes: Vec<Takes> = items.iter().map(|item| item.takes.clone()).collect();
        let caps: Vec<f64> = items.iter().map(|item| item.cap).collect();
        let capped = caps.iter().any(|cap| *cap < f64::INFINITY);
        let mut offers: Vec<(Shop, Bits, Vec<f64>)> = Vec::new();
        for (id, column) in columns.all.iter().enumerate() {
            let room = shares(&column.holds, scale);
            let suits = |item: &Item| {
                columns.served[item.sort].has(id)
                    && item.takes.iter().all(|(dim, takes)| *takes <= room[*dim])
            };
            let mut bits = Bits::none(items.len());
            let mut own = Vec::new();
            for (index, _) in items.iter().enumerate().filter(|(_, item)| suits(item)) {
                bits.set(index);
                own.push(index);
            }
            if own.is_empty() {
                continue;
            }
            // Half of a node of twice the size is no node where it holds but a few of each kind.
            let each = if capped { 1.0 } else { column.price };
            let gives = |room: &f64| {
                if *room >= AMPLE {
                    f64::INFINITY
                } else {
                    room / each
                }
            };
            let mut gives: Vec<f64> = room.iter().map(gives).collect();
            gives.extend(capped.then_some(-column.price));
            let shop = Shop {
                column: id,
                price: column.price,
                room,
                items: own,
            };
            offers.push((shop, bits, gives));
        }
        // Whoever beats another comes first.
        offers.sort_by(|(a, _, mine), (b, _, theirs)| {
            let pairs = mine.iter().zip(theirs);
            let more = pairs
                .map(|(mine, theirs)| theirs.total_cmp(mine))
                .find(|order| order.is_ne());
            more.unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| (Reverse(a.items.len()), a.column).cmp(&(Reverse(b.items.len()), b.column)))
        });
        let mut kept: Vec<(Shop, Bits, Vec<f64>)> = Vec::new();
        for offer in offers {
            let beats = |other: &(Shop, Bits, Vec<f64>)| {
                offer.2.iter().zip(&other.2).all(|(mine, theirs)| theirs >= mine)
                    && offer.1.is_subset(&other.1)
            };
            if !kept.iter().any(beats) {
                kept.push(offer);
            }
        }
        let mut reach = vec![Vec::new(); items.len()];
        for (at, (shop, _, _)) in kept.iter().enumerate() {
            shop.items.iter().for_each(|item| reach[*item].push(at));
        }
        Table {
            items,
            takes,
            caps,
            shops: kept.into_iter().map(|(shop, _, _)| shop).collect(),
            reach,
        }
    }

    /// What may be on nodes.
    pub(super) fn goods(&self) -> Goods<'_> {
        Goods {
            takes: &self.takes,
            caps: &self.caps,
        }
    }

    /// Fewer items that stand for all of them, as far as sizes go; none where there are few enough.
    pub(super) fn coarser(&self, columns: &Columns, scale: &[f64], most: usize) -> Option<Table> {
        if self.items.len() <= most {
            return None;
        }
        let mut merged: Vec<Item> = Vec::new();
        for steps in [8.0f64, 4.0, 2.0, 1.0, 0.5] {
            merged = self.merged(steps);
            if merged.len() <= most {
                break;
            }
        }
        let size = |item: &Item| item.count * item.takes.iter().map(|(_, takes)| takes).sum::<f64>();
        merged.sort_by(|a, b| size(b).total_cmp(&size(a)));
        merged.truncate(most);
        Some(Table::new(merged, columns, scale))
    }

    /// One item for all whose sizes lie within the same of `steps` steps for each doubling.
    fn merged(&self, steps: f64) -> Vec<Item> {
        let mut index: BTreeMap<(usize, Vec<(usize, i64)>), usize> = BTreeMap::new();
        let mut merged: Vec<Item> = Vec::new();
        for item in self.items.iter().filter(|item| item.count > 0.0) {
            let step = |(dim, takes): &(usize, f64)| (*dim, (takes.log2() * steps).floor() as i64);
            let key = (item.sort, item.takes.iter().map(step).collect());
            let next = merged.len();
            let at = *index.entry(key).or_insert(next);
            if at == next {
                merged.push(item.clone());
                continue;
            }
            let into = &mut merged[at];
            let all = into.count + item.count;
            for ((_, takes), (_, more)) in into.takes.iter_mut().zip(&item.takes) {
                *takes = (*takes * into.count + more * item.count) / all;
            }
            into.count = all;
            into.cap += item.cap;
        }
        merged
    }

    /// What items are worth at what each shop asks; a shop that asks nothing does not count.
    pub(super) fn evaluate(&self, prices: &[Prices]) -> Turn {
        let mut least: Vec<Option<(f64, usize)>> = vec![None; self.items.len()];
        for (at, (shop, prices)) in self.shops.iter().zip(prices).enumerate() {
            if prices.each.is_empty() {
                continue;
            }
            for (own, item) in shop.items.iter().enumerate() {
                let beyond = prices.beyond.get(own).copied().unwrap_or(0.0);
                let cost = cost(&self.takes[*item], &prices.each) + beyond;
                if least[*item].is_none_or(|(known, _)| cost < known) {
                    least[*item] = Some((cost, at));
                }
            }
        }
        let worth: Vec<f64> = least
            .iter()
            .map(|least| least.map_or(0.0, |(cost, _)| cost))
            .collect();
        Turn {
            bound: worth
                .iter()
                .zip(&self.items)
                .map(|(worth, item)| worth * item.count)
                .sum(),
            best: least.into_iter().map(|least| least.map(|(_, at)| at)).collect(),
            worth,
        }
    }

    /// What a shop asks so that all that it can hold is worth its own price, in the proportions of the prices given, where pods
    /// are worth so much.
    pub(super) fn fitted(&self, at: usize, mut each: Vec<f64>, worth: &[f64]) -> Prices {
        let shop = &self.shops[at];
        let beyond = |item: &usize| match self.caps[*item] {
            f64::INFINITY => 0.0,
            _ => (worth[*item] - cost(&self.takes[*item], &each)).max(0.0),
        };
        let mut beyond: Vec<f64> = shop.items.iter().map(beyond).collect();
        let held: f64 = each
            .iter()
            .zip(&shop.room)
            .map(|(price, room)| price * room)
            .sum();
        let of = |(beyond, item): (&f64, &usize)| {
            if *beyond > 0.0 {
                beyond * self.caps[*item]
            } else {
                0.0
            }
        };
        let all = held + beyond.iter().zip(&shop.items).map(of).sum::<f64>();
        if all > 0.0 {
            let factor = shop.price / all;
            each.iter_mut()
                .chain(&mut beyond)
                .for_each(|price| *price *= factor);
            return Prices { each, beyond };
        }
        let usable = |room: f64| room > 0.0 && room < AMPLE;
        let count = shop.room.iter().filter(|room| usable(**room)).count().max(1) as f64;
        let one = |room: &f64| {
            if usable(*room) {
                shop.price / count / room
            } else {
                0.0
            }
        };
        Prices {
            each: shop.room.iter().map(one).collect(),
            beyond: Vec::new(),
        }
    }
}
