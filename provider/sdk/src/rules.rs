//! The rules by which Terraform and OpenTofu judge a provider's answers, and their own part of a plan.
//!
//! Written after the behaviour of `internal/plans/objchange` in OpenTofu 1.12: the SDK checks itself with them in debug
//! builds, and [`testing`](crate::testing) judges resources by them.

mod apply_result;
mod plan_valid;
mod proposed;
#[cfg(test)]
mod tests;

pub use apply_result::{compatible, unknowns_left};
pub use plan_valid::plan_valid;
pub use proposed::proposed_new;

use std::fmt;

use crate::path::AttributePath;
use crate::schema::{Attribute, Schema, Shape};
use crate::value::Value;

/// A rule that an answer breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub path: AttributePath,
    /// Which rule, and what was found.
    pub message: String,
}

impl Violation {
    pub(crate) fn new(path: &AttributePath, message: impl Into<String>) -> Self {
        Self {
            path: path.clone(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// The write-only attributes of a value that are not null: a core refuses the whole answer for one.
#[must_use]
pub fn write_only_set(schema: &Schema, value: &Value) -> Vec<Violation> {
    let mut cleared = value.clone();
    crate::prepare::write_only::clear(schema, &mut cleared);
    if cleared == *value {
        return Vec::new();
    }
    let mut found = Vec::new();
    collect_write_only(&schema.attributes, value, &AttributePath::root(), &mut found);
    found
}

fn collect_write_only(
    attributes: &[Attribute],
    value: &Value,
    path: &AttributePath,
    found: &mut Vec<Violation>,
) {
    for attribute in attributes {
        let (value, path) = (
            value.attribute(&attribute.name),
            path.attribute(attribute.name.as_str()),
        );
        if attribute.write_only && !value.is_null() {
            found.push(Violation::new(
                &path,
                "a write-only attribute must be null in plans and states",
            ));
        }
        let Shape::Nested(_, nested) = &attribute.shape else {
            continue;
        };
        match value {
            Value::Object(_) => collect_write_only(nested, value, &path, found),
            Value::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    collect_write_only(nested, element, &path.index(index), found);
                }
            }
            Value::Map(elements) => {
                for (key, element) in elements {
                    collect_write_only(nested, element, &path.key(key.as_str()), found);
                }
            }
            _ => {}
        }
    }
}
