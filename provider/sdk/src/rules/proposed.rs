//! The merge of configuration and state that a core proposes to a provider.

use std::collections::BTreeMap;

use crate::schema::{Attribute, BlockNesting, NestedBlock, Nesting, Schema, Shape};
use crate::value::Value;

static NULL: Value = Value::Null;

/// What a core proposes: configured values, and for computed attributes that are not configured what the state has.
#[must_use]
pub fn proposed_new(schema: &Schema, prior: &Value, config: &Value) -> Value {
    if config.is_null() || config.is_unknown() {
        return if config.is_null() {
            prior.clone()
        } else {
            config.clone()
        };
    }
    object(&schema.attributes, &schema.blocks, prior, config)
}

fn object(attributes: &[Attribute], blocks: &[NestedBlock], prior: &Value, config: &Value) -> Value {
    let Value::Object(_) = config else {
        return config.clone();
    };
    let mut merged = BTreeMap::new();
    for attribute in attributes {
        let (prior, config) = (
            prior.attribute(&attribute.name),
            config.attribute(&attribute.name),
        );
        merged.insert(attribute.name.clone(), value(attribute, prior, config));
    }
    for block in blocks {
        let (prior, config) = (prior.attribute(&block.name), config.attribute(&block.name));
        let nesting = match block.nesting {
            BlockNesting::Single | BlockNesting::Group => Nesting::Single,
            BlockNesting::List { .. } => Nesting::List,
            BlockNesting::Set { .. } => Nesting::Set,
            BlockNesting::Map => Nesting::Map,
        };
        let element = Element {
            attributes: &block.attributes,
            blocks: &block.blocks,
        };
        merged.insert(block.name.clone(), element.merge(nesting, prior, config));
    }
    Value::Object(merged)
}

fn value(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if attribute.mode.is_computed() && config.is_null() {
        // A state that holds something only a configuration can set came from one, which is gone now.
        let was_configured = attribute.mode.is_optional()
            && matches!(&attribute.shape, Shape::Nested(_, nested) if holds_configured(nested, prior));
        return if was_configured {
            Value::Null
        } else {
            prior.clone()
        };
    }
    match &attribute.shape {
        Shape::Plain(_) => config.clone(),
        Shape::Nested(nesting, nested) => Element {
            attributes: nested,
            blocks: &[],
        }
        .merge(*nesting, prior, config),
    }
}

/// Whether `value` holds a non-null attribute that is not computed.
fn holds_configured(attributes: &[Attribute], value: &Value) -> bool {
    match value {
        Value::Object(members) => attributes.iter().any(|attribute| {
            let member = members.get(&attribute.name).unwrap_or(&NULL);
            if member.is_null() {
                return false;
            }
            let nested =
                matches!(&attribute.shape, Shape::Nested(_, nested) if holds_configured(nested, member));
            !attribute.mode.is_computed() || nested
        }),
        Value::List(elements) | Value::Set(elements) => {
            elements.iter().any(|value| holds_configured(attributes, value))
        }
        Value::Map(elements) => elements.values().any(|value| holds_configured(attributes, value)),
        _ => false,
    }
}

struct Element<'a> {
    attributes: &'a [Attribute],
    blocks: &'a [NestedBlock],
}

impl Element<'_> {
    fn merge_one(&self, prior: &Value, config: &Value) -> Value {
        object(self.attributes, self.blocks, prior, config)
    }

    fn merge(&self, nesting: Nesting, prior: &Value, config: &Value) -> Value {
        match (nesting, config) {
            (Nesting::Single, config) => self.merge_one(prior, config),
            (_, Value::List(elements)) => {
                let element = |index: usize| match prior {
                    Value::List(prior) => prior.get(index),
                    _ => None,
                };
                let merged = elements
                    .iter()
                    .enumerate()
                    .map(|(index, config)| match element(index) {
                        Some(prior) => self.merge_one(prior, config),
                        None => config.clone(),
                    });
                Value::List(merged.collect())
            }
            (_, Value::Map(elements)) => {
                let element = |key: &str| match prior {
                    Value::Map(prior) => prior.get(key),
                    _ => None,
                };
                let merged = elements.iter().map(|(key, config)| {
                    let merged =
                        element(key).map_or_else(|| config.clone(), |prior| self.merge_one(prior, config));
                    (key.clone(), merged)
                });
                Value::Map(merged.collect())
            }
            (_, Value::Set(elements)) => {
                let mut free: Vec<&Value> = match prior {
                    Value::Set(prior) => prior.iter().collect(),
                    _ => Vec::new(),
                };
                let merged = elements.iter().map(|config| {
                    let fits = free
                        .iter()
                        .position(|prior| stems_from(self.attributes, prior, config));
                    let prior = fits.map_or(&NULL, |position| free.remove(position));
                    self.merge_one(prior, config)
                });
                Value::set(merged.collect::<Vec<_>>())
            }
            (_, config) => config.clone(),
        }
    }
}

/// Whether a state's set element can have come from a configured one: they differ only where the provider may add.
fn stems_from(attributes: &[Attribute], prior: &Value, config: &Value) -> bool {
    if prior.unrefined() == config.unrefined() {
        return true;
    }
    attributes.iter().all(|attribute| {
        let (prior, config) = (
            prior.attribute(&attribute.name),
            config.attribute(&attribute.name),
        );
        if prior.unrefined() == config.unrefined() {
            return true;
        }
        match (&attribute.shape, prior, config) {
            (Shape::Nested(Nesting::Single, nested), Value::Object(_), Value::Object(_)) => {
                stems_from(nested, prior, config)
            }
            _ => attribute.mode.is_computed() && config.is_null(),
        }
    })
}
