//! Whether a result is what was planned.

use super::Violation;
use crate::path::AttributePath;
use crate::value::Value;

/// Where `actual` differs from what `planned` promised. Unknown parts of the plan may become anything that their
/// refinements admit. The same rule holds between the plan and the second plan in an apply.
#[must_use]
pub fn compatible(planned: &Value, actual: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    compare(planned, actual, &AttributePath::root(), &mut found);
    found
}

/// The unknown parts of a result: there must be none.
#[must_use]
pub fn unknowns_left(value: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    collect_unknowns(value, &AttributePath::root(), &mut found);
    found
}

fn compare(planned: &Value, actual: &Value, path: &AttributePath, found: &mut Vec<Violation>) {
    if planned == actual {
        return;
    }
    match (planned, actual) {
        (Value::Unknown(refinements), actual) => {
            if !refinements.admits(actual) {
                found.push(Violation::new(
                    path,
                    format!("{actual:?} breaks the planned promise {refinements:?}"),
                ));
            }
        }
        (planned, Value::Unknown(_)) => {
            found.push(Violation::new(
                path,
                format!("was planned as {planned:?}, but is unknown"),
            ));
        }
        (Value::Null, actual) => found.push(Violation::new(
            path,
            format!("was planned null, but is {actual:?}"),
        )),
        (planned, Value::Null) => found.push(Violation::new(
            path,
            format!("was planned as {planned:?}, but is null"),
        )),
        (Value::Object(planned), Value::Object(actual)) => {
            for (name, planned) in planned {
                let actual = actual.get(name).unwrap_or(&Value::Null);
                compare(planned, actual, &path.attribute(name.as_str()), found);
            }
        }
        (Value::List(planned), Value::List(actual)) | (Value::Tuple(planned), Value::Tuple(actual)) => {
            if planned.len() != actual.len() {
                let message = format!(
                    "{} elements were planned, there are {}",
                    planned.len(),
                    actual.len()
                );
                found.push(Violation::new(path, message));
                return;
            }
            for (index, (planned, actual)) in planned.iter().zip(actual).enumerate() {
                compare(planned, actual, &path.index(index), found);
            }
        }
        (Value::Map(planned), Value::Map(actual)) => {
            for (key, planned) in planned {
                match actual.get(key) {
                    Some(actual) => compare(planned, actual, &path.key(key.as_str()), found),
                    None => found.push(Violation::new(
                        &path.key(key.as_str()),
                        "the planned element has vanished",
                    )),
                }
            }
            for key in actual.keys().filter(|key| !planned.contains_key(*key)) {
                found.push(Violation::new(
                    &path.key(key.as_str()),
                    "a new element has appeared",
                ));
            }
        }
        (Value::Set(planned), Value::Set(actual)) => compare_sets(planned, actual, path, found),
        (Value::Dynamic(planned), Value::Dynamic(actual)) => compare(&planned.1, &actual.1, path, found),
        (planned, actual) => {
            found.push(Violation::new(
                path,
                format!("was planned as {planned:?}, but is {actual:?}"),
            ));
        }
    }
}

/// Each element of one set must have a counterpart in the other; unknown elements may fall together, never multiply.
fn compare_sets(planned: &[Value], actual: &[Value], path: &AttributePath, found: &mut Vec<Violation>) {
    let matches = |planned: &Value, actual: &Value| compatible(planned, actual).is_empty();
    for element in planned
        .iter()
        .filter(|planned| !actual.iter().any(|actual| matches(planned, actual)))
    {
        found.push(Violation::new(
            path,
            format!("the planned element {element:?} has no counterpart"),
        ));
    }
    for element in actual
        .iter()
        .filter(|actual| !planned.iter().any(|planned| matches(planned, actual)))
    {
        found.push(Violation::new(
            path,
            format!("the element {element:?} was not planned"),
        ));
    }
    if actual.len() > planned.len() {
        let message = format!(
            "{} elements were planned, there are {}",
            planned.len(),
            actual.len()
        );
        found.push(Violation::new(path, message));
    }
}

fn collect_unknowns(value: &Value, path: &AttributePath, found: &mut Vec<Violation>) {
    match value {
        Value::Unknown(_) => found.push(Violation::new(path, "is still unknown")),
        Value::Object(members) => {
            for (name, member) in members {
                collect_unknowns(member, &path.attribute(name.as_str()), found);
            }
        }
        Value::Map(members) => {
            for (key, member) in members {
                collect_unknowns(member, &path.key(key.as_str()), found);
            }
        }
        Value::List(elements) | Value::Tuple(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect_unknowns(element, &path.index(index), found);
            }
        }
        Value::Set(elements) => elements
            .iter()
            .for_each(|element| collect_unknowns(element, path, found)),
        Value::Dynamic(inner) => collect_unknowns(&inner.1, path, found),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
