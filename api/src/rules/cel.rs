//! The CEL rules of a CRD, evaluated here as the API server evaluates them there.
//!
//! Input: compiled schema, object, the object before the change. Output: violations. Invariant: a rule that
//! would look at an unknown (or already refused) value is not evaluated on it; of a list or map of which parts
//! are unknown, the known parts are still checked where the rule allows it.

use std::sync::LazyLock;

use kube::core::cel::{CompiledSchema, compile_schema, validate_compiled};
use regex::Regex;
use serde_json::{Value, json};

use super::{JsonPath, Source, UnknownPaths, Violation, structure::Node};

/// A compiled CEL rule of one schema node.
pub(super) struct Rule {
    /// The node's schema with this rule alone.
    program: CompiledSchema,
    message: String,
    looks_at: Vec<Look>,
    /// `self.all(...)`: what holds for all holds for a part of them.
    splits: bool,
    /// The rule reads the values of a map and not just its keys.
    reads_values: bool,
}

/// What of `self` a rule reads.
struct Look {
    field: Option<String>,
    /// Whether just the presence of the value matters and nothing inside it.
    presence: bool,
}

/// The rules of a schema node.
pub(super) fn compile(schema: &Value) -> Vec<Rule> {
    let rules = schema["x-kubernetes-validations"].as_array();
    rules
        .into_iter()
        .flatten()
        .map(|rule| {
            let text = rule["rule"].as_str().unwrap_or_default();
            let mut alone = bare(schema);
            alone["x-kubernetes-validations"] = json!([rule]);
            Rule {
                program: compile_schema(&alone),
                message: rule["message"].as_str().unwrap_or_default().to_owned(),
                looks_at: looks(text),
                splits: text.starts_with("self.all("),
                reads_values: text.contains("self["),
            }
        })
        .collect()
}

/// Adds the violations of the rules about a value and all below it. `blocked` are the values that no rule may
/// look at.
pub(super) fn check(
    node: &Node,
    value: &Value,
    old: Option<&Value>,
    path: &JsonPath,
    blocked: &UnknownPaths,
    found: &mut Vec<Violation>,
) {
    if blocked.covers(path) {
        return;
    }
    for rule in &node.rules {
        if !holds(rule, node, value, old, path, blocked) {
            found.push(Violation {
                path: path.clone(),
                value: Some(value.clone()),
                message: rule.message.clone(),
                source: Source::Cel,
            });
        }
    }
    for (child_path, child, child_value) in node.children(value, path) {
        // Only fields keep their identity over a change; an item of a list may be another than before.
        let child_old = match child_path.0.last() {
            Some(super::Segment::Field(name)) => old.and_then(|old| old.get(name)),
            _ => None,
        };
        check(child, child_value, child_old, &child_path, blocked, found);
    }
}

fn holds(rule: &Rule, node: &Node, value: &Value, old: Option<&Value>, path: &JsonPath, blocked: &UnknownPaths) -> bool {
    let blind = |look: &Look| {
        let place = look.field.as_ref().map_or_else(|| path.clone(), |field| path.field(field));
        if look.presence { blocked.covers(&place) } else { blocked.touches(&place) }
    };
    if (node.is_map() && !rule.reads_values) || !rule.looks_at.iter().any(blind) {
        return evaluate(rule, value, old);
    }
    if !rule.splits {
        return true;
    }
    match value {
        Value::Array(items) => {
            let known = items.iter().enumerate().filter(|(place, _)| !blocked.touches(&path.index(*place)));
            evaluate(rule, &known.map(|(_, item)| item.clone()).collect(), None)
        }
        Value::Object(entries) => {
            let known = entries.iter().filter(|(key, _)| !blocked.touches(&path.field(key)));
            evaluate(rule, &known.map(|(key, entry)| (key.clone(), entry.clone())).collect(), None)
        }
        _ => true,
    }
}

/// A rule that cannot be evaluated (a number that is no number, a field that is missing) does not hold, as at
/// the API server.
fn evaluate(rule: &Rule, value: &Value, old: Option<&Value>) -> bool {
    validate_compiled(&rule.program, value, old).is_ok()
}

static SELF: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(has\(|size\(|in )?\bself\b(?:\.([A-Za-z0-9]+)(\()?)?(\[)?").ok());

/// What of `self` the text of a rule reads.
fn looks(rule: &str) -> Vec<Look> {
    let Some(pattern) = SELF.as_ref() else { return vec![Look { field: None, presence: false }] };
    pattern
        .captures_iter(rule)
        .map(|found| {
            let before = found.get(1).map(|text| text.as_str());
            let is_call = found.get(3).is_some();
            let field = found.get(2).filter(|_| !is_call).map(|name| name.as_str().to_owned());
            let presence = match (before, &field) {
                (Some("has("), Some(_)) => true,
                (Some("size(" | "in "), None) => !is_call && found.get(4).is_none(),
                _ => false,
            };
            Look { field, presence }
        })
        .collect()
}

/// A schema without rules and defaults, for the types alone.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| {
                !matches!(name.as_str(), "x-kubernetes-validations" | "default" | "description" | "anyOf")
            })
            .map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    // Here the names are data: a field may be called `default`.
                    ("properties", Value::Object(properties)) => {
                        properties.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect()
                    }
                    _ => bare(value),
                };
                (name.clone(), value)
            })
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_a_rule_reads() {
        for (rule, want) in [
            ("size(self) > 0", vec![(None, true)]),
            ("self.all(term, has(term.id))", vec![(None, false)]),
            ("has(self.role) != has(self.instanceProfile)", vec![(Some("role"), true), (Some("instanceProfile"), true)]),
            ("!('x' in self)", vec![(None, true)]),
            ("signal in self.evictionSoft", vec![(Some("evictionSoft"), false)]),
            ("has(self.replicas) == has(oldSelf.replicas)", vec![(Some("replicas"), true)]),
            ("self == oldSelf", vec![(None, false)]),
            ("self.limits.all(name, name == 'nodes')", vec![(Some("limits"), false)]),
            ("self.all(key, size(self[key]) > 0)", vec![(None, false), (None, false)]),
        ] {
            let found = looks(rule);
            let found: Vec<_> = found.iter().map(|look| (look.field.as_deref(), look.presence)).collect();
            assert_eq!(found, want, "{rule}");
        }
    }
}
