//! A release's values: documents in order, then single settings, merged as Helm merges them.

use super::HelmError;
use crate::cluster::Secret;
use crate::yaml;
use serde_json::{Map, Value};

/// The longest list that a setting may make, so that a mistyped index does not fill the memory.
const MOST_ITEMS: usize = 65_536;

/// One `set` entry: a path such as `controller.env[0].name` and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetValue {
    /// Where; `\.` is a dot within a key.
    pub name: String,
    /// What, as written.
    pub value: Secret,
    /// Keep the text as it is instead of reading `true`, `null` and numbers in it.
    pub as_string: bool,
}

/// Merges YAML documents, each over the ones before, and then the settings over them.
///
/// Maps merge key by key, everything else is replaced, and a `null` stays, since with it Helm removes a chart's default.
pub(crate) fn merge_values(documents: &[Value], set: &[SetValue]) -> Result<Value, HelmError> {
    let mut merged = Value::Object(Map::new());
    for (index, document) in documents.iter().enumerate() {
        match document {
            Value::Object(_) => overlay(&mut merged, document),
            Value::Null => {}
            other => {
                return Err(HelmError::Values(format!(
                    "document {index} is {}, not a map of values",
                    type_name(other)
                )));
            }
        }
    }
    for setting in set {
        let path = parse_path(&setting.name)
            .map_err(|problem| HelmError::Values(format!("set name {:?}: {problem}", setting.name)))?;
        put(&mut merged, &path, scalar(setting));
    }
    Ok(merged)
}

/// What is wrong with the name of a setting.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    parse_path(name).map(drop)
}

/// Reads one YAML document of values.
pub(crate) fn parse_document(text: &str) -> Result<Value, HelmError> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    yaml::parse(text).map_err(|error| HelmError::Values(format!("not YAML: {error}")))
}

fn overlay(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                overlay(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

fn parse_path(name: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut key = String::new();
    let mut chars = name.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => key.push(chars.next().ok_or("it ends with a backslash")?),
            '.' if key.is_empty() && !matches!(steps.last(), Some(Step::Index(_))) => {
                return Err("it has an empty key".to_owned());
            }
            '.' if key.is_empty() => {}
            '.' => steps.push(Step::Key(std::mem::take(&mut key))),
            '[' => {
                if !key.is_empty() {
                    steps.push(Step::Key(std::mem::take(&mut key)));
                }
                let digits: String = chars.by_ref().take_while(|&char| char != ']').collect();
                match digits.parse() {
                    Ok(index) if index < MOST_ITEMS => steps.push(Step::Index(index)),
                    _ => return Err(format!("[{digits}] is not an index below {MOST_ITEMS}")),
                }
            }
            other => key.push(other),
        }
    }
    if !key.is_empty() {
        steps.push(Step::Key(key));
    } else if name.ends_with('.') || steps.is_empty() {
        return Err("it has an empty key".to_owned());
    }
    match steps.first() {
        Some(Step::Key(_)) => Ok(steps),
        _ => Err("it must begin with a key".to_owned()),
    }
}

fn put(target: &mut Value, path: &[Step], value: Value) {
    match path {
        [] => *target = value,
        [Step::Key(key), rest @ ..] => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            if let Value::Object(map) = target {
                put(map.entry(key.clone()).or_insert(Value::Null), rest, value);
            }
        }
        [Step::Index(index), rest @ ..] => {
            if !target.is_array() {
                *target = Value::Array(Vec::new());
            }
            if let Value::Array(items) = target {
                while items.len() <= *index {
                    items.push(Value::Null);
                }
                put(&mut items[*index], rest, value);
            }
        }
    }
}

fn scalar(setting: &SetValue) -> Value {
    let text = setting.value.expose();
    if setting.as_string {
        return Value::from(text);
    }
    match text {
        "true" => Value::from(true),
        "false" => Value::from(false),
        "null" => Value::Null,
        _ => match text.parse::<i64>() {
            // As Helm does: a text with a leading zero is not a number.
            Ok(number) if text == "0" || !text.starts_with('0') => Value::from(number),
            _ => Value::from(text),
        },
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(name: &str, value: &str) -> SetValue {
        SetValue {
            name: name.into(),
            value: Secret::new(value),
            as_string: false,
        }
    }

    #[test]
    fn later_documents_and_settings_win() {
        let documents = [
            json!({ "a": { "x": 1, "y": [1, 2] }, "b": 1 }),
            Value::Null,
            json!({ "a": { "y": [3], "z": null }, "b": { "c": 2 } }),
        ];
        let settings = [
            set("a.x", "7"),
            set("list[1].name", "n"),
            set("ann.a\\.b/c", "true"),
            set("zero", "010"),
        ];
        let merged = merge_values(&documents, &settings).expect("valid");
        let want = json!({
            "a": { "x": 7, "y": [3], "z": null },
            "b": { "c": 2 },
            "list": [null, { "name": "n" }],
            "ann": { "a.b/c": true },
            "zero": "010",
        });
        assert_eq!(merged, want);
    }

    #[test]
    fn a_text_stays_a_text_when_asked() {
        let setting = SetValue {
            as_string: true,
            ..set("tag", "12")
        };
        assert_eq!(
            merge_values(&[], &[setting]).expect("valid"),
            json!({ "tag": "12" })
        );
    }

    #[test]
    fn malformed_input_is_named() {
        for (documents, settings, text) in [
            (vec![json!([1])], vec![], "document 0 is a list"),
            (vec![], vec![set("", "1")], "empty key"),
            (vec![], vec![set("a..b", "1")], "empty key"),
            (vec![], vec![set("a.", "1")], "empty key"),
            (vec![], vec![set("[0]", "1")], "begin with a key"),
            (vec![], vec![set("a[x]", "1")], "not an index"),
            (vec![], vec![set("a[99999999]", "1")], "not an index"),
            (vec![], vec![set("a\\", "1")], "backslash"),
        ] {
            let error = merge_values(&documents, &settings).expect_err(text).to_string();
            assert!(error.contains(text), "{error} lacks {text}");
        }
        assert!(parse_document("a: [").is_err());
        assert_eq!(parse_document(" \n").expect("empty"), Value::Null);
        assert_eq!(
            parse_document("a:\n  b: 1\n").expect("YAML"),
            json!({ "a": { "b": 1 } })
        );
    }
}
