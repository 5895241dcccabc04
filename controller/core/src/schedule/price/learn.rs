//! Packs several times: pods that came onto nodes that cost more than what they carry is worth count for more the next time,
//! so that they find better company.

use super::pack::Packer;
use crate::schedule::state::Round;

/// How often everything is packed.
const PASSES: usize = 4;
/// How much of what pods cost beyond their worth is added to it.
const STEP: f64 = 0.6;

/// Packs every demand, which must have been lifted; whether all found a node. Of several tries the cheapest stays.
pub(super) fn pack_often(packer: &mut Packer, round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) -> bool {
    let lifted = round.state.clone();
    let mut best = None;
    for pass in 0..PASSES {
        let complete = packer.pack_all(round, stop);
        let price = round.total_price();
        if complete && best.as_ref().is_none_or(|(known, _)| price < *known) {
            best = Some((price, round.state.clone()));
        }
        // Most of the effort is for the search.
        let enough = packer.spent > round.problem.settings.effort / 4;
        if !complete || enough || stop() || pass + 1 == PASSES {
            break;
        }
        learn(packer, round);
        round.state = lifted.clone();
    }
    packer.worth.clone_from(&packer.dual.worth);
    packer.left.iter_mut().for_each(|left| *left = 0);
    match best {
        Some((_, state)) => {
            round.state = state;
            true
        }
        None => false,
    }
}

/// Raises the worth of pods by what their nodes cost more than they carry.
fn learn(packer: &mut Packer, round: &mut Round<'_, '_>) {
    let mut cost = vec![0.0f64; packer.bundles.len()];
    let mut worth = vec![0.0f64; packer.bundles.len()];
    for place in round.problem.nodes.len()..round.state.places.len() {
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
