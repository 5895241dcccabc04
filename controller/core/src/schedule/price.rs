//! Looks for a cheaper answer than the first one. Which pods are on nodes that are there, and in which zone the others
//! are, stays; what changes is which nodes are bought for them.
//!
//! Prices of a linear relaxation ([`dual`]) say what each pod is worth on the best nodes. Nodes are then chosen one after
//! the other so that what they carry is worth the most for their price ([`pack`]), and the least worthwhile are taken
//! apart and packed anew as long as that saves money and the effort lasts ([`search`]).

mod columns;
mod demands;
mod dual;
mod fill;
mod free;
mod pack;
mod search;

use super::state::Round;
pub(super) use columns::{Purpose, columns};
use demands::demands;
pub(super) use dual::solve;
pub(super) use free::free_demands;
use pack::Packer;

/// Replaces the answer by a cheaper one, where one is found. The answer is not worse in any other respect: the same pods
/// have a place.
pub(super) fn improve(round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) {
    let first = round.state.clone();
    let before = round.total_price();
    let (demands, slots) = demands(round);
    if demands.is_empty() || stop() {
        return;
    }
    round.frozen = true;
    round.lift(&demands);
    let columns = columns(round, &demands, &slots, Purpose::Packing);
    let dual = solve(&demands, &columns, stop);
    let mut packer = Packer::new(demands, columns, dual, round);
    let complete = packer.pack_all(round, stop);
    let after = round.total_price();
    if !complete || after > before {
        round.state = first;
        packer.adopt(round);
    }
    search::search(&mut packer, round, stop);
    round.frozen = false;
}
