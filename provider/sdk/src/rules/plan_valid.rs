//! Whether a plan does what the configuration says.

use super::Violation;
use crate::path::AttributePath;
use crate::schema::{Attribute, BlockNesting, Mode, NestedBlock, Nesting, Schema, Shape};
use crate::value::Value;

static NULL: Value = Value::Null;

/// The rules that a plan breaks: what is configured must be planned as it is, or as the state has it; the rest only a
/// computed attribute may add.
#[must_use]
pub fn plan_valid(schema: &Schema, prior: &Value, config: &Value, planned: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    let at = At {
        prior,
        config,
        planned,
        path: AttributePath::root(),
    };
    block(&schema.attributes, &schema.blocks, &at, &mut found);
    found
}

struct At<'a> {
    prior: &'a Value,
    config: &'a Value,
    planned: &'a Value,
    path: AttributePath,
}

impl<'a> At<'a> {
    fn attribute(&self, name: &str) -> At<'a> {
        At {
            prior: self.prior.attribute(name),
            config: self.config.attribute(name),
            planned: self.planned.attribute(name),
            path: self.path.attribute(name),
        }
    }

    fn index(&self, index: usize) -> At<'a> {
        let element = |list: &'a Value| match list {
            Value::List(elements) => elements.get(index).unwrap_or(&NULL),
            _ => &NULL,
        };
        At {
            prior: element(self.prior),
            config: element(self.config),
            planned: element(self.planned),
            path: self.path.index(index),
        }
    }

    fn key(&self, key: &str) -> At<'a> {
        let element = |map: &'a Value| match map {
            Value::Map(elements) => elements.get(key).unwrap_or(&NULL),
            _ => &NULL,
        };
        At {
            prior: element(self.prior),
            config: element(self.config),
            planned: element(self.planned),
            path: self.path.key(key),
        }
    }

    fn violation(&self, found: &mut Vec<Violation>, message: impl Into<String>) {
        found.push(Violation::new(&self.path, message));
    }

    /// Presence and absence must agree; `true` when there is something to look into.
    fn present(&self, found: &mut Vec<Violation>) -> bool {
        match (self.config.is_null(), self.planned.is_null()) {
            (false, true) => self.violation(
                found,
                "planned for absence, but the configuration wants existence",
            ),
            (true, false) => self.violation(
                found,
                "planned for existence, but the configuration wants absence",
            ),
            _ => {}
        }
        !self.config.is_null() && !self.planned.is_null()
    }
}

fn block(attributes: &[Attribute], blocks: &[NestedBlock], at: &At<'_>, found: &mut Vec<Violation>) {
    if !at.present(found) {
        return;
    }
    for attribute in attributes {
        value(attribute, &at.attribute(&attribute.name), found);
    }
    for nested in blocks {
        nested_block(nested, &at.attribute(&nested.name), found);
    }
}

fn value(attribute: &Attribute, at: &At<'_>, found: &mut Vec<Violation>) {
    let planned = at.planned.unrefined();
    if planned == at.config.unrefined() {
        return;
    }
    if planned == at.prior.unrefined() && !at.prior.is_null() && !at.config.is_null() {
        return; // the state's spelling of what the configuration means
    }
    if attribute.mode == Mode::Computed || (at.config.is_null() && attribute.mode.is_computed()) {
        return;
    }
    if at.config.is_null() {
        return at.violation(
            found,
            "planned a value for an attribute that is neither configured nor computed",
        );
    }
    if attribute.write_only && at.planned.is_null() {
        return;
    }
    match &attribute.shape {
        Shape::Nested(nesting, nested) => nested_object(*nesting, nested, at, found),
        Shape::Plain(_) if attribute.sensitive => {
            at.violation(
                found,
                "the planned value is neither the configured nor the state's (sensitive)",
            );
        }
        Shape::Plain(_) => {
            let message = format!(
                "planned {:?}, but the configuration has {:?} and the state {:?}",
                at.planned, at.config, at.prior
            );
            at.violation(found, message);
        }
    }
}

fn nested_object(nesting: Nesting, attributes: &[Attribute], at: &At<'_>, found: &mut Vec<Violation>) {
    if !at.present(found) {
        return;
    }
    if at.planned.is_unknown() {
        return at.violation(found, "planned unknown for a configured value");
    }
    match nesting {
        Nesting::Single => block(attributes, &[], at, found),
        Nesting::List | Nesting::Map => elements(at, found, |at, found| {
            if at.config.is_unknown() || at.planned.is_unknown() {
                if at.config.is_unknown() != at.planned.is_unknown() {
                    at.violation(found, "planned unknown for a configured element, or the reverse");
                }
                return;
            }
            for attribute in attributes {
                value(attribute, &at.attribute(&attribute.name), found);
            }
        }),
        Nesting::Set => {
            if let (Value::Set(planned), Value::Set(config)) = (at.planned, at.config)
                && planned.len() > config.len()
            {
                at.violation(
                    found,
                    format!("{} elements planned, {} configured", planned.len(), config.len()),
                );
            }
        }
    }
}

/// Looks into list and map elements, after their number and keys agree.
fn elements(at: &At<'_>, found: &mut Vec<Violation>, look: impl Fn(&At<'_>, &mut Vec<Violation>)) {
    match (at.planned, at.config) {
        (Value::List(planned), Value::List(config)) if planned.len() == config.len() => {
            for index in 0..planned.len() {
                look(&at.index(index), found);
            }
        }
        (Value::Map(planned), Value::Map(config)) if planned.keys().eq(config.keys()) => {
            for key in planned.keys() {
                look(&at.key(key), found);
            }
        }
        (Value::List(planned), Value::List(config)) => {
            at.violation(
                found,
                format!("{} elements planned, {} configured", planned.len(), config.len()),
            );
        }
        (Value::Map(_), Value::Map(_)) => at.violation(found, "the planned keys are not the configured ones"),
        (planned, config) => {
            at.violation(
                found,
                format!("planned a {}, configured a {}", planned.kind(), config.kind()),
            );
        }
    }
}

fn nested_block(nested: &NestedBlock, at: &At<'_>, found: &mut Vec<Violation>) {
    if at.planned == at.config {
        return;
    }
    if at.config.is_unknown() {
        return at.violation(found, "planned a value for an unknown dynamic block");
    }
    if at.planned.is_unknown() {
        return at.violation(
            found,
            "a nested block must not be unknown itself; plan attributes of it unknown instead",
        );
    }
    match nested.nesting {
        BlockNesting::Single | BlockNesting::Group => block(&nested.attributes, &nested.blocks, at, found),
        BlockNesting::List { .. } | BlockNesting::Map => {
            elements(at, found, |at, found| {
                block(&nested.attributes, &nested.blocks, at, found)
            });
        }
        BlockNesting::Set { .. } => {
            if at.planned.is_null() {
                at.violation(found, "no blocks is an empty set, not null");
            }
        }
    }
}
