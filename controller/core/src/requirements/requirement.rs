//! What one label must be. A requirement is a set of label values, and whether the label may be missing.

use std::collections::BTreeSet;
use std::fmt;

use super::spelling::Spelling;
use super::values::Values;
use crate::text::Text;
use crate::well_known;

/// The operators of Kubernetes' node selectors and of Karpenter's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is missing.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is missing.
    DoesNotExist,
    /// The label is an integer above the value.
    Gt,
    /// The label is an integer below the value.
    Lt,
    /// The label is an integer not below the value.
    Gte,
    /// The label is an integer not above the value.
    Lte,
}

impl Operator {
    const ALL: [Operator; 8] = [
        Operator::In,
        Operator::NotIn,
        Operator::Exists,
        Operator::DoesNotExist,
        Operator::Gt,
        Operator::Lt,
        Operator::Gte,
        Operator::Lte,
    ];

    /// Reads Kubernetes' spelling.
    pub fn parse(text: &str) -> Option<Operator> {
        Operator::ALL
            .into_iter()
            .find(|operator| operator.as_str() == text)
    }

    /// Kubernetes' spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Operator::In => "In",
            Operator::NotIn => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::Gt => "Gt",
            Operator::Lt => "Lt",
            Operator::Gte => "Gte",
            Operator::Lte => "Lte",
        }
    }
}

/// Whether a node without the label satisfies a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absence {
    /// It does.
    Allowed,
    /// It does not.
    Refused,
}

/// Why a requirement has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequirement {
    /// The operator is none that we know.
    #[error(
        "requirement on {key:?}: operator {operator:?} is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte"
    )]
    Operator {
        /// The label.
        key: Text,
        /// What was written.
        operator: String,
    },
    /// A comparison needs exactly one integer.
    #[error("requirement on {key:?}: operator {} needs one integer, found {values:?}", operator.as_str())]
    Comparison {
        /// The label.
        key: Text,
        /// The comparison.
        operator: Operator,
        /// What was written.
        values: Vec<Text>,
    },
}

/// What one label must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    key: Text,
    values: Values,
    absence: Absence,
    min_values: Option<u32>,
    spelling: Spelling,
}

impl Requirement {
    /// A requirement from its written parts. The key is normalised (`beta.kubernetes.io/arch` becomes
    /// `kubernetes.io/arch`).
    ///
    /// # Errors
    /// [`InvalidRequirement::Comparison`] where Gt, Lt, Gte or Lte has no single integer.
    pub fn new<V: Into<Text>>(
        key: impl Into<Text>,
        operator: Operator,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Requirement, InvalidRequirement> {
        let key = well_known::normalise(key.into());
        let values: BTreeSet<Text> = values.into_iter().map(Into::into).collect();
        let number = || match (values.first(), values.len()) {
            (Some(only), 1) => only.parse::<i64>().ok(),
            _ => None,
        };
        let comparison = |number: Option<i64>| {
            number.ok_or_else(|| InvalidRequirement::Comparison {
                key: key.clone(),
                operator,
                values: values.iter().cloned().collect(),
            })
        };
        let (values, absence) = match operator {
            Operator::In => (Values::Only(values), Absence::Refused),
            Operator::NotIn => (
                Values::AllBut {
                    excluded: values,
                    at_least: None,
                    at_most: None,
                },
                Absence::Allowed,
            ),
            Operator::Exists => (Values::all(), Absence::Refused),
            Operator::DoesNotExist => (Values::none(), Absence::Allowed),
            Operator::Gte => (
                Values::between(Some(comparison(number())?), None),
                Absence::Refused,
            ),
            Operator::Lte => (
                Values::between(None, Some(comparison(number())?)),
                Absence::Refused,
            ),
            Operator::Gt => match comparison(number())?.checked_add(1) {
                Some(low) => (Values::between(Some(low), None), Absence::Refused),
                None => (Values::none(), Absence::Refused),
            },
            Operator::Lt => match comparison(number())?.checked_sub(1) {
                Some(high) => (Values::between(None, Some(high)), Absence::Refused),
                None => (Values::none(), Absence::Refused),
            },
        };
        Ok(Requirement {
            key,
            values,
            absence,
            min_values: None,
            spelling: Spelling::of(operator),
        })
    }

    /// As [`Requirement::new`], with the operator as it is spelt in a manifest.
    ///
    /// # Errors
    /// Also [`InvalidRequirement::Operator`] for a spelling that is no operator.
    pub fn parse<V: Into<Text>>(
        key: impl Into<Text>,
        operator: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Requirement, InvalidRequirement> {
        let key = key.into();
        match Operator::parse(operator) {
            Some(operator) => Requirement::new(key, operator, values),
            None => Err(InvalidRequirement::Operator {
                key,
                operator: operator.to_owned(),
            }),
        }
    }

    /// The label has one of `values`.
    pub fn is_in<V: Into<Text>>(key: impl Into<Text>, values: impl IntoIterator<Item = V>) -> Requirement {
        let values = Values::Only(values.into_iter().map(Into::into).collect());
        Requirement {
            key: well_known::normalise(key.into()),
            values,
            absence: Absence::Refused,
            min_values: None,
            spelling: Spelling::default(),
        }
    }

    /// The label has exactly `value`.
    pub fn is(key: impl Into<Text>, value: impl Into<Text>) -> Requirement {
        Requirement::is_in(key, [value.into()])
    }

    /// The label has none of `values`, or is missing.
    pub fn is_not_in<V: Into<Text>>(
        key: impl Into<Text>,
        values: impl IntoIterator<Item = V>,
    ) -> Requirement {
        let excluded = values.into_iter().map(Into::into).collect();
        let values = Values::AllBut {
            excluded,
            at_least: None,
            at_most: None,
        };
        Requirement {
            key: well_known::normalise(key.into()),
            values,
            absence: Absence::Allowed,
            min_values: None,
            spelling: Spelling::default(),
        }
    }

    /// The label is there.
    pub fn exists(key: impl Into<Text>) -> Requirement {
        let key = well_known::normalise(key.into());
        Requirement {
            key,
            values: Values::all(),
            absence: Absence::Refused,
            min_values: None,
            spelling: Spelling::default(),
        }
    }

    /// The label is missing.
    pub fn does_not_exist(key: impl Into<Text>) -> Requirement {
        let key = well_known::normalise(key.into());
        Requirement {
            key,
            values: Values::none(),
            absence: Absence::Allowed,
            min_values: None,
            spelling: Spelling::default(),
        }
    }

    /// The same requirement, with at least `count` different values wanted among the instance types of a claim.
    #[must_use]
    pub fn with_min_values(mut self, count: Option<u32>) -> Requirement {
        self.min_values = count;
        self
    }

    /// The label's key, normalised.
    pub fn key(&self) -> &Text {
        &self.key
    }

    /// The values it may have.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Whether it may be missing.
    pub fn absence(&self) -> Absence {
        self.absence
    }

    /// How many different values the instance types of a claim must offer.
    pub fn min_values(&self) -> Option<u32> {
        self.min_values
    }

    /// The value, where only one is possible.
    pub fn single(&self) -> Option<&Text> {
        match (&self.values, self.absence) {
            (Values::Only(values), Absence::Refused) if values.len() == 1 => values.first(),
            _ => None,
        }
    }

    /// Whether a node whose label is `value` (`None`: has no such label) satisfies the requirement.
    pub fn allows(&self, value: Option<&str>) -> bool {
        match value {
            Some(value) => self.values.contains(value),
            None => self.absence == Absence::Allowed,
        }
    }

    /// Whether no node can satisfy the requirement.
    pub fn is_impossible(&self) -> bool {
        self.absence == Absence::Refused && self.values.is_empty()
    }

    /// Whether some node can satisfy both.
    pub fn intersects(&self, other: &Requirement) -> bool {
        (self.absence == Absence::Allowed && other.absence == Absence::Allowed)
            || self.values.intersects(&other.values)
    }

    /// Whether every node that satisfies this requirement satisfies `other` too.
    pub fn implies(&self, other: &Requirement) -> bool {
        (self.absence == Absence::Refused || other.absence == Absence::Allowed)
            && self.values.is_subset(&other.values)
    }

    /// What satisfies both; of two `minValues` the larger. Keys are taken to be equal.
    #[must_use]
    pub fn intersect(&self, other: &Requirement) -> Requirement {
        let absence = match (self.absence, other.absence) {
            (Absence::Allowed, Absence::Allowed) => Absence::Allowed,
            _ => Absence::Refused,
        };
        let values = self.values.intersect(&other.values);
        let spelling = Spelling::of_both(
            &values,
            (&self.values, self.spelling),
            (&other.values, other.spelling),
        );
        Requirement {
            key: self.key.clone(),
            values,
            absence,
            min_values: self.min_values.max(other.min_values),
            spelling,
        }
    }

    /// The requirement in the words of an API object: operators and values that together mean the same. One that no
    /// node can satisfy is written as `In` without values.
    pub fn terms(&self) -> Vec<(Operator, Vec<Text>)> {
        let number = |bound: i64| vec![Text::from(bound.to_string())];
        match (&self.values, self.absence) {
            (Values::Only(values), Absence::Allowed) if values.is_empty() => {
                vec![(Operator::DoesNotExist, Vec::new())]
            }
            (Values::Only(values), _) => vec![(Operator::In, values.iter().cloned().collect())],
            (
                Values::AllBut {
                    excluded,
                    at_least,
                    at_most,
                },
                absence,
            ) => {
                let mut terms = Vec::new();
                terms.extend(at_least.map(|low| (Operator::Gte, number(low))));
                terms.extend(at_most.map(|high| (Operator::Lte, number(high))));
                if !excluded.is_empty() || (absence == Absence::Allowed && terms.is_empty()) {
                    terms.push((Operator::NotIn, excluded.iter().cloned().collect()));
                }
                if absence == Absence::Refused && at_least.is_none() && at_most.is_none() {
                    terms.push((Operator::Exists, Vec::new()));
                }
                terms
            }
        }
    }
}

/// As it was written, as far as that is known.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        write!(f, "{}", self.key)?;
        for (index, (operator, values)) in self.terms().into_iter().enumerate() {
            let and = if index == 0 { "" } else { " and" };
            let bound = values.first().and_then(|value| value.parse().ok());
            if let (Operator::Gte | Operator::Lte, Some(bound)) = (operator, bound) {
                let (operator, bound) = self.spelling.written(operator, bound);
                write!(f, "{and} {} {bound}", operator.as_str())?;
                continue;
            }
            write!(f, "{and} {}", operator.as_str())?;
            match operator {
                Operator::Exists | Operator::DoesNotExist => {}
                Operator::In | Operator::NotIn => {
                    let shown = values
                        .iter()
                        .take(SHOWN)
                        .map(|value| &**value)
                        .collect::<Vec<_>>()
                        .join(", ");
                    match values.len().saturating_sub(SHOWN) {
                        0 => write!(f, " [{shown}]")?,
                        more => write!(f, " [{shown} and {more} more]")?,
                    }
                }
                Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte => {
                    values.iter().try_for_each(|value| write!(f, " {value}"))?;
                }
            }
        }
        match self.min_values {
            Some(count) => write!(f, " (at least {count} values)"),
            None => Ok(()),
        }
    }
}
