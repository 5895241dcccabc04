//! Whether a place takes pods of a class, and putting them there.

use super::{Place, Round};
use crate::schedule::atoms::Bits;
use crate::schedule::devices::suffice;
use crate::schedule::problem::{Problem, fits, times};
use crate::schedule::sets::SetId;
use crate::snapshot::{Device, MinValuesPolicy};

/// How a place takes pods.
pub(in crate::schedule) struct Admission {
    /// How many.
    pub(in crate::schedule) count: usize,
    /// What its labels are or may be from then on.
    set: SetId,
    kinds: Bits,
}

/// A wish to put pods of a class somewhere.
#[derive(Clone, Copy)]
pub(in crate::schedule) struct Ask {
    pub(in crate::schedule) class: usize,
    pub(in crate::schedule) level: usize,
    /// At most so many pods.
    pub(in crate::schedule) most: usize,
    /// What else must hold of the node's labels.
    pub(in crate::schedule) pin: Option<SetId>,
}

impl Round<'_, '_> {
    /// Puts as many of the pods asked for on a place as it takes; how many.
    pub(in crate::schedule) fn put(&mut self, place: usize, ask: Ask) -> usize {
        match self.admit(place, ask) {
            Some(admission) => {
                let count = admission.count;
                self.commit(place, ask, admission);
                count
            }
            None => 0,
        }
    }

    /// How a place would take the pods asked for.
    pub(in crate::schedule) fn admit(&mut self, place: usize, ask: Ask) -> Option<Admission> {
        if !self.may_hold(place, ask.class) {
            return None;
        }
        let it = &self.state.places[place];
        let class = &self.problem.classes[ask.class];
        let attaching = self.attaching(place, ask.class);
        let total = attaching.as_deref().unwrap_or(&it.total);
        if !it.open
            || !class.level(ask.level).bears.has(it.taints)
            || !fits(total, &class.requests, &it.high)
            || class
                .ports
                .iter()
                .any(|port| it.ports.iter().any(|there| there.conflicts(port)))
        {
            return None;
        }
        let room = self.host_room(ask.class, ask.level, &it.hosts, it.pool.is_some());
        let one = !class.ports.is_empty() || class.devices;
        let most = ask.most.min(room).min(if one { 1 } else { usize::MAX });
        if most == 0 {
            return None;
        }
        match it.pool {
            None => self.admit_settled(place, ask, most, attaching.as_deref()),
            Some(pool) => self.admit_open(place, pool, ask, most, attaching.as_deref()),
        }
    }

    /// What is taken on a place once the volumes are attached that pods of a class share and that are not there yet; none
    /// where that changes nothing.
    fn attaching(&self, place: usize, class: usize) -> Option<Vec<i64>> {
        let it = &self.state.places[place];
        let shared = self.problem.classes[class].shared.iter();
        let mut missing = shared
            .filter(|(_, volume)| !it.attached.contains(volume))
            .peekable();
        missing.peek()?;
        let mut total = it.total.clone();
        missing.for_each(|(dim, _)| total[*dim] += 1);
        Some(total)
    }

    fn admit_settled(
        &mut self,
        place: usize,
        ask: Ask,
        most: usize,
        attaching: Option<&[i64]>,
    ) -> Option<Admission> {
        let problem = self.problem;
        let (it, class) = (&self.state.places[place], &problem.classes[ask.class]);
        let set = it.set;
        let count = most.min(times(attaching.unwrap_or(&it.total), &class.requests, &it.high));
        if ask.pin.is_some_and(|pin| !self.desk.implies(set, pin)) {
            return None;
        }
        let wanted = &class.level(ask.level).wanted;
        if !wanted.iter().any(|wanted| self.desk.implies(set, *wanted)) {
            return None;
        }
        let count = count.min(self.settled_room(ask.class, ask.level, place));
        if class.devices {
            let claims = self.device_claims(place, ask.class)?;
            let does = |devices: &Vec<&Device>| suffice(devices.iter().copied(), &claims);
            if !problem.nodes[place].devices.iter().all(does) {
                return None;
            }
        }
        (count > 0).then(|| Admission {
            count,
            set,
            kinds: Bits::default(),
        })
    }

    fn admit_open(
        &mut self,
        place: usize,
        pool: usize,
        ask: Ask,
        most: usize,
        attaching: Option<&[i64]>,
    ) -> Option<Admission> {
        let problem = self.problem;
        let own = self.state.places[place].set;
        let base = match ask.pin {
            Some(pin) => self.desk.sets.and(own, pin)?,
            None => own,
        };
        let class = &problem.classes[ask.class];
        for wanted in &class.level(ask.level).wanted {
            let Some(set) = self.desk.sets.and(base, *wanted) else {
                continue;
            };
            let Some((set, most)) = self.narrow(place, set, ask, most) else {
                continue;
            };
            let payment = self.state.places[place].payment;
            let profile = self.desk.profile(problem, pool, set, payment);
            let it = &self.state.places[place];
            let mut suited = it.kinds.and(&self.desk.get(profile).kinds);
            if !class.ports.is_empty() {
                suited.keep(|kind| problem.pools[pool].kinds[kind].spares(&class.ports));
            }
            if class.devices {
                let claims = self.device_claims(place, ask.class)?;
                suited.keep(|kind| suffice(&problem.pools[pool].kinds[kind].it.devices, &claims));
            }
            let usable = |kind: usize| &problem.pools[pool].kinds[kind].usable;
            let total = attaching.unwrap_or(&it.total);
            let top = most.min(times(total, &class.requests, &it.high));
            let load = loaded(total, &class.requests, top);
            let mut kinds = suited.clone();
            kinds.keep(|kind| holds(&load, usable(kind)));
            let count = if kinds.is_empty() {
                let room = |kind: usize| times(total, &class.requests, usable(kind));
                suited.iter().map(room).max().unwrap_or(0).min(most)
            } else {
                top
            };
            if count == 0 {
                continue;
            }
            let strict = !problem.pools[pool].min_values.is_empty()
                && problem.settings.min_values_policy == MinValuesPolicy::Strict;
            // A full claim may leave too few types for `minValues`; a smaller load may not.
            let mut count = count;
            while count > 0 {
                if count != top {
                    let load = loaded(total, &class.requests, count);
                    kinds.clone_from(&suited);
                    kinds.keep(|kind| holds(&load, usable(kind)));
                }
                if !strict || lacking(problem, pool, &self.desk.sets, set, &kinds).is_none() {
                    return Some(Admission { count, set, kinds });
                }
                count /= 2;
            }
        }
        None
    }

    /// Puts pods on a place as admitted.
    pub(in crate::schedule) fn commit(&mut self, place: usize, ask: Ask, admission: Admission) {
        let problem = self.problem;
        let class = &problem.classes[ask.class];
        let count = i64::try_from(admission.count).unwrap_or(i64::MAX);
        let before = self.state.places[place].set;
        let attaching = self.attaching(place, ask.class);
        let it = &mut self.state.places[place];
        if let Some(total) = attaching {
            it.total = total;
            it.attached.extend(class.shared.iter().map(|(_, volume)| *volume));
        }
        for (total, one) in it.total.iter_mut().zip(&class.requests) {
            *total = total.saturating_add(one.saturating_mul(count));
        }
        it.ports.extend(class.ports.iter().cloned());
        it.set = admission.set;
        if let Some(pool) = it.pool
            && it.kinds != admission.kinds
        {
            it.kinds = admission.kinds;
            it.high = high(problem, pool, &it.kinds);
        }
        let earlier = if before == it.set {
            Vec::new()
        } else {
            it.load.clone()
        };
        match it
            .load
            .iter_mut()
            .find(|(of, at, _)| *of == ask.class && *at == ask.level)
        {
            Some((_, _, there)) => *there += admission.count,
            None => it.load.push((ask.class, ask.level, admission.count)),
        }
        self.state.slack[place] = super::slack(&self.state.places[place], problem);
        self.state.done[ask.class] += admission.count;
        for claim in class.claims().filter(|claim| !claim.name.is_empty()) {
            self.state.shared.insert(claim.name.clone(), place);
        }
        if before != admission.set && !self.frozen {
            self.settle_labels(place, before, &earlier);
        }
        self.feed(place, ask.class, admission.count);
        self.weigh(place);
    }

    /// Counts pods that are on a claim already by labels whose value has just become known.
    fn settle_labels(&mut self, place: usize, before: SetId, earlier: &[(usize, usize, usize)]) {
        let problem = self.problem;
        for (class, _, count) in earlier {
            let count = u32::try_from(*count).unwrap_or(u32::MAX);
            for group in &problem.classes[*class].feeds {
                let it = &problem.groups[*group];
                let crate::schedule::problem::Where::Label(key) = it.at else {
                    continue;
                };
                let after = self.state.places[place].set;
                let atoms = problem.keys.atoms(key);
                let named = |set: SetId| {
                    self.desk
                        .sets
                        .on(set, key)
                        .map_or_else(|| atoms.named(&Bits::all(atoms.len())), |bits| atoms.named(bits))
                };
                let (was, is) = (named(before), named(after));
                if was == is || !it.looks_at(&self.desk.sets, after, self.state.places[place].taints) {
                    continue;
                }
                if super::rules::is_apart(it.rule) {
                    for atom in was.iter().filter(|atom| !is.has(*atom)) {
                        let there = &mut self.state.counts[*group][atom];
                        *there = there.saturating_sub(count);
                    }
                } else if let (Some(atom), true) = (is.single(), was.len() > 1) {
                    self.state.counts[*group][atom] += count;
                    self.state.anywhere[*group] += count;
                }
            }
        }
    }
}

/// What is taken with `count` more.
fn loaded(total: &[i64], requests: &[i64], count: usize) -> Vec<i64> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    total
        .iter()
        .zip(requests)
        .map(|(total, one)| total.saturating_add(one.saturating_mul(count)))
        .collect()
}

/// Whether a load fits.
pub(in crate::schedule) fn holds(load: &[i64], usable: &[i64]) -> bool {
    load.iter()
        .zip(usable)
        .all(|(load, usable)| *load <= 0 || load <= usable)
}

/// The first `minValues` that kinds do not meet: label, how many values there are, how many are wanted.
pub(in crate::schedule) fn lacking(
    problem: &Problem<'_>,
    pool: usize,
    sets: &crate::schedule::sets::Sets,
    set: SetId,
    kinds: &Bits,
) -> Option<(usize, u32, u32)> {
    let model = &problem.pools[pool];
    model.min_values.iter().find_map(|(key, wanted)| {
        let atoms = problem.keys.atoms(*key);
        let mut values = Bits::none(atoms.len());
        for kind in kinds.iter() {
            let kind = &model.kinds[kind];
            if let Some(mine) = &kind.bits[*key] {
                values.add(mine);
            }
            let offered = kind.offers.iter().flat_map(|offer| &offer.bits);
            offered
                .filter(|(on, _)| on == key)
                .for_each(|(_, bits)| values.add(bits));
        }
        if let Some(asked) = sets.on(set, *key) {
            values = values.and(asked);
        }
        let found = u32::try_from(atoms.named(&values).len()).unwrap_or(u32::MAX);
        (found < *wanted).then_some((*key, found, *wanted))
    })
}

/// What the largest of some kinds have, resource by resource.
pub(in crate::schedule) fn high(problem: &Problem<'_>, pool: usize, kinds: &Bits) -> Vec<i64> {
    let mut high = vec![i64::MIN; problem.dims.len()];
    for kind in kinds.iter() {
        for (most, usable) in high.iter_mut().zip(&problem.pools[pool].kinds[kind].usable) {
            *most = (*most).max(*usable);
        }
    }
    high
}

impl Place {
    /// Whether it is a claim to be made.
    pub(in crate::schedule) const fn is_new(&self) -> bool {
        self.pool.is_some()
    }
}
