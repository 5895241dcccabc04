//! The price that no answer can be below.

use super::price::{Caps, Columns, Dual, Purpose, columns, free_demands, solve, spared};
use super::state::{Round, State};
use crate::money::Price;

/// How much work may go into a relaxation.
const WORK: usize = 1_000_000_000;
/// And into one that may be too much.
const TRY: usize = 200_000_000;

/// A lower bound of the price of the claims to be made, in any answer that has a place for the pods that this one has a place
/// for and gives up no more wishes: nodes and pods can be divided, but a node holds no more pods of a kind than there are; what
/// nodes that are there can carry is carried there, and of the rules that bind pods to others only those count that keep pods of
/// a kind on different nodes or in different zones.
pub(super) fn lower(round: &mut Round<'_, '_>) -> Price {
    // More groups and counts say more, but make a relaxation that with many kinds of pods is not solved: several are tried.
    let counting = match round.problem.classes.len() {
        0..=160 => Some((24, 3.0)),
        161..=250 => Some((4, 20.0)),
        _ => None,
    };
    let counted = counting.and_then(|groups| relaxed(round, groups, Caps::Counted, WORK));
    let some = relaxed(round, (12, 3.0), Caps::Ignored, TRY);
    let few = relaxed(round, (4, 20.0), Caps::Ignored, WORK);
    let all = counted.into_iter().chain(some).chain(few);
    let better = all.max_by(|a, b| a.1.bound.total_cmp(&b.1.bound));
    let bound = better.map_or(0.0, |(columns, dual)| spared(round, &columns, &dual));
    // Below what rounding on the way can have added.
    let bound = (bound * (1.0 - 1e-9)).floor();
    Price::from_micros((bound as u64).saturating_sub(reserved(round)))
}

/// The relaxation with at most so many `groups` of pods that crowd nodes, each of which needs so many nodes or more; none where
/// no pod has a place.
fn relaxed(
    round: &mut Round<'_, '_>,
    (groups, nodes): (usize, f64),
    caps: Caps,
    work: usize,
) -> Option<(Columns, Dual)> {
    let (demands, slots) = free_demands(round, groups, nodes, caps);
    if demands.is_empty() {
        return None;
    }
    // Limits are looked at as if nothing had been bought.
    let initial = State::new(round.problem).used;
    let used = std::mem::replace(&mut round.state.used, initial);
    let columns = columns(round, &demands, &slots, Purpose::Bound);
    round.state.used = used;
    let dual = solve(&demands, &columns, work, &|| false);
    Some((columns, dual))
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
