//! Puts pods where claims leave room at the price that they have.

use super::pack::Packer;
use crate::schedule::state::{Ask, Place, Round};

/// How many claims are asked for a kind of pods.
const ASKED: usize = 400;
/// So many looks at claims are a step of the search.
const LOOKS: u64 = 3000;

/// Puts what has been taken off claims, which are `gone`, onto others, as far as that costs nothing; what those were. The
/// claims are asked from number `start` on.
pub(super) fn absorb(
    packer: &mut Packer,
    round: &mut Round<'_, '_>,
    gone: &[Place],
    start: usize,
) -> Vec<(usize, Place)> {
    let mut loose: Vec<usize> = gone
        .iter()
        .flat_map(|it| &it.packed)
        .map(|(demand, _)| *demand)
        .collect();
    loose.sort_by(|a, b| packer.size[*b].total_cmp(&packer.size[*a]).then(a.cmp(b)));
    loose.dedup();
    let problem = round.problem;
    let first = problem.nodes.len();
    let count = round.state.places.len() - first;
    packer.spent += (loose.len() * count.min(ASKED)) as u64 / LOOKS;
    let mut touched: Vec<(usize, Place)> = Vec::new();
    for demand in loose {
        let it = &packer.demands[demand];
        let (class, level, pin) = (it.class, it.level, it.pin);
        let bears = &problem.classes[class].level(level).bears;
        for step in 0..count.min(ASKED) {
            if packer.left[demand] == 0 {
                break;
            }
            let place = first + (start + step) % count;
            if !round.may_hold(place, class) {
                continue;
            }
            let there = &round.state.places[place];
            if there.packed.is_empty() || !bears.has(there.taints) {
                continue;
            }
            let ask = Ask {
                class,
                level,
                most: packer.left[demand],
                pin,
            };
            let Some(admission) = round.admit(place, ask) else {
                continue;
            };
            let (price, was) = (round.price(place), round.state.places[place].clone());
            let count = admission.count;
            round.commit(place, ask, admission);
            if round.price(place) > price {
                round.vacate(place);
                round.restore(place, was);
                continue;
            }
            packer.left[demand] -= count;
            let packed = &mut round.state.places[place].packed;
            match packed.iter_mut().find(|(of, _)| *of == demand) {
                Some((_, there)) => *there += count,
                None => packed.push((demand, count)),
            }
            if !touched.iter().any(|(known, _)| *known == place) {
                touched.push((place, was));
            }
        }
    }
    touched
}
