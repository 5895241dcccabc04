//! Where in a value something is: attribute names, string keys and list indices, as the protocol spells them.
//!
//! There is no step into a set: a path that would need one ends at the set.

use std::fmt;

use tfplugin_proto::tfplugin6 as proto;

/// One step of an [`AttributePath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into an object's (or the resource's own) attribute.
    Attribute(String),
    /// Into a map's element.
    Key(String),
    /// Into a list's or tuple's element, counted from 0.
    Index(usize),
}

/// A path from a resource's root to a value within it. Printed as a user would write it: `spec.taints[0].key`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributePath(Vec<Step>);

impl AttributePath {
    /// The empty path: the whole resource.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// This path and one attribute more.
    #[must_use]
    pub fn attribute(&self, name: impl Into<String>) -> Self {
        self.step(Step::Attribute(name.into()))
    }

    /// This path and one map key more.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.step(Step::Key(key.into()))
    }

    /// This path and one list index more.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// This path and one step more.
    #[must_use]
    pub fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The steps from the root down.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether this is the whole resource.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path without its last step; `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, rest)| Self(rest.to_vec()))
    }

    /// Reads a path as the protocol spells it; a step that is none is left out.
    pub(crate) fn from_proto(path: &proto::AttributePath) -> Self {
        use proto::attribute_path::step::Selector;
        let steps = path
            .steps
            .iter()
            .filter_map(|step| match step.selector.as_ref()? {
                Selector::AttributeName(name) => Some(Step::Attribute(name.clone())),
                Selector::ElementKeyString(key) => Some(Step::Key(key.clone())),
                Selector::ElementKeyInt(index) => usize::try_from(*index).ok().map(Step::Index),
            });
        steps.collect()
    }

    pub(crate) fn to_proto(&self) -> proto::AttributePath {
        use proto::attribute_path::step::Selector;
        let steps = self.0.iter().map(|step| {
            let selector = match step {
                Step::Attribute(name) => Selector::AttributeName(name.clone()),
                Step::Key(key) => Selector::ElementKeyString(key.clone()),
                Step::Index(index) => Selector::ElementKeyInt(i64::try_from(*index).unwrap_or(i64::MAX)),
            };
            proto::attribute_path::Step {
                selector: Some(selector),
            }
        });
        proto::AttributePath {
            steps: steps.collect(),
        }
    }
}

impl From<Vec<Step>> for AttributePath {
    fn from(steps: Vec<Step>) -> Self {
        Self(steps)
    }
}

impl From<&str> for AttributePath {
    /// One attribute of the resource's root, or several with dots between: `"spec.weight"`.
    fn from(dotted: &str) -> Self {
        Self(
            dotted
                .split('.')
                .filter(|name| !name.is_empty())
                .map(|name| Step::Attribute(name.to_owned()))
                .collect(),
        )
    }
}

impl FromIterator<Step> for AttributePath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for AttributePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if position == 0 => f.write_str(name)?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
