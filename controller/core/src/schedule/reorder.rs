//! Other orders, for pods that found no place because others came first.

use std::cmp::Reverse;

use super::first_fit::{Opening, first_fit};
use super::state::{Ask, Round, State};

/// How many other orders are tried.
const TRIES: usize = 3;

/// Places what had no place before the others of its priority. An answer that comes of it is taken if more pods of some class
/// have a place and fewer of none.
pub(super) fn reorder(round: &mut Round<'_, '_>, order: &[usize], stop: &dyn Fn() -> bool) {
    let mut order = order.to_vec();
    let mut ahead = vec![false; round.problem.classes.len()];
    let mut short = short(round);
    for _ in 0..TRIES {
        short.retain(|class| !ahead[*class]);
        let answer = std::mem::replace(&mut round.state, State::new(round.problem));
        let hopeful = hopeful(round, &short);
        if hopeful.is_empty() || stop() {
            round.state = answer;
            return;
        }
        hopeful.into_iter().for_each(|class| ahead[class] = true);
        order.sort_by_key(|class| (Reverse(round.problem.classes[*class].priority), !ahead[*class]));
        first_fit(round, &order, Opening::Allowed);
        short = self::short(round);
        let all = || round.state.done.iter().zip(&answer.done);
        if all().any(|(new, old)| new < old) || all().all(|(new, old)| new == old) {
            round.state = answer;
        }
    }
}

/// The classes of which pods have no place.
fn short(round: &Round<'_, '_>) -> Vec<usize> {
    let classes = 0..round.problem.classes.len();
    let short = |class: &usize| round.problem.classes[*class].refusal.is_empty() && round.left(*class) > 0;
    classes.filter(short).collect()
}

/// Those of `classes` of which a pod has a place while nobody else asks for one. The answer in the making must be empty, and is again.
fn hopeful(round: &mut Round<'_, '_>, classes: &[usize]) -> Vec<usize> {
    round.frozen = true;
    let mut hopeful = classes.to_vec();
    hopeful.retain(|class| {
        let ask = Ask {
            class: *class,
            level: round.problem.classes[*class].levels.len() - 1,
            most: 1,
            pin: None,
        };
        let there = round.state.places.len();
        let found = (0..there).any(|place| round.admit(place, ask).is_some()) || round.open(ask) > 0;
        while round.state.places.len() > there {
            round.close(there);
        }
        found
    });
    round.frozen = false;
    round.state = State::new(round.problem);
    hopeful
}
