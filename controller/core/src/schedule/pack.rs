//! Which instance type to buy for the pods at hand: the one that costs least for what it would carry.
//!
//! A pod's worth is what its share of the best-suited type costs: the lowest price, over all types, of the largest
//! part of any resource that it takes. A type filled with pods then has a price and a worth, and the best has the
//! least price for its worth. Filled types of equal rank are told apart by size and name, so the answer is the same
//! every time.

use std::cmp::Ordering;

use super::offer::{Kind, Profile};
use crate::money::Price;
use crate::resources::Resources;

/// Pods that are alike and still need a place.
#[derive(Clone, Copy)]
pub(super) struct Demand<'a> {
    /// Which shape they are of.
    pub(super) shape: usize,
    /// What each asks for.
    pub(super) requests: &'a Resources,
    /// How many there are.
    pub(super) count: usize,
    /// How many may share a node.
    pub(super) together: usize,
    /// What each is worth; from [`worth`].
    pub(super) worth: u128,
}

/// A type and what it would carry.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// Index of the kind.
    pub(super) kind: usize,
    /// How many pods of each demand, in the order of the demands.
    pub(super) counts: Vec<usize>,
    /// What they ask for together.
    pub(super) total: Resources,
    price: Price,
    worth: u128,
}

/// What a node costs beyond its price, in micro-dollars an hour: of two ways that cost all but the same, the one with
/// fewer nodes is better.
const NODE_FEE: u128 = 500;

/// Parts of a micro-dollar in which worth is counted.
const SCALE: u128 = 1 << 32;

/// What a pod with these requests is worth under `profile`; none where no kind can carry it.
pub(super) fn worth(requests: &Resources, kinds: &[Kind<'_>], profile: &Profile) -> Option<u128> {
    let share = |(kind, price): (&Kind<'_>, &Option<Price>)| {
        let price = (*price)?;
        if !requests.fits(&kind.usable) {
            return None;
        }
        let parts = requests.iter().map(|(name, wanted)| {
            let wanted = u128::try_from(wanted).unwrap_or(0);
            let usable = u128::try_from(kind.usable.get(&name)).unwrap_or(0);
            // Of what the type lacks the pod asks for nothing, or it would not fit.
            (cost(price) * SCALE * wanted).checked_div(usable).unwrap_or(0)
        });
        parts.max()
    };
    kinds.iter().zip(&profile.prices).filter_map(share).min()
}

/// The loads of the kinds for which `usable` holds, the best first. Every load carries at least one pod of the first
/// demand; the other demands are tried in their order.
pub(super) fn loads(
    demands: &[Demand<'_>],
    kinds: &[Kind<'_>],
    profile: &Profile,
    usable: impl Fn(usize) -> bool,
) -> Vec<Load> {
    let load = |(index, (kind, price)): (usize, (&Kind<'_>, &Option<Price>))| {
        let price = (*price)?;
        if !usable(index) {
            return None;
        }
        let (counts, total) = fill(demands, &kind.usable);
        if counts.first().is_none_or(|count| *count == 0) {
            return None;
        }
        let worth = demands
            .iter()
            .zip(&counts)
            .map(|(demand, count)| demand.worth * u128_of(*count))
            .sum();
        Some(Load {
            kind: index,
            counts,
            total,
            price,
            worth,
        })
    };
    let mut loads: Vec<Load> = kinds
        .iter()
        .zip(&profile.prices)
        .enumerate()
        .filter_map(load)
        .collect();
    loads.sort_by(|a, b| {
        a.rank(b)
            .then_with(|| kinds[a.kind].it.name.cmp(&kinds[b.kind].it.name))
    });
    loads
}

impl Load {
    /// Less is better: the price for the worth; where that is equal, fewer and larger nodes.
    pub(super) fn rank(&self, other: &Load) -> Ordering {
        let of = |load: &Load, other: &Load| (cost(load.price) + NODE_FEE).saturating_mul(other.worth);
        let density = of(self, other).cmp(&of(other, self));
        density
            .then_with(|| other.worth.cmp(&self.worth))
            .then_with(|| self.price.cmp(&other.price))
    }
}

fn fill(demands: &[Demand<'_>], usable: &Resources) -> (Vec<usize>, Resources) {
    let (mut left, mut total) = (usable.clone(), Resources::new());
    let mut counts = Vec::with_capacity(demands.len());
    for demand in demands {
        let count = how_many(demand.requests, &left)
            .min(demand.count)
            .min(demand.together);
        if count > 0 {
            let taken = demand.requests.times(i64::try_from(count).unwrap_or(i64::MAX));
            left = left.minus(&taken);
            total.add(&taken);
        }
        counts.push(count);
    }
    (counts, total)
}

/// How many times `requests` fit; a great many where nothing is asked.
fn how_many(requests: &Resources, left: &Resources) -> usize {
    let times = requests
        .iter()
        .filter(|(_, wanted)| *wanted > 0)
        .map(|(name, wanted)| left.get(&name) / wanted);
    times
        .min()
        .map_or(usize::MAX, |times| usize::try_from(times).unwrap_or(0))
}

/// A price as a factor; a free type still costs a little, or everything would be put on it.
fn cost(price: Price) -> u128 {
    u128::from(price.micros().max(1))
}

fn u128_of(count: usize) -> u128 {
    u128::try_from(count).unwrap_or(u128::MAX)
}
