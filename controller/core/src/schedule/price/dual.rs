//! What pods are worth: prices of the linear relaxation in which nodes and pods can be divided.
//!
//! Give each node that can be bought a price for each of its resources so that all it holds is worth its own price. A pod is
//! then worth what it takes on the node where that is least, of those that are large enough for it, and all pods together are
//! worth no more than any set of nodes that carries them: a lower bound, whatever the prices.
//!
//! The best prices come from column generation: a program of few loads says what pods are worth, the best load of each node
//! at that worth says whether it was too much, and such loads join the program until none is left.

use super::columns::Columns;
use super::demands::Demand;
use super::knapsack::{Knapsack, Takes};
use super::program::Program;
use super::table::{Item, Prices, Table, Turn, cost, items, scale};

/// Worth of pods and prices of resources.
pub(in crate::schedule) struct Dual {
    /// What a pod of each demand is worth.
    pub(in crate::schedule) worth: Vec<f64>,
    /// Of each column that is not beaten by another the price of each resource.
    pub(in crate::schedule) prices: Vec<Option<Vec<f64>>>,
    /// The column on which each demand is worth least.
    pub(in crate::schedule) best: Vec<usize>,
    /// What all pods are worth: no set of nodes that carries them costs less.
    pub(in crate::schedule) bound: f64,
    /// Demands that ask the same in the same places, with what a pod of each is worth.
    pub(super) items: Vec<(Item, f64)>,
    /// What is counted as one of each resource.
    pub(super) scale: Vec<f64>,
}

/// The most rounds of column generation.
const ROUNDS: usize = 150;
/// The most shops of which loads join the program in a round.
const LOADS: usize = 40;
/// The most further loads of each, of other items.
const MORE: usize = 6;
/// How often the program looks again at the loads that it knows.
const AGAIN: usize = 50;
/// The most items the program is made with.
const ITEMS: usize = 400;
/// How near to the optimum is near enough.
const NEAR: f64 = 5e-4;
/// A load joins the program if it is worth so much of its shop's price or more.
const ENOUGH: f64 = 1.0 + 1e-7;
/// How much of the best worth so far is in the worth that is tried next.
const CALM: f64 = 0.6;

/// The worth of pods, nearly the best; less near where it takes more than `work` or `stop` ends the search.
pub(in crate::schedule) fn solve(
    demands: &[Demand],
    columns: &Columns,
    work: usize,
    stop: &dyn Fn() -> bool,
) -> Dual {
    let dims = demands.first().map_or(0, |demand| demand.takes.len());
    let scale = scale(columns, dims);
    let (items, item_of) = items(demands, &columns.sort, &scale);
    let exact = Table::new(items, columns, &scale);
    let (prices, turn) = match exact.coarser(columns, &scale, ITEMS) {
        None => seek(&exact, work, stop),
        Some(coarse) => {
            let (prices, _) = seek(&coarse, work, stop);
            let worth = transferred(&exact, &coarse, &prices, columns);
            let mut priced = Vec::with_capacity(exact.shops.len());
            for (at, shop) in exact.shops.iter().enumerate() {
                let mut node = Knapsack::new(&shop.room, exact.items.len());
                node.solve(&shop.items, exact.goods(), &worth);
                priced.push(exact.fitted(at, node.prices(), &worth));
            }
            let turn = exact.evaluate(&priced);
            (priced, turn)
        }
    };
    let mut by_column: Vec<Option<Vec<f64>>> = vec![None; columns.all.len()];
    for (shop, prices) in exact.shops.iter().zip(prices) {
        let each = prices.each.iter().zip(&scale).map(|(price, scale)| price / scale);
        by_column[shop.column] = Some(each.collect());
    }
    let best = |item: &usize| turn.best[*item].map_or(usize::MAX, |at| exact.shops[at].column);
    Dual {
        worth: item_of.iter().map(|item| turn.worth[*item]).collect(),
        best: item_of.iter().map(best).collect(),
        bound: turn.bound,
        prices: by_column,
        items: exact.items.into_iter().zip(turn.worth).collect(),
        scale,
    }
}

/// What items are worth at the prices that were found with fewer.
fn transferred(exact: &Table, coarse: &Table, prices: &[Prices], columns: &Columns) -> Vec<f64> {
    let worth = |item: &Item| {
        let serves = |at: &usize| {
            let shop = &coarse.shops[*at];
            columns.served[item.sort].has(shop.column)
                && item.takes.iter().all(|(dim, takes)| *takes <= shop.room[*dim])
        };
        let costs = (0..coarse.shops.len())
            .filter(serves)
            .map(|at| cost(&item.takes, &prices[at].each));
        costs.min_by(f64::total_cmp).unwrap_or(0.0)
    };
    exact.items.iter().map(worth).collect()
}

/// Prices for each shop, and what items are worth at them.
fn seek(table: &Table, work: usize, stop: &dyn Fn() -> bool) -> (Vec<Prices>, Turn) {
    let mut nodes: Vec<Knapsack> = table
        .shops
        .iter()
        .map(|shop| Knapsack::new(&shop.room, table.items.len()))
        .collect();
    let rows: Vec<usize> = (0..table.items.len())
        .filter(|item| !table.reach[*item].is_empty())
        .collect();
    let mut row_of = vec![usize::MAX; table.items.len()];
    rows.iter()
        .enumerate()
        .for_each(|(row, item)| row_of[*item] = row);
    let alone: Vec<(usize, f64)> = rows.iter().map(|item| alone(table, *item)).collect();
    let counts = rows.iter().map(|item| table.items[*item].count);
    let mut program = Program::new(
        &counts
            .zip(alone.iter().map(|(_, worth)| *worth))
            .collect::<Vec<_>>(),
    );
    // Not every shop is asked in every round: most never have anything to say.
    let mut awake: Vec<usize> = alone.iter().map(|(at, _)| *at).collect();
    awake.sort_unstable();
    awake.dedup();
    let mut best: Option<Turn> = None;
    let mut found = vec![0.0; table.items.len()];
    let mut calm = 0.0;
    for _ in 0..ROUNDS {
        let mut worth = vec![0.0; table.items.len()];
        for (item, price) in rows.iter().zip(program.worth()) {
            let known = best.as_ref().map_or(0.0, |turn| turn.worth[*item]);
            worth[*item] = calm * known + (1.0 - calm) * price.max(0.0);
        }
        let (prices, mut loads) = offers(table, &mut nodes, &awake, &worth);
        let turn = table.evaluate(&prices);
        if best.as_ref().is_none_or(|known| turn.bound > known.bound) {
            best = Some(turn);
        }
        if stop() || program.work() > work {
            break;
        }
        loads.truncate(LOADS);
        let mut joined = 0;
        for (_, at) in loads {
            for load in several(table, &mut nodes[at], at, &worth) {
                let load = load.iter().map(|(item, count)| (row_of[*item], *count));
                joined += usize::from(program.join(table.shops[at].price, load.collect()));
            }
        }
        program.settle(AGAIN);
        let known = best.as_ref().map_or(0.0, |turn| turn.bound);
        let near = known >= program.total() * (1.0 - NEAR) || (joined == 0 && calm == 0.0);
        calm = if joined == 0 { 0.0 } else { CALM };
        if near {
            // What counted as the best does not know those that will join.
            found = best.take().map_or(worth, |turn| turn.worth);
            let all: Vec<usize> = (0..nodes.len())
                .filter(|at| awake.binary_search(at).is_err())
                .collect();
            let (_, loads) = offers(table, &mut nodes, &all, &found);
            let before = awake.len();
            let loud = loads.iter().filter(|(share, _)| *share > 1.0 + NEAR).take(LOADS);
            awake.extend(loud.map(|(_, at)| *at));
            if awake.len() == before {
                break;
            }
            awake.sort_unstable();
            calm = 0.0;
        }
    }
    let all: Vec<usize> = (0..nodes.len()).collect();
    let worth = best.as_ref().map_or(&found, |turn| &turn.worth);
    let (prices, _) = offers(table, &mut nodes, &all, worth);
    let turn = table.evaluate(&prices);
    (prices, turn)
}

/// The best load of a shop, and others of what is not in it, as long as they are worth more than the shop's price.
fn several(table: &Table, node: &mut Knapsack, at: usize, worth: &[f64]) -> Vec<Takes> {
    let shop = &table.shops[at];
    let mut left = worth.to_vec();
    let mut loads = vec![node.load(&table.caps)];
    for more in 0..MORE {
        loads[more].iter().for_each(|(item, _)| left[*item] = 0.0);
        if node.solve(&shop.items, table.goods(), &left) <= shop.price * ENOUGH {
            break;
        }
        loads.push(node.load(&table.caps));
    }
    loads
}

/// For each shop of `asked` prices at which its best load is worth its own, and the shops whose best load is worth more than
/// that at `worth`, the most by far first.
fn offers(
    table: &Table,
    nodes: &mut [Knapsack],
    asked: &[usize],
    worth: &[f64],
) -> (Vec<Prices>, Vec<(f64, usize)>) {
    let mut prices = vec![Prices::default(); nodes.len()];
    let mut loads: Vec<(f64, usize)> = Vec::new();
    for at in asked {
        let (node, shop) = (&mut nodes[*at], &table.shops[*at]);
        let most = node.solve(&shop.items, table.goods(), worth);
        prices[*at] = table.fitted(*at, node.prices(), worth);
        if most > shop.price * ENOUGH {
            loads.push((most / shop.price, *at));
        }
    }
    loads.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    (prices, loads)
}

/// The shop that carries an item alone at the least cost, and what a pod costs there.
fn alone(table: &Table, item: usize) -> (usize, f64) {
    let takes = &table.items[item].takes;
    let each = |at: &usize| {
        let shop = &table.shops[*at];
        let most = takes.iter().map(|(dim, takes)| shop.room[*dim] / takes);
        (*at, shop.price / most.fold(table.caps[item].min(1e6), f64::min))
    };
    let all = table.reach[item].iter().map(each);
    all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}
