//! How the bounds of a requirement were written, for messages: a set of integers does not know whether it was `Gt 5` or `Gte 6`.

use std::cmp::Ordering;

use super::requirement::Operator;
use super::values::Values;

/// Which bounds were written as `Gt` or `Lt`. It says nothing of what is meant, so all spellings are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spelling {
    gt: bool,
    lt: bool,
}

impl PartialEq for Spelling {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spelling {}

impl PartialOrd for Spelling {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Spelling {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Spelling {
    /// That of one operator.
    pub(super) fn of(operator: Operator) -> Self {
        Self {
            gt: operator == Operator::Gt,
            lt: operator == Operator::Lt,
        }
    }

    /// That of `both`, the values that are left of two requirements: each bound is spelt as in the one that it comes from.
    pub(super) fn of_both(both: &Values, first: (&Values, Self), second: (&Values, Self)) -> Self {
        let (low, high) = both.bounds();
        Self {
            gt: if first.0.bounds().0 == low {
                first.1.gt
            } else {
                second.1.gt
            },
            lt: if first.0.bounds().1 == high {
                first.1.lt
            } else {
                second.1.lt
            },
        }
    }

    /// A bound as it was written.
    pub(super) fn written(self, operator: Operator, bound: i64) -> (Operator, i64) {
        match operator {
            Operator::Gte if self.gt => (Operator::Gt, bound.saturating_sub(1)),
            Operator::Lte if self.lt => (Operator::Lt, bound.saturating_add(1)),
            other => (other, bound),
        }
    }
}
