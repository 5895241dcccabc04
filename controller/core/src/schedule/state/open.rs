//! New claims, and the limits of pools.

use super::admit::{Ask, high};
use super::{Place, Round};
use crate::schedule::atoms::Bits;
use crate::schedule::desk::Payment;
use crate::snapshot::Strategy;

impl Round<'_, '_> {
    /// Opens a claim for pods of a class in the first pool that can; how many it takes. By price what is reserved for one of
    /// several pools of the same weight comes first.
    pub(in crate::schedule) fn open(&mut self, ask: Ask) -> usize {
        let pools = &self.problem.pools;
        let some = |count: &usize| *count > 0;
        let mut from = 0;
        for equals in pools.chunk_by(|a, b| a.pool.weight == b.pool.weight) {
            let equals = from..from + equals.len();
            from = equals.end;
            let by_price = self.problem.settings.strategy == Strategy::Price && equals.len() > 1;
            let reserved = by_price.then_some(equals.clone()).into_iter().flatten();
            let opened = reserved.map(|pool| self.open_reserved(pool, ask)).find(some);
            let opened = opened.or_else(|| equals.map(|pool| self.open_in(pool, ask)).find(some));
            if let Some(count) = opened {
                return count;
            }
        }
        0
    }

    /// Whether a pool sells anything to pods of a class.
    pub(in crate::schedule) fn serves(&self, pool: usize, class: usize, level: usize) -> bool {
        let model = &self.problem.pools[pool];
        let level = self.problem.classes[class].level(level);
        model.closed.is_none() && level.bears.has(model.taints)
    }

    /// Opens a claim in a pool; how many pods it takes.
    pub(in crate::schedule) fn open_in(&mut self, pool: usize, ask: Ask) -> usize {
        if !self.serves(pool, ask.class, ask.level) {
            return 0;
        }
        let first = self.try_open(pool, ask);
        // Claims give up their larger kinds only where limits are what is in the way, and only if that helps.
        if first > 0 || self.within_limits(pool).len() == self.problem.pools[pool].kinds.len() {
            return first;
        }
        let before = self.state.clone();
        let count = if self.squeeze(pool) {
            self.try_open(pool, ask)
        } else {
            0
        };
        if count == 0 {
            self.state = before;
        }
        count
    }

    fn try_open(&mut self, pool: usize, ask: Ask) -> usize {
        let reserved = self.open_reserved(pool, ask);
        if reserved > 0 {
            return reserved;
        }
        let kinds = self.within_limits(pool);
        if kinds.is_empty() {
            return 0;
        }
        self.try_payment(pool, ask, kinds, Payment::Market)
    }

    /// Opens a claim in a pool that a reservation pays; how many pods it takes.
    fn open_reserved(&mut self, pool: usize, ask: Ask) -> usize {
        if !self.problem.pools[pool].reserved || !self.serves(pool, ask.class, ask.level) {
            return 0;
        }
        let kinds = self.within_limits(pool);
        for reservation in 0..self.state.reserved.len() {
            if self.state.reserved[reservation] == 0 || kinds.is_empty() {
                continue;
            }
            let count = self.try_payment(pool, ask, kinds.clone(), Payment::Reserved(reservation));
            if count > 0 {
                self.state.reserved[reservation] -= 1;
                return count;
            }
        }
        0
    }

    fn try_payment(&mut self, pool: usize, ask: Ask, kinds: Bits, payment: Payment) -> usize {
        let place = self.add_claim(pool, kinds, payment);
        let count = self.put(place, ask);
        if count == 0 {
            self.state.places.pop();
            self.state.slack.pop();
        }
        count
    }

    /// An empty claim of a pool that may become these kinds.
    pub(in crate::schedule) fn add_claim(&mut self, pool: usize, kinds: Bits, payment: Payment) -> usize {
        let model = &self.problem.pools[pool];
        let place = self.state.places.len();
        self.state.places.push(Place {
            pool: Some(pool),
            set: model.template,
            taints: model.taints,
            total: vec![0; self.problem.dims.len()],
            high: high(self.problem, pool, &kinds),
            kinds,
            payment,
            ports: Vec::new(),
            hosts: vec![0; self.problem.hosts],
            load: Vec::new(),
            packed: Vec::new(),
            weight: vec![0; model.limits.len()],
            open: true,
            attached: Vec::new(),
        });
        self.state.slack.push([i64::MAX; 4]);
        place
    }

    /// The kinds of a pool of which one more node exceeds no limit.
    pub(in crate::schedule) fn within_limits(&self, pool: usize) -> Bits {
        let mut kinds = Bits::all(self.problem.pools[pool].kinds.len());
        kinds.keep(|kind| !self.exceeds(pool, kind));
        kinds
    }

    /// Whether one more node of a kind exceeds a limit of its pool.
    pub(in crate::schedule) fn exceeds(&self, pool: usize, kind: usize) -> bool {
        let model = &self.problem.pools[pool];
        model
            .limits
            .iter()
            .zip(&model.kinds[kind].weight)
            .zip(&self.state.used[pool])
            .any(|(((_, bound, _), weight), used)| *weight > 0 && used.saturating_add(*weight) > *bound)
    }

    /// Keeps the pool's books after a claim's kinds have become fewer: it takes what the largest of them would.
    pub(in crate::schedule) fn weigh(&mut self, place: usize) {
        let Some(pool) = self.state.places[place].pool else {
            return;
        };
        let model = &self.problem.pools[pool];
        if model.limits.is_empty() {
            return;
        }
        let it = &mut self.state.places[place];
        let mut weight = vec![0; model.limits.len()];
        if !it.load.is_empty() {
            for kind in it.kinds.iter() {
                for (most, one) in weight.iter_mut().zip(&model.kinds[kind].weight) {
                    *most = (*most).max(*one);
                }
            }
        }
        for ((used, new), old) in self.state.used[pool].iter_mut().zip(&weight).zip(&it.weight) {
            *used += new - old;
        }
        it.weight = weight;
    }

    /// Makes room within a pool's limits: its claims give up kinds larger than the smallest that holds their load.
    /// Whether that freed anything.
    fn squeeze(&mut self, pool: usize) -> bool {
        let model = &self.problem.pools[pool];
        let before = self.state.used[pool].clone();
        for place in self.problem.nodes.len()..self.state.places.len() {
            if self.state.places[place].pool != Some(pool) {
                continue;
            }
            let kinds = self.state.places[place].kinds.clone();
            let share = |kind: usize| -> (i128, &str) {
                let parts = model.limits.iter().zip(&model.kinds[kind].weight);
                let largest = parts.map(|((_, bound, _), weight)| {
                    i128::from(*weight) * 1_000_000 / i128::from((*bound).max(1))
                });
                (largest.max().unwrap_or(0), &model.kinds[kind].it.name)
            };
            let Some(smallest) = kinds.iter().min_by_key(|kind| share(*kind)) else {
                continue;
            };
            let least = &model.kinds[smallest].weight;
            let mut kept = Bits::none(model.kinds.len());
            kinds
                .iter()
                .filter(|kind| {
                    model.kinds[*kind]
                        .weight
                        .iter()
                        .zip(least)
                        .all(|(one, least)| one <= least)
                })
                .for_each(|kind| kept.set(kind));
            let set = self.state.places[place].set;
            let lacks = super::admit::lacking(self.problem, pool, &self.desk.sets, set, &kept).is_some();
            if kept == kinds || (lacks && !model.min_values.is_empty()) {
                continue;
            }
            let tops = high(self.problem, pool, &kept);
            let it = &mut self.state.places[place];
            it.kinds = kept;
            it.high = tops;
            self.state.slack[place] = super::slack(&self.state.places[place], self.problem);
            self.weigh(place);
        }
        self.state.used[pool] != before
    }
}
