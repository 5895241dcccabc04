//! Requirements on several labels, by number: equal ones are one, and what two of them have in common is worked out once.

use std::collections::BTreeMap;

use super::atoms::Bits;

/// Requirements known to [`Sets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetId(u32);

/// Requirements on labels; a label that is not in here may be anything.
pub(super) type Set = Vec<(usize, Bits)>;

/// All requirements seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    known: Vec<Set>,
    index: BTreeMap<Set, u32>,
    common: PairMap,
}

/// Stands for "nothing in common" in [`PairMap`].
const NOTHING: u32 = u32::MAX;

impl Sets {
    /// The number of `set`, which is sorted by label.
    pub(super) fn intern(&mut self, set: Set) -> SetId {
        if let Some(known) = self.index.get(&set) {
            return SetId(*known);
        }
        let id = u32::try_from(self.known.len()).unwrap_or(NOTHING);
        self.known.push(set.clone());
        self.index.insert(set, id);
        SetId(id)
    }

    pub(super) fn get(&self, id: SetId) -> &Set {
        &self.known[id.index()]
    }

    /// What is asked of a label.
    pub(super) fn on(&self, id: SetId, key: usize) -> Option<&Bits> {
        let set = self.get(id);
        set.binary_search_by_key(&key, |(key, _)| *key)
            .ok()
            .map(|found| &set[found].1)
    }

    /// Requirements on one label.
    pub(super) fn only(&mut self, key: usize, bits: Bits) -> SetId {
        self.intern(vec![(key, bits)])
    }

    /// What satisfies both; none where nothing can.
    pub(super) fn and(&mut self, a: SetId, b: SetId) -> Option<SetId> {
        if a == b {
            return Some(a);
        }
        let pair = u64::from(a.0.min(b.0)) << 32 | u64::from(a.0.max(b.0));
        let known = match self.common.get(pair) {
            Some(known) => known,
            None => {
                let made = self.combine(a, b).map_or(NOTHING, |set| self.intern(set).0);
                self.common.insert(pair, made);
                made
            }
        };
        (known != NOTHING).then_some(SetId(known))
    }

    fn combine(&self, a: SetId, b: SetId) -> Option<Set> {
        let (a, b) = (self.get(a), self.get(b));
        let mut both = Vec::with_capacity(a.len() + b.len());
        let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some((mine, _)), Some((theirs, _))) if mine == theirs => {
                    let (Some((key, mine)), Some((_, theirs))) = (left.next(), right.next()) else {
                        return Some(both);
                    };
                    let bits = mine.and(theirs);
                    if bits.is_empty() {
                        return None;
                    }
                    both.push((*key, bits));
                }
                (Some((mine, _)), Some((theirs, _))) if mine < theirs => both.extend(left.next().cloned()),
                (Some(_), None) => both.extend(left.next().cloned()),
                (_, Some(_)) => both.extend(right.next().cloned()),
                (None, None) => return Some(both),
            }
        }
    }

    /// The first label on which the two have nothing in common.
    pub(super) fn clash(&self, a: SetId, b: SetId) -> Option<usize> {
        self.get(b)
            .iter()
            .find(|(key, wanted)| self.on(a, *key).is_some_and(|mine| !mine.meets(wanted)))
            .map(|(key, _)| *key)
    }

    /// Whether all that `a` may be satisfies `wanted`; labels that `a` does not speak of are missing.
    pub(super) fn implies(&self, a: SetId, wanted: SetId) -> bool {
        self.get(wanted).iter().all(|(key, wanted)| {
            self.on(a, *key)
                .map_or(wanted.has(super::atoms::ABSENT), |mine| mine.is_subset(wanted))
        })
    }
}

impl SetId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A map from pairs of numbers to numbers: open addressing, looked up and never walked through, so its order never shows.
#[derive(Clone, Debug, Default)]
pub(super) struct PairMap {
    slots: Vec<(u64, u32)>,
    len: usize,
}

const EMPTY: u64 = u64::MAX;

impl PairMap {
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.find(key)];
        (slot.0 == key).then_some(slot.1)
    }

    pub(super) fn insert(&mut self, key: u64, value: u32) {
        if self.len * 2 >= self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![(EMPTY, 0); (old.len() * 2).max(64)];
            for slot in old.into_iter().filter(|slot| slot.0 != EMPTY) {
                let at = self.find(slot.0);
                self.slots[at] = slot;
            }
        }
        let at = self.find(key);
        self.len += usize::from(self.slots[at].0 == EMPTY);
        self.slots[at] = (key, value);
    }

    /// Where `key` is, or where it would go.
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or(0) & mask;
        while self.slots[at].0 != EMPTY && self.slots[at].0 != key {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::PairMap;

    #[test]
    fn pairs_are_found_again() {
        let mut map = PairMap::default();
        for key in 0..1000u64 {
            map.insert(key * 7919, u32::try_from(key).unwrap_or(0));
        }
        for key in 0..1000u64 {
            assert_eq!(map.get(key * 7919).map(u64::from), Some(key));
        }
        assert_eq!(map.get(5), None);
    }
}
