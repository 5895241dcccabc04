//! Packs several times: pods that came onto nodes that cost more than what they carry is worth count for more the next time,
//! so that they find better company. Bundles that share no nodes are packed one after the other, for what is best for some
//! is not for others.

use std::collections::BTreeMap;

use super::pack::Packer;
use super::there::Parties;
use crate::schedule::state::Round;

/// How often everything is packed.
const PASSES: usize = 4;
/// How much of what pods cost beyond their worth is added to it.
const STEP: f64 = 0.6;
/// How much of the effort may be spent before what is packed is packed once more; the rest is for the search.
const SHARE: f64 = 0.4;

/// Packs every demand, which must have been lifted; whether all found a node. Of several tries the cheapest stays.
pub(super) fn pack_often(packer: &mut Packer, round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) -> bool {
    for (left, demand) in packer.left.iter_mut().zip(&packer.demands) {
        *left = demand.count;
    }
    let effort = round.problem.settings.effort as f64 * SHARE / packer.dual.bound.max(1.0);
    let complete = parties(packer).into_iter().all(|party| {
        let demands = party.iter().flat_map(|bundle| &packer.bundles[*bundle]);
        let worth = demands.map(|demand| packer.dual.worth[*demand] * packer.demands[*demand].count as f64);
        let until = packer.spent + (worth.sum::<f64>() * effort) as u64;
        pack_party(packer, round, &party, until, stop)
    });
    packer.worth.clone_from(&packer.dual.worth);
    packer.left.iter_mut().for_each(|left| *left = 0);
    complete
}

/// Bundles that may share nodes, directly or by way of others.
fn parties(packer: &Packer) -> Vec<Vec<usize>> {
    let mut parties = Parties::new(packer.columns.sorts.len());
    for service in &packer.columns.services {
        parties.join(&service.iter().collect::<Vec<_>>());
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (bundle, demands) in packer.bundles.iter().enumerate() {
        let sort = packer.columns.sort[demands[0]];
        found.entry(parties.of(sort)).or_default().push(bundle);
    }
    found.into_values().collect()
}

/// Packs a party, and once more as long as less than `until` was spent; whether all found a node.
fn pack_party(
    packer: &mut Packer,
    round: &mut Round<'_, '_>,
    party: &[usize],
    until: u64,
    stop: &dyn Fn() -> bool,
) -> bool {
    let first = round.state.places.len();
    let left = packer.left.clone();
    let mut best = None;
    for pass in 0..PASSES {
        let complete = packer.pack_all(round, party, stop);
        let price = round.total_price();
        if complete && best.as_ref().is_none_or(|(known, _)| price < *known) {
            best = Some((price, round.state.clone()));
        }
        if !complete || packer.spent > until || stop() || pass + 1 == PASSES {
            break;
        }
        learn(packer, round, first);
        packer.left.clone_from(&left);
        while round.state.places.len() > first {
            round.close(round.state.places.len() - 1);
        }
    }
    match best {
        Some((_, state)) => {
            round.state = state;
            true
        }
        None => false,
    }
}

/// Raises the worth of pods by what their nodes, from number `first` on, cost more than they carry.
fn learn(packer: &mut Packer, round: &mut Round<'_, '_>, first: usize) {
    let mut cost = vec![0.0f64; packer.bundles.len()];
    let mut worth = vec![0.0f64; packer.bundles.len()];
    for place in first..round.state.places.len() {
        let price = round.price(place) as f64;
        let packed = &round.state.places[place].packed;
        let value = |(demand, count): &(usize, usize)| packer.dual.worth[*demand] * *count as f64;
        let all: f64 = packed.iter().map(value).sum();
        if all <= 0.0 {
            continue;
        }
        for one in packed {
            let bundle = packer.bundle_of[one.0];
            worth[bundle] += value(one);
            cost[bundle] += value(one) * price / all;
        }
    }
    for (bundle, demands) in packer.bundles.iter().enumerate() {
        if worth[bundle] > 0.0 {
            let more = (cost[bundle] / worth[bundle] - 1.0).max(0.0) * STEP;
            for demand in demands {
                packer.worth[*demand] *= 1.0 + more;
            }
        }
    }
}
