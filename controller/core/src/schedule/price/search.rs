//! Takes the least worthwhile nodes apart and packs their pods anew, as long as that saves money.

use super::pack::Packer;
use crate::schedule::state::{Place, Round};

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % sides.max(1)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() & 0xffff) as f64 / 65_535.0
    }
}

/// How many attempts for each claim may fail before the search ends.
const IDLE: usize = 10;

/// Searches for as many tries as the settings allow, or until `stop`.
pub(super) fn search(packer: &mut Packer, round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) {
    let mut dice = Dice(round.problem.settings.seed.wrapping_mul(2) ^ 0x9e37_79b9_7f4a_7c15);
    let mut wastes = waste(packer, round);
    packer.spent = 0;
    let (mut step, mut idle) = (0, 0);
    while packer.spent < round.problem.settings.effort && !wastes.is_empty() && !stop() {
        // Where nothing is wasted, or nothing helped for long, there is nothing to be had.
        let wasted: f64 = wastes.iter().map(|(waste, _)| waste.max(0.0)).sum();
        if wasted < packer.dual.bound * 0.001 || idle > IDLE + IDLE * wastes.len() {
            return;
        }
        idle += 1;
        let victims = victims(&wastes, round, &mut dice);
        packer.spent += 1;
        step += 1;
        if let Some(base) = attempt(packer, round, &victims, step, &mut dice) {
            wastes.retain(|(_, place)| !victims.contains(place));
            for place in base..round.state.places.len() {
                let new = (waste_of(packer, round, place), place);
                let at = wastes.partition_point(|known| known.0 > new.0);
                wastes.insert(at, new);
            }
            idle = 0;
        }
    }
}

/// Claims that may be packed anew, with what of their price is wasted; the most wasteful first.
fn waste(packer: &Packer, round: &mut Round<'_, '_>) -> Vec<(f64, usize)> {
    let mut all = Vec::new();
    for place in round.problem.nodes.len()..round.state.places.len() {
        if round.state.places[place].packed.is_empty() {
            continue;
        }
        all.push((waste_of(packer, round, place), place));
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all
}

fn waste_of(packer: &Packer, round: &mut Round<'_, '_>, place: usize) -> f64 {
    let price = round.price(place) as f64;
    let packed = &round.state.places[place].packed;
    let worth: f64 = packed
        .iter()
        .map(|(demand, count)| packer.dual.worth[*demand] * *count as f64)
        .sum();
    price - worth
}

/// A few claims, wasteful ones sooner than others.
fn victims(wastes: &[(f64, usize)], round: &Round<'_, '_>, dice: &mut Dice) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let count = 2 + dice.below(5);
    for _ in 0..count * 3 {
        if chosen.len() >= count.min(wastes.len()) {
            break;
        }
        // The square of a random part prefers the front of the list.
        let part = dice.part();
        let at = (part * part * wastes.len() as f64) as usize;
        let place = wastes[at.min(wastes.len() - 1)].1;
        let same = |other: &usize| round.state.places[*other].pool == round.state.places[place].pool;
        if !chosen.contains(&place) && chosen.first().is_none_or(same) {
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Packs the pods of `victims` anew. Where that is better it is kept: the new claims start at the number that is returned,
/// and the victims stay as claims without pods.
fn attempt(
    packer: &mut Packer,
    round: &mut Round<'_, '_>,
    victims: &[usize],
    step: u64,
    dice: &mut Dice,
) -> Option<usize> {
    let before: u64 = victims.iter().map(|place| round.price(*place)).sum();
    let mut gone: Vec<Place> = Vec::with_capacity(victims.len());
    for place in victims {
        let it = round.vacate(*place);
        for (demand, count) in &it.packed {
            packer.left[*demand] += count;
        }
        gone.push(it);
    }
    let base = round.state.places.len();
    let blur = if step.is_multiple_of(4) { 0.0 } else { 0.3 };
    for bundle in 0..packer.bundles.len() {
        let factor = 1.0 + blur * (dice.part() - 0.5);
        for demand in &packer.bundles[bundle] {
            packer.worth[*demand] = packer.dual.worth[*demand] * factor;
        }
    }
    packer.budget = before as f64;
    let complete = packer.pack(round, &|| false);
    packer.budget = f64::INFINITY;
    let mut after = 0u64;
    for place in base..round.state.places.len() {
        after += round.price(place);
    }
    let fewer = round.state.places.len() - base < victims.len();
    if complete && (after < before || (after == before && fewer)) {
        return Some(base);
    }
    while round.state.places.len() > base {
        round.close(round.state.places.len() - 1);
    }
    packer.left.iter_mut().for_each(|left| *left = 0);
    for (place, it) in victims.iter().zip(gone) {
        round.restore(*place, it);
    }
    None
}
