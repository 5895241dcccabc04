//! Small changes to JSON objects.

use serde_json::{Map, Value};

/// Sets the value at a JSON pointer, making objects on the way; an empty text removes it.
pub(crate) fn edit(object: &mut Value, pointer: &str, json: &str) {
    let mut steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let last = steps.pop().expect("a pointer has a step");
    let mut place = object;
    for step in steps {
        place = match place {
            Value::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
            Value::Object(fields) => fields.entry(step).or_insert_with(|| Value::Object(Map::new())),
            other => panic!("{pointer} leads into {other}"),
        };
    }
    match place {
        Value::Array(items) => items[last.parse::<usize>().expect("an index")] = parse(json),
        Value::Object(fields) if json.is_empty() => drop(fields.remove(&last)),
        Value::Object(fields) => drop(fields.insert(last, parse(json))),
        other => panic!("{pointer} leads into {other}"),
    }
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}
