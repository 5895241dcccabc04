//! The schemas in docs/ say what is printed and what is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn schema(name: &str) -> Value {
    let text = fs::read_to_string(root().join("docs/schemas").join(name)).expect("the schema");
    serde_json::from_str(&text).expect("a schema is JSON")
}

/// Where a value is not what a schema says. Understood is what the two schemas use.
fn misfits(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        wrong.push(format!("{path}: {value} is no {kinds:?}"));
    }
    if let Some(allowed) = schema["enum"]
        .as_array()
        .filter(|allowed| !allowed.contains(value))
    {
        wrong.push(format!("{path}: {value} is none of {allowed:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        wrong.push(format!("{path}: {value} is not {}", schema["const"]));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        wrong.push(format!("{path}: {value} is below {least}"));
    }
    if let Some(list) = value.as_array() {
        if (list.len() as u64) < schema["minItems"].as_u64().unwrap_or(0) {
            wrong.push(format!("{path}: too few"));
        }
        for (index, item) in list.iter().enumerate() {
            wrong.extend(misfits(&schema["items"], item, &format!("{path}[{index}]")));
        }
    }
    if let Some(members) = value.as_object() {
        for required in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if !members.contains_key(required) {
                wrong.push(format!("{path}: {required} is missing"));
            }
        }
        for (key, member) in members {
            let path = format!("{path}.{key}");
            match (schema["properties"].get(key), &schema["additionalProperties"]) {
                (Some(known), _) => wrong.extend(misfits(known, member, &path)),
                (None, Value::Bool(false)) => wrong.push(format!("{path} is not in the schema")),
                (None, other) if other.is_object() => wrong.extend(misfits(other, member, &path)),
                (None, _) => {}
            }
        }
    }
    wrong
}

#[test]
fn answers_are_as_the_schema_says() {
    let schema = schema("simulate-answer.json");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for case in [
        "taint-tolerated",
        "min-values-met",
        "preferred-affinity-relaxed",
        "existing-node-takes-it",
        "resources-too-large",
        "pod-gated",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_joiner"))
            .args(["simulate", "-o", "json"])
            .arg(folder.join("cases").join(format!("{case}.yaml")))
            .arg(folder.join("catalog.yaml"))
            .output()
            .expect("joiner starts");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer is JSON");
        let wrong = misfits(&schema, &answer, "");
        assert!(wrong.is_empty(), "{case}: {wrong:?}");
    }
}

#[test]
fn catalogues_are_as_the_schema_says() {
    let schema = schema("instance-type-catalog.json");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/catalog.yaml");
    let page = fs::read_to_string(root().join("docs/simulate.md")).expect("the page");
    let example = page
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("an example");
    for text in [
        fs::read_to_string(shared).expect("the catalogue").as_str(),
        example,
    ] {
        let value: Value = serde_saphyr::from_str(text).expect("a catalogue is YAML");
        assert!(
            misfits(&schema, &value, "").is_empty(),
            "{:?}",
            misfits(&schema, &value, "")
        );
        let mut objects = joiner_map::Objects::default();
        joiner_map::read::read("it.yaml", text, &mut objects).expect("a catalogue is read");
    }
}
