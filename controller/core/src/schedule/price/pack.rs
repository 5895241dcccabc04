//! Chooses nodes one after the other: the one whose load is worth most for its price, as often as there are pods for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::columns::Columns;
use super::demands::{Demand, loose};
use super::dual::Dual;
use super::fill::Fill;
use super::offers::Offers;
use super::shelf::{Lane, Shelf};
use crate::schedule::atoms::Bits;
use crate::schedule::desk::Payment;
use crate::schedule::problem::Where;
use crate::schedule::state::{Ask, Round};

/// What is to be packed, and with what.
pub(in crate::schedule) struct Packer {
    pub(super) demands: Vec<Demand>,
    /// How many pods of each demand have no node.
    pub(super) left: Vec<usize>,
    /// Demands that ask the same in the same places.
    pub(super) bundles: Vec<Vec<usize>>,
    /// The bundle of each demand.
    pub(super) bundle_of: Vec<usize>,
    /// Bundles of which some pods are left.
    pub(super) active: Vec<usize>,
    pub(super) columns: Columns,
    pub(super) dual: Dual,
    /// What a pod of each demand counts as worth now.
    pub(super) worth: Vec<f64>,
    /// The largest share of the largest column that a pod takes.
    pub(super) size: Vec<f64>,
    /// The resources of which some pod takes something.
    pub(super) taken: Vec<usize>,
    /// Of each bundle what a pod takes of those, one bundle after the other.
    takes: Vec<f32>,
    /// How much more a pod of each bundle counts for being large.
    bonus: Vec<f32>,
    /// The active bundles.
    pub(super) shelf: Shelf,
    /// Whether rules over hosts concern a demand.
    pub(super) bound: Vec<bool>,
    pub(super) ported: Vec<bool>,
    pub(super) hosts: Vec<u32>,
    pub(super) free: Vec<f64>,
    /// How many steps were taken.
    pub(super) spent: u64,
    /// Looks at pods that make no whole step yet.
    pub(super) looks: usize,
    /// What packing may cost before it is given up, and what it has cost.
    pub(super) budget: f64,
    cost: f64,
    /// Candidates that are passed over, by their place in the list.
    pub(super) skip: u64,
    /// How much care is taken over the choice of columns.
    care: Care,
    last: BTreeMap<usize, (usize, f64)>,
    offers: Offers,
}

/// A load is made better by exchanges if it is worth so much of the best that is known.
const CLOSE: f64 = 0.92;

/// How much care is taken over the choice of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Every candidate is tried.
    Full,
    /// The best column for pods like the last ones is taken again while it is as good.
    Some,
    /// Time is up: the first column that takes the pods is taken.
    None,
}

impl Packer {
    pub(in crate::schedule) fn new(
        demands: Vec<Demand>,
        columns: Columns,
        dual: Dual,
        round: &Round<'_, '_>,
    ) -> Packer {
        let dims = demands.first().map_or(0, |demand| demand.takes.len());
        let mut most = vec![1.0f64; dims];
        for column in &columns.all {
            for (most, holds) in most.iter_mut().zip(&column.holds) {
                *most = most.max(*holds);
            }
        }
        let size = |demand: &Demand| {
            demand
                .takes
                .iter()
                .zip(&most)
                .map(|(takes, most)| takes / most)
                .fold(0.0, f64::max)
        };
        let host = |demand: &Demand| {
            let class = &round.problem.classes[demand.class];
            let mut groups = class.feeds.iter().chain(&class.level(demand.level).rules);
            groups.any(|group| round.problem.groups[*group].at == Where::Host)
        };
        let bound: Vec<bool> = demands.iter().map(host).collect();
        let mut bundles = bundles(&demands, &columns);
        for bundle in &mut bundles {
            // Of pods that ask the same those go first that keep off each other's nodes, the most numerous before others.
            bundle.sort_by_key(|demand| (Reverse(bound[*demand]), Reverse(demands[*demand].count), *demand));
        }
        let mut bundle_of = vec![0; demands.len()];
        for (bundle, all) in bundles.iter().enumerate() {
            all.iter().for_each(|demand| bundle_of[*demand] = bundle);
        }
        let firsts = || bundles.iter().map(|bundle| &demands[bundle[0]]);
        let taken: Vec<usize> = (0..dims)
            .filter(|dim| demands.iter().any(|demand| demand.takes[*dim] > 0.0))
            .collect();
        Packer {
            takes: firsts()
                .flat_map(|demand| taken.iter().map(|dim| demand.takes[*dim] as f32))
                .collect(),
            taken,
            bonus: firsts().map(|demand| 1.0 + 0.15 * size(demand) as f32).collect(),
            shelf: Shelf::default(),
            left: vec![0; demands.len()],
            active: Vec::new(),
            worth: dual.worth.clone(),
            size: demands.iter().map(size).collect(),
            bound,
            ported: demands
                .iter()
                .map(|demand| !round.problem.classes[demand.class].ports.is_empty())
                .collect(),
            hosts: Vec::new(),
            free: Vec::new(),
            spent: 0,
            looks: 0,
            budget: f64::INFINITY,
            cost: 0.0,
            skip: 0,
            care: Care::Full,
            last: BTreeMap::new(),
            bundles,
            offers: Offers::new(&columns, &dual),
            bundle_of,
            demands,
            columns,
            dual,
        }
    }

    /// Packs what is left of some bundles; whether all found a node. Once `stop` says so the rest is packed without much care,
    /// so that there is an answer.
    pub(super) fn pack_all(
        &mut self,
        round: &mut Round<'_, '_>,
        bundles: &[usize],
        stop: &dyn Fn() -> bool,
    ) -> bool {
        self.active = bundles.to_vec();
        self.care = Care::Some;
        self.last.clear();
        let complete = self.pack(round, stop);
        self.care = Care::Full;
        complete
    }

    /// Packs what is left of the active bundles; whether all found a node.
    pub(super) fn pack(&mut self, round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) -> bool {
        self.settle();
        self.cost = 0.0;
        while let Some(head) = self.head() {
            if self.care != Care::None && stop() {
                self.care = Care::None;
            }
            if self.cost + self.owed() > self.budget {
                return false;
            }
            let Some(fill) = self.choose(round, head) else {
                if self.budget == f64::INFINITY && self.force(round, head) {
                    continue;
                }
                return false;
            };
            let mut placed = 0;
            let often = fill
                .counts
                .iter()
                .map(|(demand, count)| self.left[*demand] / count)
                .min();
            for _ in 0..often.unwrap_or(1).max(1) {
                let now = self.buy(round, &fill);
                placed += now;
                if now < fill.counts.iter().map(|(_, count)| count).sum() {
                    break;
                }
            }
            if placed == 0 && !self.force(round, head) {
                return false;
            }
            self.settle();
        }
        true
    }

    /// What the pods that are left will cost at least.
    fn owed(&self) -> f64 {
        if self.budget == f64::INFINITY {
            return 0.0;
        }
        let left = self.active.iter().flat_map(|bundle| &self.bundles[*bundle]);
        left.map(|demand| self.dual.worth[*demand] * self.left[*demand] as f64)
            .sum()
    }

    /// The demand whose pods are hardest to place.
    fn head(&self) -> Option<usize> {
        let hard = |bundle: usize| self.size[self.bundles[bundle][0]];
        let bundle = self
            .active
            .iter()
            .copied()
            .max_by(|a, b| hard(*a).total_cmp(&hard(*b)).then(b.cmp(a)))?;
        self.bundles[bundle]
            .iter()
            .copied()
            .find(|demand| self.left[*demand] > 0)
    }

    /// Forgets bundles of which no pod is left.
    fn settle(&mut self) {
        let (left, bundles) = (&self.left, &self.bundles);
        self.active
            .retain(|bundle| bundles[*bundle].iter().any(|demand| left[*demand] > 0));
        let mut shelf = std::mem::take(&mut self.shelf);
        let lanes = self.active.iter().map(|bundle| Lane {
            bundle: *bundle,
            takes: self.takes_of(*bundle),
            worth: self.worth[self.bundles[*bundle][0]] as f32,
            bonus: self.bonus[*bundle],
        });
        shelf.put_up(self.taken.len(), lanes);
        self.shelf = shelf;
    }

    /// What a pod of a bundle takes of the resources that are taken.
    pub(super) fn takes_of(&self, bundle: usize) -> &[f32] {
        let dims = self.taken.len();
        &self.takes[bundle * dims..][..dims]
    }

    fn choose(&mut self, round: &Round<'_, '_>, head: usize) -> Option<Fill> {
        let key = self.columns.sort[head];
        let last = self.last.get(&key).copied();
        if let (true, Some((column, rank))) = (self.care != Care::Full, last)
            && let Some(fill) = self.fill(round, column, head, 0.0)
            && (fill.rank >= rank * 0.985 || self.care == Care::None)
        {
            return Some(fill);
        }
        if self.care == Care::None {
            let first = Some(self.dual.best[head]).filter(|column| *column < self.columns.all.len());
            let others = self.candidates(head);
            let mut some = first.into_iter().chain(others);
            return some.find_map(|column| self.fill(round, column, head, 0.0));
        }
        let mut best: Option<Fill> = None;
        for (index, column) in self.candidates(head).into_iter().enumerate() {
            let skipped = self.skip >> (index % 64) & 1 == 1;
            if skipped || self.columns.all[column].price + self.cost > self.budget {
                continue;
            }
            let least = best.as_ref().map_or(0.0, |known| known.rank * CLOSE);
            let Some(fill) = self.fill(round, column, head, least) else {
                continue;
            };
            // Of all but equal ones the larger: fewer nodes.
            let better = best.as_ref().is_none_or(|known| {
                let (new, old) = (&self.columns.all[column], &self.columns.all[known.column]);
                fill.rank > known.rank * 1.002 || (fill.rank > known.rank * 0.998 && new.price > old.price)
            });
            if better {
                best = Some(fill);
            }
        }
        if let Some(fill) = &best {
            self.last.insert(key, (fill.column, fill.rank));
        }
        best
    }

    fn candidates(&mut self, head: usize) -> Vec<usize> {
        let bundle = self.bundle_of[head];
        self.offers.of(
            bundle,
            &self.demands[head].takes,
            self.dual.worth[head],
            &self.columns.served[self.columns.sort[head]],
            &self.columns,
            &self.dual,
        )
    }

    /// Opens a claim with a load; how many pods it took.
    fn buy(&mut self, round: &mut Round<'_, '_>, fill: &Fill) -> usize {
        let column = &self.columns.all[fill.column];
        let (pool, kind) = (column.pool, column.kind);
        if round.exceeds(pool, kind) {
            return 0;
        }
        let model = &round.problem.pools[pool];
        // Where a variety of types is wanted a claim begins with all of them.
        let varied = !model.min_values.is_empty();
        let kinds = if varied {
            round.within_limits(pool)
        } else {
            Bits::one(model.kinds.len(), kind)
        };
        let place = round.blank(pool, kinds);
        let mut placed = 0;
        for (demand, count) in &fill.counts {
            let it = &self.demands[*demand];
            let ask = Ask {
                class: it.class,
                level: it.level,
                most: (*count).min(self.left[*demand]),
                pin: it.pin,
            };
            let mut count = 0;
            while count < ask.most {
                let now = round.put(
                    place,
                    Ask {
                        most: ask.most - count,
                        ..ask
                    },
                );
                if now == 0 {
                    break;
                }
                count += now;
            }
            if count > 0 {
                self.left[*demand] -= count;
                round.state.places[place].packed.push((*demand, count));
                placed += count;
            }
        }
        if placed == 0 {
            round.state.places.pop();
            round.state.slack.pop();
        } else {
            round.settle(place);
            self.cost += round.price(place) as f64;
        }
        placed
    }

    /// Opens whatever claim takes a pod of `head`, where no column did.
    fn force(&mut self, round: &mut Round<'_, '_>, head: usize) -> bool {
        let it = &self.demands[head];
        let ask = Ask {
            class: it.class,
            level: it.level,
            most: self.left[head],
            pin: it.pin,
        };
        let count = round.open(ask);
        if count > 0 {
            let last = round.state.places.len() - 1;
            round.state.places[last].packed.push((head, count));
            self.left[head] -= count;
            self.cost += round.price(last) as f64;
            self.settle();
        }
        count > 0
    }

    /// Notes which demands are on the claims of an answer that was not made here.
    pub(super) fn adopt(&mut self, round: &mut Round<'_, '_>) {
        self.left.iter_mut().for_each(|left| *left = 0);
        self.active.clear();
        let index: BTreeMap<_, usize> = self
            .demands
            .iter()
            .enumerate()
            .map(|(id, demand)| ((demand.class, demand.level, demand.pin, demand.weight), id))
            .collect();
        for place in round.problem.nodes.len()..round.state.places.len() {
            let Some(weight) = loose(round, place) else {
                continue;
            };
            let mut packed = Vec::new();
            for (class, level, count) in round.state.places[place].load.clone() {
                let pin = super::demands::pin(round, place, class, level);
                packed.extend(index.get(&(class, level, pin, weight)).map(|id| (*id, count)));
            }
            round.state.places[place].packed = packed;
            round.settle(place);
        }
    }
}

/// Demands that ask the same in the same places, the larger bundles' first demand first.
fn bundles(demands: &[Demand], columns: &Columns) -> Vec<Vec<usize>> {
    let mut index: BTreeMap<(usize, Vec<u64>), usize> = BTreeMap::new();
    let mut bundles: Vec<Vec<usize>> = Vec::new();
    for (id, demand) in demands.iter().enumerate() {
        let key = (
            columns.sort[id],
            demand.takes.iter().map(|takes| takes.to_bits()).collect(),
        );
        let next = bundles.len();
        let bundle = *index.entry(key).or_insert(next);
        if bundle == next {
            bundles.push(Vec::new());
        }
        bundles[bundle].push(id);
    }
    bundles
}

impl Round<'_, '_> {
    /// An empty claim of a pool that may become these kinds.
    pub(super) fn blank(&mut self, pool: usize, kinds: Bits) -> usize {
        self.add_claim(pool, kinds, Payment::Market)
    }
}
