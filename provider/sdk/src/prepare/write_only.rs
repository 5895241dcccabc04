//! Takes write-only values out of everything but configurations.

use super::walk::{Next, walk};
use crate::schema::Schema;
use crate::value::Value;

/// Makes every write-only attribute null.
pub(crate) fn clear(schema: &Schema, value: &mut Value) {
    walk(schema, &Value::Null, &Value::Null, value, &mut |site, value| {
        if site.attribute.write_only {
            *value = Value::Null;
        }
        Next::Descend
    });
}
