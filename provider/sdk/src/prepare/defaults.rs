//! Puts defaults where the configuration says nothing.

use super::walk::{Next, walk};
use crate::schema::Schema;
use crate::value::Value;

/// An attribute with a default, not configured, is planned as its default; attributes within it follow their own.
pub(crate) fn apply(schema: &Schema, config: &Value, prior: &Value, planned: &mut Value) {
    walk(schema, config, prior, planned, &mut |site, planned| {
        if !site.config.is_null() {
            return Next::Descend;
        }
        match &site.attribute.behaviour.default {
            Some(default) => {
                *planned = default.clone();
                Next::Descend
            }
            // A parent that is a default itself has no configuration, but its attributes follow theirs; what is computed
            // as a whole is the provider's.
            None if site.attribute.mode.is_computed() => Next::Skip,
            None => Next::Descend,
        }
    });
}
