//! The set of values a label may take: some strings, or all but some, within integer bounds.

use std::collections::BTreeSet;

use crate::text::Text;

/// A set of label values. Bounds are inclusive; a bounded set holds integers only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Values {
    /// Just these.
    Only(BTreeSet<Text>),
    /// Every value within the bounds, but not these.
    AllBut {
        /// What is taken out.
        excluded: BTreeSet<Text>,
        /// The smallest integer that belongs to the set.
        at_least: Option<i64>,
        /// The largest integer that belongs to the set.
        at_most: Option<i64>,
    },
}

impl Values {
    /// Every value.
    pub fn all() -> Values {
        Values::AllBut {
            excluded: BTreeSet::new(),
            at_least: None,
            at_most: None,
        }
    }

    /// No value.
    pub fn none() -> Values {
        Values::Only(BTreeSet::new())
    }

    /// The integers from `at_least` to `at_most`, either end open where absent.
    pub fn between(at_least: Option<i64>, at_most: Option<i64>) -> Values {
        match (at_least, at_most) {
            (Some(low), Some(high)) if low > high => Values::none(),
            _ => Values::AllBut {
                excluded: BTreeSet::new(),
                at_least,
                at_most,
            },
        }
    }

    /// The smallest and the largest integer of a bounded set.
    pub(super) fn bounds(&self) -> (Option<i64>, Option<i64>) {
        match self {
            Values::Only(_) => (None, None),
            Values::AllBut {
                at_least, at_most, ..
            } => (*at_least, *at_most),
        }
    }

    /// Whether `value` belongs to the set.
    pub fn contains(&self, value: &str) -> bool {
        match self {
            Values::Only(values) => values.contains(value),
            Values::AllBut {
                excluded,
                at_least,
                at_most,
            } => !excluded.contains(value) && within(value, *at_least, *at_most),
        }
    }

    /// Whether no value belongs to the set. A complement is never empty: integers have many spellings.
    pub fn is_empty(&self) -> bool {
        matches!(self, Values::Only(values) if values.is_empty())
    }

    /// The values in both sets.
    #[must_use]
    pub fn intersect(&self, other: &Values) -> Values {
        match (self, other) {
            (Values::Only(mine), Values::Only(theirs)) => Values::Only(mine & theirs),
            (Values::Only(some), complement) | (complement, Values::Only(some)) => Values::Only(
                some.iter()
                    .filter(|value| complement.contains(value))
                    .cloned()
                    .collect(),
            ),
            (
                Values::AllBut {
                    excluded: mine,
                    at_least: low,
                    at_most: high,
                },
                Values::AllBut {
                    excluded: theirs,
                    at_least: other_low,
                    at_most: other_high,
                },
            ) => {
                let at_least = (*low).max(*other_low);
                let at_most = [*high, *other_high].into_iter().flatten().min();
                match Values::between(at_least, at_most) {
                    // What the bounds leave out anyway need not be named.
                    Values::AllBut { .. } => {
                        let mut excluded = mine | theirs;
                        excluded.retain(|value| within(value, at_least, at_most));
                        Values::AllBut {
                            excluded,
                            at_least,
                            at_most,
                        }
                    }
                    empty @ Values::Only(_) => empty,
                }
            }
        }
    }

    /// Whether both sets share a value; `!self.intersect(other).is_empty()` without building the set.
    pub fn intersects(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Only(mine), Values::Only(theirs)) => {
                let (few, many) = if mine.len() <= theirs.len() {
                    (mine, theirs)
                } else {
                    (theirs, mine)
                };
                few.iter().any(|value| many.contains(value))
            }
            (Values::Only(some), complement) | (complement, Values::Only(some)) => {
                some.iter().any(|value| complement.contains(value))
            }
            (
                Values::AllBut {
                    at_least: low,
                    at_most: high,
                    ..
                },
                Values::AllBut {
                    at_least: other_low,
                    at_most: other_high,
                    ..
                },
            ) => {
                let high = [*high, *other_high].into_iter().flatten().min();
                !matches!(((*low).max(*other_low), high), (Some(low), Some(high)) if low > high)
            }
        }
    }

    /// Whether every value of this set belongs to `other`.
    pub fn is_subset(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Only(values), other) => values.iter().all(|value| other.contains(value)),
            (Values::AllBut { .. }, Values::Only(_)) => false,
            (
                Values::AllBut {
                    at_least: low,
                    at_most: high,
                    ..
                },
                Values::AllBut {
                    excluded,
                    at_least: other_low,
                    at_most: other_high,
                },
            ) => {
                let low_holds = other_low.is_none_or(|bound| low.is_some_and(|low| low >= bound));
                let high_holds = other_high.is_none_or(|bound| high.is_some_and(|high| high <= bound));
                low_holds && high_holds && excluded.iter().all(|value| !self.contains(value))
            }
        }
    }
}

fn within(value: &str, at_least: Option<i64>, at_most: Option<i64>) -> bool {
    if at_least.is_none() && at_most.is_none() {
        return true;
    }
    value.parse::<i64>().is_ok_and(|number| {
        at_least.is_none_or(|low| number >= low) && at_most.is_none_or(|high| number <= high)
    })
}
