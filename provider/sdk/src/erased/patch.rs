//! Carries a typed edit over to the value that the typed view came from.

use crate::value::Value;

/// Puts into `target` what differs between `before` and `after`, and leaves the rest of it as it is: what the typed
/// view could not show (an unknown element, refinements, a null object) survives.
pub(crate) fn patch(before: &Value, after: &Value, target: &mut Value) {
    if before == after {
        return;
    }
    match (before, after, &mut *target) {
        (Value::Object(before), Value::Object(after), Value::Object(target)) => {
            for (name, after) in after {
                patch(
                    before.get(name).unwrap_or(&Value::Null),
                    after,
                    target.entry(name.clone()).or_default(),
                );
            }
        }
        (Value::List(before), Value::List(after), Value::List(target))
            if before.len() == after.len() && after.len() == target.len() =>
        {
            for ((before, after), target) in before.iter().zip(after).zip(target) {
                patch(before, after, target);
            }
        }
        (Value::Map(before), Value::Map(after), Value::Map(target))
            if before.keys().eq(after.keys()) && after.keys().eq(target.keys()) =>
        {
            for ((before, after), target) in before.values().zip(after.values()).zip(target.values_mut()) {
                patch(before, after, target);
            }
        }
        _ => *target = after.clone(),
    }
}
