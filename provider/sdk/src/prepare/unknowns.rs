//! Marks what only the apply will know.

use super::walk::{Next, walk};
use crate::schema::Schema;
use crate::value::Value;

/// Every computed attribute that is neither configured nor filled by a default becomes unknown, or keeps the state's value
/// where it says `use_state_for_unknown`. Called only when something changes.
pub(crate) fn mark(schema: &Schema, config: &Value, prior: &Value, planned: &mut Value) {
    walk(schema, config, prior, planned, &mut |site, planned| {
        let behaviour = &site.attribute.behaviour;
        if !site.config.is_null() || behaviour.default.is_some() {
            return Next::Descend;
        }
        if !site.attribute.mode.is_computed() {
            return Next::Descend;
        }
        *planned = if behaviour.use_state_for_unknown && !site.prior.is_null() {
            site.prior.clone()
        } else {
            Value::unknown()
        };
        Next::Skip
    });
}
