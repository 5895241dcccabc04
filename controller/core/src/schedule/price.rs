//! Looks for a cheaper answer than the first one. Which pods are on nodes that are there, and in which zone the others
//! are, stays; what changes is which nodes are bought for them.
//!
//! Prices of a linear relaxation ([`dual`], by column generation over [`table`] with [`knapsack`], [`program`] and
//! [`simplex`]) say what each pod is worth on the best nodes. Nodes are then chosen one after the other so that what they carry
//! is worth the most for their price ([`pack`], [`offers`]): filled with what is worth most for what it takes ([`fill`]), then
//! made better by exchanges ([`exchange`]), both with several kinds of pods in one step ([`shelf`]). That is done a few times
//! over ([`learn`]), and the least worthwhile nodes are taken apart and packed anew, some of their pods where others leave room
//! ([`absorb`]), as long as that saves money and the effort lasts ([`search`]). In the end claims get back the choice of kinds
//! that costs nothing or little ([`choice`]).
//! The same relaxation over all that is there and can be bought ([`free`], [`there`]) is the lower bound.

mod absorb;
mod choice;
mod columns;
mod demands;
mod dual;
mod exchange;
mod fill;
mod free;
mod knapsack;
mod learn;
mod offers;
mod pack;
mod program;
mod search;
mod shelf;
mod simplex;
mod table;
mod there;

use super::state::Round;
pub(super) use columns::{Columns, Purpose, columns};
pub(super) use demands::Caps;
use demands::demands;
pub(super) use dual::{Dual, solve};
pub(super) use free::free_demands;
use pack::Packer;
pub(super) use there::spared;

/// Replaces the answer by a cheaper one, where one is found, or one of as much for fewer claims. The answer is not worse in any
/// other respect: the same pods have a place.
pub(super) fn improve(round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) {
    let first = round.state.clone();
    let before = worth_of(round);
    let (demands, slots) = demands(round);
    if demands.is_empty() || stop() {
        return;
    }
    round.frozen = true;
    round.lift(&demands);
    let columns = columns(round, &demands, &slots, Purpose::Packing);
    let dual = solve(&demands, &columns, WORK, stop);
    let mut packer = Packer::new(demands, columns, dual, round);
    let complete = learn::pack_often(&mut packer, round, stop);
    if !complete || worth_of(round) > before {
        round.state = first.clone();
        packer.adopt(round);
    }
    search::search(&mut packer, round, stop);
    round.frozen = false;
    if worth_of(round) < before {
        round.keep_choice();
    } else {
        round.state = first;
    }
}

/// How much work may go into the worth of pods: nearer to the best worth the answers get no cheaper.
const WORK: usize = 20_000_000;

/// What a claim counts beside its price, in millionths of a dollar an hour: of answers that cost all but the same the one with
/// fewer claims is better.
const CLAIM: u64 = 10;

/// What an answer is judged by.
fn worth_of(round: &mut Round<'_, '_>) -> u64 {
    let new = &round.state.places[round.problem.nodes.len()..];
    let claims = new.iter().filter(|place| !place.load.is_empty()).count();
    round.total_price().saturating_add(CLAIM * claims as u64)
}
