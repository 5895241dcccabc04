//! The CEL rules of a CRD, evaluated here as the API server evaluates them there.
//!
//! Input: compiled schema, object, the object before the change. Output: violations. Invariant: a rule that
//! would look at an unknown (or already refused) value is not evaluated on it; of a list or map of which parts
//! are unknown, the known parts are still checked where the rule allows it.

use std::sync::{LazyLock, OnceLock};

use kube::core::cel::{CompiledSchema, compile_schema, validate_compiled};
use regex::Regex;
use serde_json::{Value, json};

use super::{JsonPath, Source, UnknownPaths, Violation, structure::Node};

/// The compiled CEL rules of one schema node.
pub(super) struct Rules {
    /// All at once: the value is converted once, however many rules look at it.
    all: CompiledSchema,
    each: Vec<Rule>,
}

struct Rule {
    text: String,
    message: String,
    /// The rule alone, for when another of the node's rules cannot be evaluated.
    schema: Value,
    compiled: OnceLock<CompiledSchema>,
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

impl Rules {
    /// Compiles the rules of a schema node, without those of the nodes below.
    pub(super) fn compile(schema: &Value) -> Self {
        let with_rules = |rules: Value| {
            let mut alone = bare(schema);
            alone["x-kubernetes-validations"] = rules;
            alone
        };
        let rules = schema["x-kubernetes-validations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let each = rules.iter().map(|rule| {
            let text = rule["rule"].as_str().unwrap_or_default();
            Rule {
                text: text.to_owned(),
                message: rule["message"].as_str().unwrap_or_default().to_owned(),
                schema: with_rules(json!([rule])),
                compiled: OnceLock::new(),
                looks_at: looks(text),
                splits: text.starts_with("self.all("),
                reads_values: text.contains("self["),
            }
        });
        let each: Vec<Rule> = each.collect();
        let all = if rules.is_empty() {
            json!({})
        } else {
            with_rules(rules.into())
        };
        Self {
            all: compile_schema(&all),
            each,
        }
    }

    /// The rules that do not hold.
    fn broken(
        &self,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        path: &JsonPath,
        blocked: &UnknownPaths,
    ) -> Vec<&Rule> {
        if self.each.is_empty() {
            return Vec::new();
        }
        if blocked.touches(path) {
            let broken = self
                .each
                .iter()
                .filter(|rule| !rule.holds(node, value, old, path, blocked));
            return broken.collect();
        }
        // A rule that cannot be evaluated (a number that is no number, a field that is missing) does not hold,
        // as at the API server; then the error's message is not the rule's own.
        let Err(errors) = validate_compiled(&self.all, value, old) else {
            return Vec::new();
        };
        let is_broken = |rule: &Rule| errors.iter().any(|error| error.rule == rule.text);
        self.each.iter().filter(|rule| is_broken(rule)).collect()
    }
}

impl Rule {
    /// Whether the rule holds as far as it can be told.
    fn holds(
        &self,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        path: &JsonPath,
        blocked: &UnknownPaths,
    ) -> bool {
        let blind = |look: &Look| {
            let place = look
                .field
                .as_ref()
                .map_or_else(|| path.clone(), |field| path.field(field));
            if look.presence {
                blocked.covers(&place)
            } else {
                blocked.touches(&place)
            }
        };
        if (node.is_map() && !self.reads_values) || !self.looks_at.iter().any(blind) {
            return self.evaluate(value, old);
        }
        if !self.splits {
            return true;
        }
        let mut parts = parts(value, path).into_iter();
        parts.all(|part| blocked.touches(&part.path) || self.evaluate(&part.alone, None))
    }

    /// Where a value breaks the rule: the parts of a list or map that would alone, where the rule is about each, or the whole.
    fn places(&self, value: &Value, path: &JsonPath, blocked: &UnknownPaths) -> Vec<(JsonPath, Value)> {
        let parts = self.splits.then(|| parts(value, path)).into_iter().flatten();
        let broken: Vec<_> = parts
            .filter(|part| !blocked.touches(&part.path) && !self.evaluate(&part.alone, None))
            .map(|part| (part.path, part.value.clone()))
            .collect();
        match broken.is_empty() {
            true => vec![(path.clone(), value.clone())],
            false => broken,
        }
    }

    fn evaluate(&self, value: &Value, old: Option<&Value>) -> bool {
        let compiled = self.compiled.get_or_init(|| compile_schema(&self.schema));
        validate_compiled(compiled, value, old).is_ok()
    }
}

/// An item of a list, or an entry of a map.
struct Part<'a> {
    path: JsonPath,
    value: &'a Value,
    /// A list or map with nothing else in it.
    alone: Value,
}

fn parts<'a>(value: &'a Value, path: &JsonPath) -> Vec<Part<'a>> {
    match value {
        Value::Array(items) => {
            let part = |(place, value)| Part {
                path: path.index(place),
                value,
                alone: json!([value]),
            };
            items.iter().enumerate().map(part).collect()
        }
        Value::Object(entries) => {
            let part = |(key, value): (&String, &'a Value)| Part {
                path: path.field(key),
                value,
                alone: json!({ key: value }),
            };
            entries.iter().map(part).collect()
        }
        _ => Vec::new(),
    }
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
    for rule in node.rules.broken(node, value, old, path, blocked) {
        for (path, value) in rule.places(value, path, blocked) {
            found.push(Violation {
                path,
                value: Some(value),
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

static SELF: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(has\(|size\(|in )?\bself\b(?:\.([A-Za-z0-9]+)(\()?)?(\[)?").ok());

/// What of `self` the text of a rule reads.
fn looks(rule: &str) -> Vec<Look> {
    let Some(pattern) = SELF.as_ref() else {
        return vec![Look {
            field: None,
            presence: false,
        }];
    };
    pattern
        .captures_iter(rule)
        .map(|found| {
            let before = found.get(1).map(|text| text.as_str());
            let is_call = found.get(3).is_some();
            let field = found
                .get(2)
                .filter(|_| !is_call)
                .map(|name| name.as_str().to_owned());
            let presence = match (before, &field) {
                (Some("has("), Some(_)) => true,
                (Some("size(" | "in "), None) => !is_call && found.get(4).is_none(),
                _ => false,
            };
            Look { field, presence }
        })
        .collect()
}

/// What a rule needs to know of its node's schema. Without the nodes below, each of them is not converted and
/// walked again for every rule above it. They would matter for times and for field names that are words of CEL,
/// which no rule of the CRDs reads; that all rules decide as the API server does is tested against it.
fn bare(schema: &Value) -> Value {
    let is_map = schema["additionalProperties"].is_object();
    // Keys of a map are data and not escaped.
    if is_map {
        json!({"additionalProperties": true})
    } else {
        json!({})
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
            (
                "has(self.role) != has(self.instanceProfile)",
                vec![(Some("role"), true), (Some("instanceProfile"), true)],
            ),
            ("!('x' in self)", vec![(None, true)]),
            ("signal in self.evictionSoft", vec![(Some("evictionSoft"), false)]),
            (
                "has(self.replicas) == has(oldSelf.replicas)",
                vec![(Some("replicas"), true)],
            ),
            ("self == oldSelf", vec![(None, false)]),
            (
                "self.limits.all(name, name == 'nodes')",
                vec![(Some("limits"), false)],
            ),
            (
                "self.all(key, size(self[key]) > 0)",
                vec![(None, false), (None, false)],
            ),
        ] {
            let found = looks(rule);
            let found: Vec<_> = found
                .iter()
                .map(|look| (look.field.as_deref(), look.presence))
                .collect();
            assert_eq!(found, want, "{rule}");
        }
    }
}
