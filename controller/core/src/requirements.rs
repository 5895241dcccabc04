//! Requirements on labels, as set algebra: what a pod asks for, what a pool offers, what an instance type is.
//!
//! Everything is one kind of value. A pool's requirements narrowed by a pod's are their intersection; whether the
//! two go together is whether the intersection is possible for every label.

mod interner;
mod requirement;
mod spelling;
mod values;

use std::fmt;
use std::sync::Arc;

use crate::text::{Labels, Text};
use crate::well_known;

pub use interner::Interner;
pub use requirement::{Absence, InvalidRequirement, Operator, Requirement};
pub use values::Values;

/// Requirements on several labels, all of which must hold; at most one a key. A copy costs a pointer a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirements(
    /// Sorted by key.
    Vec<Arc<Requirement>>,
);

/// What it means that the offering side says nothing about a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// The label is missing, whatever its key: for nodes that exist.
    Missing,
    /// A well-known label may still take any value, since an instance type will say; others are missing. For pools
    /// and for claims that have no instance yet.
    WellKnownOpen,
}

/// Why two sets of requirements do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Something is asked of a label that the other side does not have.
    Undefined {
        /// What is asked.
        wanted: Requirement,
        /// A label that was probably meant.
        nearest: Option<Text>,
    },
    /// Both speak of the label and no value satisfies both.
    Disjoint {
        /// What is asked.
        wanted: Requirement,
        /// What there is.
        offered: Requirement,
    },
}

impl Conflict {
    /// The label at odds.
    pub fn key(&self) -> &Text {
        match self {
            Conflict::Undefined { wanted, .. } | Conflict::Disjoint { wanted, .. } => wanted.key(),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::Undefined {
                wanted,
                nearest: Some(nearest),
            } => {
                write!(
                    f,
                    "{wanted} is wanted, but no such label is defined (was {nearest} meant?)"
                )
            }
            Conflict::Undefined {
                wanted,
                nearest: None,
            } => {
                write!(f, "{wanted} is wanted, but no such label is defined")
            }
            Conflict::Disjoint { wanted, offered } => write!(f, "{wanted} is wanted, {offered} is offered"),
        }
    }
}

impl Requirements {
    /// No requirement at all.
    pub const fn new() -> Requirements {
        Requirements(Vec::new())
    }

    /// Exactly these labels.
    pub fn from_labels(labels: &Labels) -> Requirements {
        labels
            .iter()
            .map(|(key, value)| Requirement::is(key.clone(), value.clone()))
            .collect()
    }

    /// Narrows by one more requirement.
    pub fn add(&mut self, requirement: Requirement) {
        self.add_shared(Arc::new(requirement));
    }

    /// Narrows by one more requirement, which may be part of others, too.
    pub fn add_shared(&mut self, requirement: Arc<Requirement>) {
        match self.find(requirement.key()) {
            Ok(at) if Arc::ptr_eq(&self.0[at], &requirement) => {}
            Ok(at) => self.0[at] = Arc::new(self.0[at].intersect(&requirement)),
            Err(gap) => self.0.insert(gap, requirement),
        }
    }

    /// Narrows by all of `other`.
    pub fn add_all(&mut self, other: &Requirements) {
        other
            .0
            .iter()
            .for_each(|requirement| self.add_shared(Arc::clone(requirement)));
    }

    /// Narrowed by all of `other`.
    #[must_use]
    pub fn and(&self, other: &Requirements) -> Requirements {
        let mut both = self.clone();
        both.add_all(other);
        both
    }

    /// Puts `requirement` in place of whatever was asked of its label.
    pub fn replace(&mut self, requirement: Requirement) {
        let requirement = Arc::new(requirement);
        match self.find(requirement.key()) {
            Ok(at) => self.0[at] = requirement,
            Err(gap) => self.0.insert(gap, requirement),
        }
    }

    /// Drops what is asked of `key`.
    pub fn remove(&mut self, key: &str) -> Option<Requirement> {
        let at = self.find(key).ok()?;
        Some(Arc::unwrap_or_clone(self.0.remove(at)))
    }

    /// What is asked of `key`.
    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.find(key).ok().map(|at| &*self.0[at])
    }

    /// All requirements, by key.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.0.iter().map(|requirement| &**requirement)
    }

    /// How many labels are spoken of.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels of which only one value is possible.
    pub fn labels(&self) -> Labels {
        let single = |requirement: &Requirement| {
            requirement
                .single()
                .map(|value| (requirement.key().clone(), value.clone()))
        };
        self.iter().filter_map(single).collect()
    }

    /// Whether some requirement asks for several values among instance types.
    pub fn has_min_values(&self) -> bool {
        self.iter().any(|requirement| requirement.min_values().is_some())
    }

    /// Whether a node with these labels satisfies every requirement.
    pub fn allow_labels(&self, labels: &Labels) -> bool {
        self.iter()
            .all(|requirement| requirement.allows(labels.get(requirement.key()).map(|value| &**value)))
    }

    /// The first conflict, by key, between these requirements (the offering side) and `wanted`.
    pub fn conflict(&self, wanted: &Requirements, undefined: Undefined) -> Option<Conflict> {
        wanted
            .iter()
            .find_map(|wanted| self.conflict_on(wanted, undefined))
    }

    /// Whether these requirements (the offering side) go together with `wanted`.
    pub fn is_compatible(&self, wanted: &Requirements, undefined: Undefined) -> bool {
        wanted.iter().all(|wanted| match self.get(wanted.key()) {
            Some(offered) => offered.intersects(wanted),
            None => {
                wanted.absence() == Absence::Allowed
                    || (undefined == Undefined::WellKnownOpen && well_known::is_well_known(wanted.key()))
            }
        })
    }

    /// Whether every node that satisfies these requirements satisfies `wanted` too, where labels that are not spoken
    /// of may be anything.
    pub fn imply(&self, wanted: &Requirements) -> bool {
        wanted
            .iter()
            .all(|wanted| self.get(wanted.key()).is_some_and(|mine| mine.implies(wanted)))
    }

    /// Whether both can hold for every label of which both speak.
    pub fn intersects(&self, other: &Requirements) -> bool {
        let (few, many) = if self.len() <= other.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.iter()
            .all(|mine| many.get(mine.key()).is_none_or(|theirs| theirs.intersects(mine)))
    }

    /// Where what is asked of `key` is, or would be.
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|requirement| (**requirement.key()).cmp(key))
    }

    fn conflict_on(&self, wanted: &Requirement, undefined: Undefined) -> Option<Conflict> {
        match self.get(wanted.key()) {
            Some(offered) if offered.intersects(wanted) => None,
            Some(offered) => Some(Conflict::Disjoint {
                wanted: wanted.clone(),
                offered: offered.clone(),
            }),
            None if wanted.absence() == Absence::Allowed => None,
            None if undefined == Undefined::WellKnownOpen && well_known::is_well_known(wanted.key()) => None,
            None => {
                let suffix = wanted.key().rsplit('/').next().unwrap_or(wanted.key());
                let own = || {
                    self.iter()
                        .map(Requirement::key)
                        .find(|key| key.rsplit('/').next() == Some(suffix))
                        .cloned()
                };
                let nearest = well_known::nearest(wanted.key()).map(Text::from).or_else(own);
                Some(Conflict::Undefined {
                    wanted: wanted.clone(),
                    nearest,
                })
            }
        }
    }
}

impl FromIterator<Requirement> for Requirements {
    fn from_iter<I: IntoIterator<Item = Requirement>>(requirements: I) -> Requirements {
        let mut all = Requirements::new();
        requirements
            .into_iter()
            .for_each(|requirement| all.add(requirement));
        all
    }
}

impl FromIterator<Arc<Requirement>> for Requirements {
    fn from_iter<I: IntoIterator<Item = Arc<Requirement>>>(requirements: I) -> Requirements {
        let mut all = Requirements::new();
        requirements
            .into_iter()
            .for_each(|requirement| all.add_shared(requirement));
        all
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}
