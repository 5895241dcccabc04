//! Keeps the spelling that a value had when a new one means the same.

use super::walk::{Next, walk};
use crate::schema::Schema;
use crate::value::Value;

/// Where `value` is equivalent to what `before` has at the same place, it takes that spelling. Used with the state for
/// plans and reads, with the plan for results of an apply.
pub(crate) fn keep(schema: &Schema, before: &Value, value: &mut Value) {
    walk(schema, &Value::Null, before, value, &mut |site, value| {
        let Some(equivalent) = &site.attribute.behaviour.equivalent else {
            return Next::Descend;
        };
        let before = site.prior;
        let comparable = |value: &Value| !value.is_null() && value.is_wholly_known();
        if comparable(before) && comparable(value) && before != value && equivalent(before, value) {
            *value = before.clone();
            return Next::Skip;
        }
        Next::Descend
    });
}
