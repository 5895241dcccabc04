//! Small changes to JSON objects.

use serde_json::{Map, Value};

/// Sets the value at a JSON pointer, making objects on the way; an empty text removes it.
pub(crate) fn edit(object: &mut Value, pointer: &str, json: &str) {
    try_edit(object, pointer, json).unwrap_or_else(|| panic!("{pointer} leads nowhere in {object}"));
}

/// As [`edit`]; nothing when the pointer leads through a text, a number or the end of a list.
pub(crate) fn try_edit(object: &mut Value, pointer: &str, json: &str) -> Option<()> {
    let mut steps: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let last = steps.pop()?;
    let mut place = object;
    for step in steps {
        place = match place {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            Value::Object(fields) => fields.entry(step).or_insert_with(|| Value::Object(Map::new())),
            _ => return None,
        };
    }
    match place {
        Value::Array(items) => *items.get_mut(last.parse::<usize>().ok()?)? = parse(json),
        Value::Object(fields) if json.is_empty() => drop(fields.remove(&last)),
        Value::Object(fields) => drop(fields.insert(last, parse(json))),
        _ => return None,
    }
    Some(())
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}
