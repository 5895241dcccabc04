//! Which values of labels a claim keeps so that the rules of the pods that come hold.

use super::Round;
use super::admit::Ask;
use crate::schedule::atoms::Bits;
use crate::schedule::problem::fits;
use crate::schedule::sets::SetId;

/// Whether narrowing has chosen among several values of a label already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    None,
    Made,
}

impl Round<'_, '_> {
    /// Narrows requirements to values of labels that the rules of a class allow, and says how many pods may follow. Of
    /// several values the least crowded is taken, then the cheapest; one that leaves no kind large enough, for itself or
    /// for the labels that follow, is passed over.
    pub(super) fn narrow(
        &mut self,
        place: usize,
        set: SetId,
        ask: Ask,
        most: usize,
    ) -> Option<(SetId, usize)> {
        let keys = self.label_keys(ask.class, ask.level);
        self.narrow_by(&keys, place, set, ask, most, Choice::None)
    }

    fn narrow_by(
        &mut self,
        keys: &[usize],
        place: usize,
        set: SetId,
        ask: Ask,
        most: usize,
        earlier: Choice,
    ) -> Option<(SetId, usize)> {
        let Some((key, rest)) = keys.split_first() else {
            return Some((set, most));
        };
        let key = *key;
        let (allowed, single, limit) = self.allowed(ask.class, ask.level, key);
        let most = most.min(limit);
        let atoms = self.problem.keys.atoms(key);
        let mine = match self.desk.sets.on(set, key) {
            Some(mine) => mine.and(&allowed),
            None => allowed,
        };
        if mine.is_empty() {
            return None;
        }
        if !single {
            let narrowed = self.desk.sets.only(key, mine);
            let set = self.desk.sets.and(set, narrowed)?;
            return self.narrow_by(rest, place, set, ask, most, earlier);
        }
        let named = atoms.named(&mine);
        let alone = earlier == Choice::None && named.single().is_some();
        let made = if alone { Choice::None } else { Choice::Made };
        let mut choices: Vec<(u64, u64, usize, SetId)> = Vec::new();
        for atom in named.iter() {
            let pin = self.desk.sets.only(key, Bits::one(atoms.len(), atom));
            let Some(pinned) = self.desk.sets.and(set, pin) else {
                continue;
            };
            // Where there is no choice to go back to, whether a kind is large enough is seen soon enough.
            let price = if alone {
                0
            } else {
                match self.cheapest_that_holds(place, pinned, ask.class) {
                    Some(price) => price,
                    None => continue,
                }
            };
            choices.push((self.crowd(ask.class, ask.level, key, atom), price, atom, pinned));
        }
        choices.sort_unstable();
        choices
            .into_iter()
            .find_map(|(_, _, _, pinned)| self.narrow_by(rest, place, pinned, ask, most, made))
    }

    /// The lowest price of the kinds of a claim that suit `set` and hold one more pod of a class; none where no kind does.
    fn cheapest_that_holds(&mut self, place: usize, set: SetId, class: usize) -> Option<u64> {
        let problem = self.problem;
        let pool = self.state.places[place].pool?;
        let payment = self.state.places[place].payment;
        let profile = self.desk.profile(problem, pool, set, payment);
        let profile = self.desk.get(profile);
        let it = &self.state.places[place];
        let requests = &problem.classes[class].requests;
        let holding = it.kinds.iter().filter(|kind| {
            profile.kinds.has(*kind) && fits(&it.total, requests, &problem.pools[pool].kinds[*kind].usable)
        });
        holding.map(|kind| profile.prices[kind]).min()
    }
}
