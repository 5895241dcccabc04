//! The price that no answer can be below.

use super::price::{Purpose, columns, free_demands, solve};
use super::state::{Round, State};
use crate::money::Price;

/// A lower bound of the price of the claims to be made, for the pods that the answer puts on them: nodes and pods can be
/// divided, and of the rules that bind pods to others only those count that keep pods of a kind on different nodes. What
/// the answer chose beyond what pods and pools ask for, zones above all, does not count.
pub(super) fn lower(round: &mut Round<'_, '_>) -> Price {
    let (demands, slots) = free_demands(round);
    if demands.is_empty() {
        return Price::ZERO;
    }
    // Limits are looked at as if nothing had been bought.
    let initial = State::new(round.problem).used;
    let used = std::mem::replace(&mut round.state.used, initial);
    let columns = columns(round, &demands, &slots, Purpose::Bound);
    round.state.used = used;
    let dual = solve(&demands, &columns, &|| false);
    Price::from_micros((dual.bound as u64).saturating_sub(reserved(round)))
}

/// What reserved nodes may spare at most: at the prices of the bound nothing that a node holds is worth more than the
/// node costs, and where a kind is sold by reservation alone there is no telling.
fn reserved(round: &Round<'_, '_>) -> u64 {
    let problem = round.problem;
    let mut spared = 0u64;
    for (reservation, (_, left)) in problem.reservations.iter().enumerate() {
        let kinds = problem.pools.iter().flat_map(|pool| &pool.kinds);
        let own = kinds.filter(|kind| {
            kind.offers
                .iter()
                .any(|offer| offer.reservation == Some(reservation))
        });
        let dearest = own.map(|kind| {
            let market = kind.offers.iter().filter(|offer| offer.reservation.is_none());
            market.map(|offer| offer.price).max().unwrap_or(u64::MAX)
        });
        spared = spared.saturating_add(dearest.max().unwrap_or(0).saturating_mul(u64::from(*left)));
    }
    spared
}
