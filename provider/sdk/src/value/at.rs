//! Reading and changing a part of a value by its path.

use super::Value;
use crate::path::{AttributePath, Step};

impl Value {
    /// The part at `path`; `None` where the path leads nowhere (also below null, unknown and into sets).
    #[must_use]
    pub fn at(&self, path: &AttributePath) -> Option<&Self> {
        path.steps()
            .iter()
            .try_fold(self, |value, step| match (value, step) {
                (Self::Object(attributes), Step::Attribute(name) | Step::Key(name)) => attributes.get(name),
                (Self::Map(elements), Step::Key(key) | Step::Attribute(key)) => elements.get(key),
                (Self::List(elements) | Self::Tuple(elements), Step::Index(index)) => elements.get(*index),
                (Self::Dynamic(inner), step) => inner.1.at(&AttributePath::root().step(step.clone())),
                _ => None,
            })
    }

    /// The part at `path`, to be changed; `None` as with [`Value::at`].
    pub fn at_mut(&mut self, path: &AttributePath) -> Option<&mut Self> {
        path.steps().iter().try_fold(self, |value, step| {
            let value = match value {
                Self::Dynamic(inner) => &mut inner.1,
                other => other,
            };
            match (value, step) {
                (Self::Object(attributes), Step::Attribute(name) | Step::Key(name)) => {
                    attributes.get_mut(name)
                }
                (Self::Map(elements), Step::Key(key) | Step::Attribute(key)) => elements.get_mut(key),
                (Self::List(elements) | Self::Tuple(elements), Step::Index(index)) => {
                    elements.get_mut(*index)
                }
                _ => None,
            }
        })
    }

    /// An object's attribute; null when it is no object or has none of that name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> &Self {
        const NULL: &Value = &Value::Null;
        self.as_object()
            .and_then(|attributes| attributes.get(name))
            .unwrap_or(NULL)
    }
}
