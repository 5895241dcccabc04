//! The price that no answer can be below.

use super::price::{columns, demands, solve};
use super::state::{Round, State};
use crate::money::Price;

/// A lower bound of the price of the claims to be made, for the pods that the answer puts on them: nodes and pods can be
/// divided, and of the rules that bind pods to others only the values of labels count. Claims that are not packed anew
/// count with their price.
pub(super) fn lower(round: &mut Round<'_, '_>) -> Option<Price> {
    let total = round.total_price();
    let (demands, slots) = demands(round);
    if demands.is_empty() {
        return Some(Price::from_micros(total));
    }
    let kept = round.fixed_price();
    // Limits are looked at as if nothing had been bought.
    let initial = State::new(round.problem).used;
    let used = std::mem::replace(&mut round.state.used, initial);
    let columns = columns(round, &demands, &slots);
    round.state.used = used;
    let dual = solve(&demands, &columns);
    Some(Price::from_micros(kept + dual.bound as u64))
}
