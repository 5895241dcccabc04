//! Marks what only the apply will know.

use super::walk::{Next, walk};
use crate::schema::Schema;
use crate::value::Value;

/// Every computed attribute that is neither configured nor filled by a default becomes unknown, or keeps the state's value
/// where it says `use_state_for_unknown`. Called only when something changes.
pub(crate) fn mark(schema: &Schema, config: &Value, prior: &Value, planned: &mut Value) {
    mark_where(schema, config, prior, planned, |_, _| true);
}

/// The same, but what the resource has already planned otherwise than the state stays so.
pub(crate) fn mark_unchanged(schema: &Schema, config: &Value, prior: &Value, planned: &mut Value) {
    mark_where(schema, config, prior, planned, |planned, prior| planned == prior);
}

fn mark_where(
    schema: &Schema,
    config: &Value,
    prior: &Value,
    planned: &mut Value,
    wanted: fn(&Value, &Value) -> bool,
) {
    walk(schema, config, prior, planned, &mut |site, planned| {
        let behaviour = &site.attribute.behaviour;
        if !site.config.is_null() || behaviour.default.is_some() || !site.attribute.mode.is_computed() {
            return Next::Descend;
        }
        if behaviour.use_state_for_unknown && !site.prior.is_null() && wanted(planned, site.prior) {
            *planned = site.prior.clone();
        } else if wanted(planned, site.prior) {
            *planned = Value::unknown();
        }
        Next::Skip
    });
}
