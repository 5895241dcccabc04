//! Takes the least worthwhile nodes apart and packs their pods anew, as long as that saves money.

use super::CLAIM;
use super::absorb::absorb;
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
const IDLE: usize = 20;

/// Searches for as many tries as the settings allow, or until `stop`.
pub(super) fn search(packer: &mut Packer, round: &mut Round<'_, '_>, stop: &dyn Fn() -> bool) {
    let effort = round.problem.settings.effort;
    let mut dice = Dice(round.problem.settings.seed.wrapping_mul(2) ^ 0x9e37_79b9_7f4a_7c15);
    let mut wastes = waste(packer, round);
    let (mut step, mut idle) = (0, 0);
    while packer.spent < effort && !wastes.is_empty() && !stop() {
        // Where nothing is wasted, or nothing helped for long, there is nothing to be had.
        let wasted: f64 = wastes.iter().map(|(waste, _)| waste.max(0.0)).sum();
        if wasted < packer.dual.bound * 0.001 || idle > IDLE + IDLE * wastes.len() {
            return;
        }
        idle += 1;
        let victims = victims(&wastes, round, &mut dice);
        packer.spent += 1;
        step += 1;
        let Some(changed) = attempt(packer, round, &victims, step, &mut dice) else {
            continue;
        };
        wastes.retain(|(_, place)| !victims.contains(place) && !changed.contains(place));
        for place in changed {
            let new = (waste_of(packer, round, place), place);
            let at = wastes.partition_point(|known| known.0 > new.0);
            wastes.insert(at, new);
        }
        idle = 0;
    }
}

impl Round<'_, '_> {
    /// What some claims count together.
    fn total_of(&mut self, places: &[usize]) -> u64 {
        places.iter().map(|place| self.price(*place) + CLAIM).sum()
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

/// A few claims, wasteful ones sooner than others; all of one pool, and of labels that one claim could have.
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
        let near = |first: &usize| {
            let (one, two) = (&round.state.places[*first], &round.state.places[place]);
            one.pool == two.pool && round.desk.sets.clash(one.set, two.set).is_none()
        };
        if !chosen.contains(&place) && chosen.first().is_none_or(near) {
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Packs the pods of `victims` anew, some of them where others leave room. Where that costs less it is kept: the claims that
/// are new or have further pods are returned, and the victims stay as claims without pods.
fn attempt(
    packer: &mut Packer,
    round: &mut Round<'_, '_>,
    victims: &[usize],
    step: u64,
    dice: &mut Dice,
) -> Option<Vec<usize>> {
    let before = round.total_of(victims);
    let mut gone: Vec<Place> = Vec::with_capacity(victims.len());
    packer.active.clear();
    for place in victims {
        let it = round.vacate(*place);
        for (demand, count) in &it.packed {
            packer.left[*demand] += count;
            packer.active.push(packer.bundle_of[*demand]);
        }
        gone.push(it);
    }
    packer.active.sort_unstable();
    packer.active.dedup();
    let base = round.state.places.len();
    let touched = absorb(packer, round, &gone, dice.below(base));
    let blur = if step.is_multiple_of(4) { 0.0 } else { 0.3 };
    for bundle in &packer.active {
        let factor = 1.0 + blur * (dice.part() - 0.5);
        for demand in &packer.bundles[*bundle] {
            packer.worth[*demand] = packer.dual.worth[*demand] * factor;
        }
    }
    // A part of the candidates is enough, and not always the same one.
    packer.skip = if step.is_multiple_of(4) {
        0
    } else {
        (dice.next() & dice.next()) | (dice.next() & dice.next())
    };
    packer.budget = before as f64;
    let complete = packer.pack(round, &|| false);
    packer.budget = f64::INFINITY;
    packer.skip = 0;
    let new: Vec<usize> = (base..round.state.places.len()).collect();
    let after = round.total_of(&new);
    if complete && after < before {
        return Some(touched.into_iter().map(|(place, _)| place).chain(new).collect());
    }
    while round.state.places.len() > base {
        round.close(round.state.places.len() - 1);
    }
    for (demand, _) in gone.iter().flat_map(|it| &it.packed) {
        packer.left[*demand] = 0;
    }
    for (place, it) in touched.into_iter().chain(victims.iter().copied().zip(gone)) {
        round.vacate(place);
        round.restore(place, it);
    }
    None
}
