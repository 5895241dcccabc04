//! The structural part of a CRD: types, required fields, patterns, limits, defaults, unknown names.
//!
//! Input: the CRD's own schema, compiled once. Output: violations of one object. Invariant: nothing is reported
//! that the API server accepts, except unknown fields, which it drops unless asked to be strict.

use std::{collections::BTreeMap, sync::OnceLock};

use regex::Regex;
use serde_json::Value;

use super::{JsonPath, Source, UnknownPaths, Violation, cel, nearest, words};

/// A compiled schema node.
pub(super) struct Node {
    shape: Shape,
    description: String,
    default: Option<Value>,
    /// The CEL rules about this node.
    pub(super) rules: cel::Rules,
}

enum Shape {
    Object {
        properties: BTreeMap<String, Node>,
        required: Vec<String>,
        open: bool,
    },
    Map {
        values: Box<Node>,
        max: Option<usize>,
    },
    List {
        items: Box<Node>,
        min: usize,
        max: Option<usize>,
        keyed: Keyed,
    },
    Text {
        pattern: Option<Pattern>,
        allowed: Vec<String>,
        min: usize,
        max: Option<usize>,
        time: bool,
    },
    Integer {
        min: Option<i64>,
        max: Option<i64>,
    },
    Boolean,
    Quantity {
        pattern: Option<Pattern>,
    },
    Any,
}

enum Keyed {
    No,
    Set,
    By(Vec<String>),
}

struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    fn matches(&self, value: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            // Go's \d and \s know ASCII only.
            Regex::new(&self.text.replace(r"\d", "[0-9]").replace(r"\s", r"[\t\n\f\r ]")).ok()
        });
        compiled.as_ref().is_none_or(|regex| regex.is_match(value))
    }

    fn expectation(&self) -> String {
        words::of_pattern(&self.text)
            .map_or_else(|| format!("a text that matches {}", self.text), str::to_owned)
    }
}

impl Node {
    /// Compiles a schema in the JSON form of a CRD.
    pub(super) fn compile(schema: &Value) -> Self {
        Self {
            shape: Shape::compile(schema),
            description: schema["description"].as_str().unwrap_or_default().to_owned(),
            default: schema.get("default").cloned(),
            rules: cel::Rules::compile(schema),
        }
    }

    /// The nodes below, as (step, node): the value's fields, entries or items that have a schema.
    pub(super) fn children<'a>(
        &'a self,
        value: &'a Value,
        path: &JsonPath,
    ) -> Vec<(JsonPath, &'a Node, &'a Value)> {
        match (&self.shape, value) {
            (Shape::Object { properties, .. }, Value::Object(fields)) => fields
                .iter()
                .filter_map(|(name, value)| Some((path.field(name), properties.get(name)?, value)))
                .collect(),
            (Shape::Map { values, .. }, Value::Object(entries)) => entries
                .iter()
                .map(|(key, value)| (path.field(key), &**values, value))
                .collect(),
            (Shape::List { items, .. }, Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(place, value)| (path.index(place), &**items, value))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the node is a map, so that its keys are data.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.shape, Shape::Map { .. })
    }

    /// The value as the API server stores it: defaults filled in for what is missing or null.
    pub(super) fn with_defaults(&self, value: &Value, path: &JsonPath, unknown: &UnknownPaths) -> Value {
        match (&self.shape, value) {
            (Shape::Object { properties, .. }, Value::Object(fields)) => {
                let mut result = serde_json::Map::new();
                for (name, field) in fields {
                    let here = path.field(name);
                    match properties.get(name) {
                        Some(node) if field.is_null() && node.default.is_some() && !unknown.covers(&here) => {
                        }
                        Some(node) => {
                            drop(result.insert(name.clone(), node.with_defaults(field, &here, unknown)))
                        }
                        None => drop(result.insert(name.clone(), field.clone())),
                    }
                }
                for (name, node) in properties {
                    if let Some(default) = node.default.as_ref().filter(|_| !result.contains_key(name)) {
                        result.insert(
                            name.clone(),
                            node.with_defaults(default, &path.field(name), unknown),
                        );
                    }
                }
                Value::Object(result)
            }
            (Shape::Map { values, .. }, Value::Object(entries)) => entries
                .iter()
                .map(|(key, entry)| {
                    (
                        key.clone(),
                        values.with_defaults(entry, &path.field(key), unknown),
                    )
                })
                .collect(),
            (Shape::List { items, .. }, Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(place, item)| items.with_defaults(item, &path.index(place), unknown))
                .collect(),
            _ => value.clone(),
        }
    }

    /// Adds the violations of a value and all below it.
    pub(super) fn check(
        &self,
        value: &Value,
        path: &JsonPath,
        unknown: &UnknownPaths,
        found: &mut Vec<Violation>,
    ) {
        if unknown.covers(path) {
            return;
        }
        let mut fail = |message: String| found.push(violation(path, Some(value), message));
        match (&self.shape, value) {
            (Shape::Any, _) | (Shape::Boolean, Value::Bool(_)) => {}
            (
                Shape::Object {
                    properties,
                    required,
                    open,
                },
                Value::Object(fields),
            ) => {
                check_names(properties, *open, fields, path, found);
                for name in required.iter().filter(|name| !fields.contains_key(*name)) {
                    let missing = path.field(name);
                    if !unknown.covers(&missing) {
                        let about = properties
                            .get(name)
                            .map(|node| node.description.as_str())
                            .unwrap_or_default();
                        let message = format!("is required but not set. {about}");
                        found.push(violation(&missing, None, message.trim_end().to_owned()));
                    }
                }
            }
            (Shape::Map { max, .. }, Value::Object(entries)) => {
                if let Some(max) = max.filter(|max| entries.len() > *max) {
                    fail(format!(
                        "has {} entries, but at most {max} are allowed: remove some",
                        entries.len()
                    ));
                }
            }
            (Shape::List { min, max, keyed, .. }, Value::Array(list)) => {
                if list.len() < *min {
                    fail(format!(
                        "has {} entries, but needs at least {min}: add one",
                        list.len()
                    ));
                }
                if let Some(max) = max.filter(|max| list.len() > *max) {
                    fail(format!(
                        "has {} entries, but at most {max} are allowed: remove some",
                        list.len()
                    ));
                }
                check_keys(keyed, list, path, unknown, found);
            }
            (
                Shape::Text {
                    pattern,
                    allowed,
                    min,
                    max,
                    time,
                },
                Value::String(text),
            ) => {
                let length = text.chars().count();
                if !allowed.is_empty() && !allowed.contains(text) {
                    let hint = nearest::hint(text, allowed.iter().map(String::as_str));
                    fail(format!(
                        "{text:?} is not allowed; use one of {}{hint}",
                        allowed.join(", ")
                    ));
                }
                if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.matches(text)) {
                    fail(format!(
                        "{text:?} is not allowed; expected {}",
                        pattern.expectation()
                    ));
                } else if length < *min {
                    fail(format!("must not be empty. {}", self.description));
                }
                if let Some(max) = max.filter(|max| length > *max) {
                    fail(format!(
                        "has {length} characters, but at most {max} are allowed: shorten it"
                    ));
                }
                if *time && text.parse::<jiff::Timestamp>().is_err() {
                    fail(format!(
                        "{text:?} is no time; expected RFC 3339, for example 2026-01-31T09:00:00Z"
                    ));
                }
            }
            (Shape::Integer { min, max }, Value::Number(number)) if is_whole(number) => {
                let outside = number.as_i64().is_none_or(|number| {
                    min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max)
                });
                if outside {
                    fail(format!(
                        "{number} is out of range; expected {}",
                        range(*min, *max)
                    ));
                }
            }
            (Shape::Quantity { .. }, Value::Number(number)) if is_whole(number) => {}
            (Shape::Quantity { pattern }, Value::String(text)) => {
                if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.matches(text)) {
                    fail(format!(
                        "{text:?} is not allowed; expected {}",
                        pattern.expectation()
                    ));
                }
            }
            (shape, value) => fail(format!("must be {}, not {}", shape.words(), kind(value))),
        }
        for (child_path, child, value) in self.children(value, path) {
            child.check(value, &child_path, unknown, found);
        }
    }
}

impl Shape {
    fn compile(schema: &Value) -> Self {
        let count = |name: &str| schema[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let pattern = || schema["pattern"].as_str().map(Pattern::new);
        let whole = |name: &str| schema[name].as_f64().map(|number| number as i64);
        if schema["x-kubernetes-int-or-string"] == true {
            return Self::Quantity { pattern: pattern() };
        }
        let texts = |name: &str| -> Vec<String> {
            schema[name]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect()
        };
        match schema["type"].as_str() {
            Some("object") => match (schema.get("properties"), schema.get("additionalProperties")) {
                (None, Some(values)) if values.is_object() => Self::Map {
                    values: Box::new(Node::compile(values)),
                    max: count("maxProperties"),
                },
                (None, None) => Self::Any,
                (properties, _) => Self::Object {
                    properties: properties
                        .and_then(Value::as_object)
                        .into_iter()
                        .flatten()
                        .map(|(name, schema)| (name.clone(), Node::compile(schema)))
                        .collect(),
                    required: texts("required"),
                    open: schema["x-kubernetes-preserve-unknown-fields"] == true,
                },
            },
            Some("array") => Self::List {
                items: Box::new(Node::compile(&schema["items"])),
                min: count("minItems").unwrap_or(0),
                max: count("maxItems"),
                keyed: match schema["x-kubernetes-list-type"].as_str() {
                    Some("set") => Keyed::Set,
                    Some("map") => Keyed::By(texts("x-kubernetes-list-map-keys")),
                    _ => Keyed::No,
                },
            },
            Some("string") => Self::Text {
                pattern: pattern(),
                allowed: texts("enum"),
                min: count("minLength").unwrap_or(0),
                max: count("maxLength"),
                time: schema["format"] == "date-time",
            },
            Some("integer") => {
                let (low, high) = match schema["format"].as_str() {
                    Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
                    _ => (None, None),
                };
                Self::Integer {
                    min: whole("minimum").or(low),
                    max: whole("maximum").or(high),
                }
            }
            Some("boolean") => Self::Boolean,
            _ => Self::Any,
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Object { .. } => "an object",
            Self::Map { .. } => "a map of names to values",
            Self::List { .. } => "a list",
            Self::Text { .. } => "a text",
            Self::Integer { .. } => "a whole number",
            Self::Boolean => "true or false",
            Self::Quantity { .. } => "a quantity, for example 500m, 2 or 1.5Gi",
            Self::Any => "any value",
        }
    }
}

fn check_names(
    properties: &BTreeMap<String, Node>,
    open: bool,
    fields: &serde_json::Map<String, Value>,
    path: &JsonPath,
    found: &mut Vec<Violation>,
) {
    if open {
        return;
    }
    for (name, value) in fields.iter().filter(|(name, _)| !properties.contains_key(*name)) {
        let known = || properties.keys().map(String::as_str);
        let hint = match nearest::hint(name, known()) {
            hint if hint.is_empty() => {
                format!("; the fields here are {}", known().collect::<Vec<_>>().join(", "))
            }
            hint => hint,
        };
        found.push(violation(
            &path.field(name),
            Some(value),
            format!("there is no field {name:?}{hint}"),
        ));
    }
}

fn check_keys(
    keyed: &Keyed,
    list: &[Value],
    path: &JsonPath,
    unknown: &UnknownPaths,
    found: &mut Vec<Violation>,
) {
    let key = |item: &Value| match keyed {
        Keyed::No => None,
        Keyed::Set => Some(item.to_string()),
        Keyed::By(names) => Some(
            names
                .iter()
                .map(|name| item[name.as_str()].to_string())
                .collect::<Vec<_>>()
                .join(", "),
        ),
    };
    let mut seen = BTreeMap::new();
    for (place, item) in list.iter().enumerate() {
        let here = path.index(place);
        if unknown.touches(&here) {
            continue;
        }
        let Some(key) = key(item) else { return };
        if let Some(first) = seen.insert(key.clone(), place) {
            let message = format!("{key} is listed twice, first at [{first}]: remove one of them");
            found.push(violation(&here, Some(item), message));
        }
    }
}

fn violation(path: &JsonPath, value: Option<&Value>, message: String) -> Violation {
    Violation {
        path: path.clone(),
        value: value.cloned(),
        message,
        source: Source::Schema,
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn range(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
        (Some(min), None) => format!("a whole number of at least {min}"),
        (None, Some(max)) => format!("a whole number of at most {max}"),
        (None, None) => "a whole number".to_owned(),
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("{value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
