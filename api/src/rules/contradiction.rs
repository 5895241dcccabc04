//! The values that a label may still have after several requirements.

use std::collections::BTreeSet;

use super::JsonPath;
use crate::Operator;

/// What is left of a label's values.
#[derive(Default)]
pub(super) struct Allowed {
    /// One of these, when there is a list.
    only: Option<BTreeSet<String>>,
    not: BTreeSet<String>,
    /// Inclusive bounds of the number, when there are any.
    min: Option<i64>,
    max: Option<i64>,
    must_exist: bool,
    must_not_exist: bool,
    from: Vec<(JsonPath, String)>,
}

impl Allowed {
    /// Adds a requirement.
    pub(super) fn narrow(&mut self, operator: Operator, values: &[&str], path: &JsonPath) {
        let text = match values {
            [] => operator.to_string(),
            values => format!("{operator} {}", values.join(", ")),
        };
        self.from.push((path.clone(), text));
        let number = values.first().and_then(|value| value.parse::<i64>().ok());
        match operator {
            Operator::In => {
                let listed: BTreeSet<String> = values.iter().map(|value| (*value).to_owned()).collect();
                self.only = Some(match self.only.take() {
                    Some(only) => only.intersection(&listed).cloned().collect(),
                    None => listed,
                });
                self.must_exist = true;
            }
            Operator::NotIn => self.not.extend(values.iter().map(|value| (*value).to_owned())),
            Operator::Exists => self.must_exist = true,
            Operator::DoesNotExist => self.must_not_exist = true,
            Operator::Gt => self.at_least(number.map(|number| number.saturating_add(1))),
            Operator::Gte => self.at_least(number),
            Operator::Lt => self.at_most(number.map(|number| number.saturating_sub(1))),
            Operator::Lte => self.at_most(number),
        }
    }

    /// Whether any node can meet all requirements so far.
    pub(super) fn is_possible(&self) -> bool {
        let bounded = self.min.is_some() || self.max.is_some();
        if self.must_not_exist {
            return !self.must_exist && !bounded;
        }
        if let Some(only) = &self.only {
            return only
                .iter()
                .any(|value| !self.not.contains(value) && (!bounded || self.in_bounds(value)));
        }
        if !bounded {
            return true;
        }
        let (min, max) = (self.min.unwrap_or(0).max(0), self.max.unwrap_or(i64::MAX));
        // A list of exceptions can only empty a range that is no longer than the list.
        let longest = i64::try_from(self.not.len()).unwrap_or(i64::MAX);
        min <= max
            && (max.saturating_sub(min) > longest
                || (min..=max).any(|number| !self.not.contains(&number.to_string())))
    }

    /// The requirements so far, for a message.
    pub(super) fn describe(&self) -> String {
        self.from
            .iter()
            .map(|(path, text)| format!("\"{text}\" ({path})"))
            .collect::<Vec<_>>()
            .join(" and ")
    }

    fn at_least(&mut self, bound: Option<i64>) {
        self.min = self.min.max(bound);
    }

    fn at_most(&mut self, bound: Option<i64>) {
        self.max = match (self.max, bound) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn in_bounds(&self, value: &str) -> bool {
        value.parse::<i64>().is_ok_and(|number| {
            self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operator::{DoesNotExist, Exists, Gt, Gte, In, Lt, Lte, NotIn};

    #[test]
    fn sees_what_excludes_each_other() {
        type Requirement = (Operator, &'static [&'static str]);
        let cases: &[(&[Requirement], bool)] = &[
            (&[(In, &["a", "b"]), (In, &["b", "c"])], true),
            (&[(In, &["a"]), (In, &["b"])], false),
            (&[(In, &["a"]), (NotIn, &["a"])], false),
            (&[(In, &["a", "b"]), (NotIn, &["a"])], true),
            (&[(Exists, &[]), (DoesNotExist, &[])], false),
            (&[(NotIn, &["a"]), (DoesNotExist, &[])], true),
            (&[(In, &["a"]), (DoesNotExist, &[])], false),
            (&[(Gt, &["4"]), (Lt, &["5"])], false),
            (&[(Gt, &["4"]), (Lt, &["6"])], true),
            (&[(Gte, &["4"]), (Lte, &["4"])], true),
            (&[(Gte, &["4"]), (Lte, &["4"]), (NotIn, &["4"])], false),
            (&[(Gte, &["4"]), (Lte, &["6"]), (NotIn, &["4", "5"])], true),
            (&[(Lt, &["0"])], false),
            (&[(In, &["2", "8"]), (Gt, &["8"])], false),
            (&[(In, &["2", "16"]), (Gt, &["8"])], true),
            (&[(In, &["large"]), (Gt, &["8"])], false),
            (&[(Gt, &["8"]), (DoesNotExist, &[])], false),
        ];
        for (requirements, want) in cases {
            let mut allowed = Allowed::default();
            for (operator, values) in *requirements {
                allowed.narrow(*operator, values, &JsonPath::root());
            }
            assert_eq!(allowed.is_possible(), *want, "{requirements:?}");
        }
    }
}
