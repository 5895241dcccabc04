//! Which kinds a claim may become: while it is packed the cheapest that carries its load, and in the end all that do and
//! cost little more, so that whoever buys it has somewhere to turn when a kind is not to be had.

use super::demands::loose;
use crate::schedule::atoms::Bits;
use crate::schedule::state::{Round, high, holds, slack};

/// So much of a claim's price, in hundredths, may another kind cost where it uses up more of a limit.
const NEAR: u64 = 130;

impl Round<'_, '_> {
    /// Makes a claim the cheapest kind that carries its load; one whose pool wants a variety of types keeps all that do.
    pub(super) fn settle(&mut self, place: usize) {
        let problem = self.problem;
        let it = &self.state.places[place];
        let Some(pool) = it.pool else { return };
        let model = &problem.pools[pool];
        if !model.min_values.is_empty() {
            return;
        }
        let profile = self.desk.profile(problem, pool, it.set, it.payment);
        let it = &self.state.places[place];
        let affordable = |kind: usize| {
            let weight = &model.kinds[kind].weight;
            weight.iter().zip(&it.weight).all(|(one, most)| one <= most) || !self.exceeds(pool, kind)
        };
        let mut cheapest = self.desk.get(profile).by_price.iter().copied();
        let cheapest = cheapest.find(|kind| {
            let sold = &model.kinds[*kind];
            holds(&it.total, &sold.usable) && sold.spares(&it.ports) && affordable(*kind)
        });
        if let Some(kind) = cheapest {
            self.become_one_of(place, Bits::one(model.kinds.len(), kind));
        }
    }

    /// Gives the claims that may be packed anew the choice that they keep.
    pub(super) fn keep_choice(&mut self) {
        for place in self.problem.nodes.len()..self.state.places.len() {
            if loose(self, place).is_some() {
                self.widen(place);
            }
        }
    }

    /// Lets a claim become every kind that carries its load and is sold for it. Where a resource is limited, a larger kind
    /// than the cheapest would only eat into the limit, so it must cost little more, and there must be room.
    fn widen(&mut self, place: usize) {
        let problem = self.problem;
        let it = &self.state.places[place];
        let Some(pool) = it.pool else { return };
        let model = &problem.pools[pool];
        let profile = self.desk.profile(problem, pool, it.set, it.payment);
        let profile = self.desk.get(profile);
        let it = &self.state.places[place];
        let own = it
            .kinds
            .iter()
            .map(|kind| profile.prices[kind])
            .min()
            .unwrap_or(0);
        let (mut modest, mut all) = (it.kinds.clone(), it.kinds.clone());
        for kind in &profile.by_price {
            let (sold, price) = (&model.kinds[*kind], profile.prices[*kind]);
            if price < own || !holds(&it.total, &sold.usable) || !sold.spares(&it.ports) {
                continue;
            }
            if sold.weight.iter().zip(&it.weight).all(|(one, most)| one <= most) {
                modest.set(*kind);
                all.set(*kind);
            } else if u128::from(price) * 100 <= u128::from(own) * u128::from(NEAR) {
                all.set(*kind);
            }
        }
        self.become_one_of(place, all);
        let mut used = model.limits.iter().zip(&self.state.used[pool]);
        if used.any(|((_, bound, _), used)| used > bound) || self.missing() > 0 {
            self.become_one_of(place, modest);
        }
    }

    fn become_one_of(&mut self, place: usize, kinds: Bits) {
        if let Some(pool) = self.state.places[place].pool {
            self.state.places[place].high = high(self.problem, pool, &kinds);
        }
        self.state.places[place].kinds = kinds;
        self.state.slack[place] = slack(&self.state.places[place], self.problem);
        self.weigh(place);
    }
}
