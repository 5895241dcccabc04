//! Label values as numbers. Of every label that some rule speaks of, the values that can be told apart get a number each
//! (an atom), and a requirement becomes the set of atoms that it allows: exact set algebra on a few machine words.
//!
//! Atoms of a label: that it is missing; any text that nobody names; each value that is named; and, between the bounds
//! that comparisons name, any integer that nobody names.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::requirements::{Operator, Requirement, Values};
use crate::text::Text;

/// The label is missing.
pub(super) const ABSENT: usize = 0;
/// The label is a text that nobody names.
const OTHER: usize = 1;
/// The first named value.
const FIRST: usize = 2;

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Nothing, with room for `len` numbers.
    pub(super) fn none(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    /// All numbers below `len`.
    pub(super) fn all(len: usize) -> Bits {
        let mut all = Bits::none(len);
        (0..len).for_each(|bit| all.set(bit));
        all
    }

    pub(super) fn one(len: usize, bit: usize) -> Bits {
        let mut one = Bits::none(len);
        one.set(bit);
        one
    }

    pub(super) fn set(&mut self, bit: usize) {
        if bit / 64 >= self.0.len() {
            self.0.resize(bit / 64 + 1, 0);
        }
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    pub(super) fn clear(&mut self, bit: usize) {
        if let Some(word) = self.0.get_mut(bit / 64) {
            *word &= !(1 << (bit % 64));
        }
    }

    /// Leaves out what is not wanted.
    pub(super) fn keep(&mut self, wanted: impl Fn(usize) -> bool) {
        for (index, word) in self.0.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !wanted(index * 64 + bit as usize) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    pub(super) fn has(&self, bit: usize) -> bool {
        self.0
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn is_subset(&self, other: &Bits) -> bool {
        self.0
            .iter()
            .enumerate()
            .all(|(index, word)| word & !other.0.get(index).copied().unwrap_or(0) == 0)
    }

    #[must_use]
    pub(super) fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    pub(super) fn add(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    index * 64 + bit
                })
            })
        })
    }

    /// The only number in the set.
    pub(super) fn single(&self) -> Option<usize> {
        let mut all = self.iter();
        all.next().filter(|_| all.next().is_none())
    }
}

/// The atoms of one label.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    values: BTreeMap<Text, usize>,
    names: Vec<Text>,
    /// Runs of integers that nobody names, both ends inclusive.
    runs: Vec<(i64, i64)>,
}

impl Atoms {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        FIRST + self.names.len() + self.runs.len()
    }

    /// The atom of a label's value; `None`: the label is missing.
    pub(super) fn of(&self, value: Option<&str>) -> usize {
        let Some(value) = value else { return ABSENT };
        if let Some(known) = self.values.get(value) {
            return *known;
        }
        let run = value.parse::<i64>().ok().and_then(|number| {
            self.runs
                .iter()
                .position(|(low, high)| (*low..=*high).contains(&number))
        });
        run.map_or(OTHER, |run| FIRST + self.names.len() + run)
    }

    /// Whether an atom is a named value.
    pub(super) fn is_named(&self, atom: usize) -> bool {
        atom >= FIRST && atom < FIRST + self.names.len()
    }

    /// The named values of a set.
    pub(super) fn named(&self, bits: &Bits) -> Bits {
        let mut named = bits.clone();
        named.clear(ABSENT);
        named.clear(OTHER);
        (FIRST + self.names.len()..self.len()).for_each(|bit| named.clear(bit));
        named
    }

    /// The atoms that a requirement allows.
    pub(super) fn bits(&self, requirement: &Requirement) -> Bits {
        let mut bits = Bits::none(self.len());
        if requirement.allows(None) {
            bits.set(ABSENT);
        }
        match requirement.values() {
            Values::Only(values) => {
                for value in values {
                    bits.set(self.of(Some(value)));
                }
            }
            Values::AllBut {
                at_least, at_most, ..
            } => {
                if at_least.is_none() && at_most.is_none() {
                    bits.set(OTHER);
                }
                for (index, name) in self.names.iter().enumerate() {
                    if requirement.allows(Some(name)) {
                        bits.set(FIRST + index);
                    }
                }
                for (index, (low, high)) in self.runs.iter().enumerate() {
                    if at_least.is_none_or(|bound| bound <= *low)
                        && at_most.is_none_or(|bound| bound >= *high)
                    {
                        bits.set(FIRST + self.names.len() + index);
                    }
                }
            }
        }
        bits
    }

    /// A requirement that allows just these atoms.
    pub(super) fn requirement(&self, key: &Text, bits: &Bits) -> Requirement {
        let (first_run, end) = (FIRST + self.names.len(), self.len());
        let mut runs = (first_run..end).filter(|atom| bits.has(*atom));
        let inside: Vec<Text> = self.names_in(bits, true);
        let made = if bits.has(OTHER) {
            let outside = self.names_in(bits, false);
            Some(Requirement::is_not_in(key.clone(), outside))
        } else if let Some(low) = runs.next() {
            let high = runs.next_back().unwrap_or(low);
            let (low, high) = (self.runs[low - first_run].0, self.runs[high - first_run].1);
            let bound =
                |operator, bound: i64| Requirement::new(key.clone(), operator, [bound.to_string()]).ok();
            let low = (low > i64::MIN).then(|| bound(Operator::Gte, low)).flatten();
            let high = (high < i64::MAX).then(|| bound(Operator::Lte, high)).flatten();
            let outside = self.names_in(bits, false);
            let outside = Requirement::is_not_in(key.clone(), outside);
            Some(
                [low, high]
                    .into_iter()
                    .flatten()
                    .fold(outside, |all, one| all.intersect(&one)),
            )
        } else {
            None
        };
        match (made, bits.has(ABSENT)) {
            (Some(made), true) => made,
            (Some(made), false) => made.intersect(&Requirement::exists(key.clone())),
            (None, true) if inside.is_empty() => Requirement::does_not_exist(key.clone()),
            (None, _) => Requirement::is_in(key.clone(), inside),
        }
    }

    fn names_in(&self, bits: &Bits, inside: bool) -> Vec<Text> {
        let named = self.names.iter().enumerate();
        named
            .filter(|(index, _)| bits.has(FIRST + index) == inside)
            .map(|(_, name)| name.clone())
            .collect()
    }
}

/// The labels that rules speak of, while they are gathered.
#[derive(Debug, Default)]
pub(super) struct Gather {
    keys: BTreeMap<Text, (BTreeSet<Text>, BTreeSet<i64>)>,
}

impl Gather {
    /// A label that rules speak of.
    pub(super) fn key(&mut self, key: &Text) {
        if !self.keys.contains_key(key) {
            self.keys.insert(key.clone(), Default::default());
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// A value of a label, where rules speak of the label.
    pub(super) fn value(&mut self, key: &str, value: &Text) {
        if let Some((values, _)) = self.keys.get_mut(key)
            && !values.contains(value)
        {
            values.insert(value.clone());
        }
    }

    /// The values and bounds of a requirement, where rules speak of its label.
    pub(super) fn requirement(&mut self, requirement: &Requirement) {
        let Some((values, bounds)) = self.keys.get_mut(requirement.key()) else {
            return;
        };
        let named = match requirement.values() {
            Values::Only(values) => values,
            Values::AllBut {
                excluded,
                at_least,
                at_most,
            } => {
                // Bounds are kept as the first integer of the next run.
                bounds.extend(*at_least);
                bounds.extend(at_most.and_then(|high| high.checked_add(1)));
                excluded
            }
        };
        for value in named {
            if !values.contains(value) {
                values.insert(value.clone());
            }
        }
    }

    pub(super) fn finish(self) -> Keys {
        let (mut ids, mut names, mut atoms) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (key, (values, bounds)) in self.keys {
            ids.insert(key.clone(), names.len());
            names.push(key);
            atoms.push(atoms_of(values, &bounds));
        }
        Keys { ids, names, atoms }
    }
}

fn atoms_of(values: BTreeSet<Text>, bounds: &BTreeSet<i64>) -> Atoms {
    let numbers: BTreeSet<i64> = values
        .iter()
        .filter_map(|value| value.parse::<i64>().ok())
        .collect();
    let mut starts: Vec<i64> = vec![i64::MIN];
    starts.extend(bounds.iter().filter(|bound| **bound > i64::MIN));
    let mut runs = Vec::new();
    for (index, low) in starts.iter().enumerate() {
        let high = starts.get(index + 1).map_or(i64::MAX, |next| next - 1);
        let named = numbers.range(*low..=high).count();
        let integers = i128::from(high) - i128::from(*low) + 1;
        if i128::try_from(named).is_ok_and(|named| named < integers) {
            runs.push((*low, high));
        }
    }
    let names: Vec<Text> = values.into_iter().collect();
    Atoms {
        values: names
            .iter()
            .enumerate()
            .map(|(index, name)| (name.clone(), FIRST + index))
            .collect(),
        names,
        runs,
    }
}

/// The labels that rules speak of, by number.
#[derive(Debug, Default)]
pub(super) struct Keys {
    ids: BTreeMap<Text, usize>,
    names: Vec<Text>,
    atoms: Vec<Atoms>,
}

impl Keys {
    pub(super) fn id(&self, key: &str) -> Option<usize> {
        self.ids.get(key).copied()
    }

    pub(super) fn name(&self, key: usize) -> &Text {
        &self.names[key]
    }

    pub(super) fn atoms(&self, key: usize) -> &Atoms {
        &self.atoms[key]
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{ABSENT, Gather};
    use crate::requirements::{Operator, Requirement};

    #[test]
    fn sets_of_atoms_are_exact() {
        let key = "cpu";
        let one = |operator, values: &[&str]| {
            Requirement::new(key, operator, values.iter().copied()).expect("it is written well")
        };
        let all = [
            one(Operator::Gt, &["4"]),
            one(Operator::Lt, &["6"]),
            one(Operator::Lte, &["5"]),
            one(Operator::Gte, &["6"]),
            one(Operator::In, &["4", "5", "x"]),
            one(Operator::NotIn, &["5"]),
            one(Operator::Exists, &[]),
            one(Operator::DoesNotExist, &[]),
        ];
        let mut gather = Gather::default();
        gather.key(&key.into());
        all.iter().for_each(|it| gather.requirement(it));
        let keys = gather.finish();
        let atoms = keys.atoms(0);
        for a in &all {
            for b in &all {
                let both = atoms.bits(a).and(&atoms.bits(b));
                // Five is excluded on one side and all that the bounds leave on the other.
                let want = a.intersects(b) && !empty_by_exclusion(a, b);
                assert_eq!(!both.is_empty(), want, "{a} and {b}: {both:?}");
            }
        }
        assert!(atoms.bits(&all[7]).has(ABSENT));
    }

    fn empty_by_exclusion(a: &Requirement, b: &Requirement) -> bool {
        let both = a.intersect(b);
        let none = |low: i64, high: i64| (low..=high).all(|it| !both.allows(Some(&it.to_string())));
        !both.allows(None) && !both.allows(Some("x")) && !both.allows(Some("y")) && none(-20, 20)
    }
}
