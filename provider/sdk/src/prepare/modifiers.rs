//! Runs the attributes' own plan modifiers.

use super::walk::{Next, walk};
use crate::schema::{ModifyRequest, Schema};
use crate::value::Value;

/// Runs every modifier, parents first.
pub(crate) fn run(schema: &Schema, config: &Value, prior: &Value, planned: &mut Value) {
    let creating = prior.is_null();
    walk(schema, config, prior, planned, &mut |site, planned| {
        for modify in &site.attribute.behaviour.modifiers {
            let request = ModifyRequest {
                path: &site.path,
                config: site.config,
                prior: site.prior,
                planned,
                creating,
            };
            *planned = modify(&request);
        }
        Next::Descend
    });
}
