//! Visits every attribute of a planned value together with what the configuration and the state have there.

use crate::path::AttributePath;
use crate::schema::{Attribute, NestedBlock, Nesting, Schema, Shape};
use crate::value::Value;

/// Where a visitor is.
pub(crate) struct Site<'a> {
    pub(crate) attribute: &'a Attribute,
    pub(crate) path: AttributePath,
    /// What the configuration has there; null also where a parent is null.
    pub(crate) config: &'a Value,
    /// What the state has there; null also where a parent is null or has no such element.
    pub(crate) prior: &'a Value,
}

/// Whether to go on into nested attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Descend,
    Skip,
}

static NULL: Value = Value::Null;

/// Visits parents before their nested attributes. A visitor may change the planned value, the nested part of it included.
pub(crate) fn walk(
    schema: &Schema,
    config: &Value,
    prior: &Value,
    planned: &mut Value,
    visit: &mut dyn FnMut(&Site<'_>, &mut Value) -> Next,
) {
    object(
        &schema.attributes,
        &schema.blocks,
        Triple {
            config,
            prior,
            planned,
        },
        &AttributePath::root(),
        visit,
    );
}

struct Triple<'a> {
    config: &'a Value,
    prior: &'a Value,
    planned: &'a mut Value,
}

fn object(
    attributes: &[Attribute],
    blocks: &[NestedBlock],
    at: Triple<'_>,
    path: &AttributePath,
    visit: &mut dyn FnMut(&Site<'_>, &mut Value) -> Next,
) {
    let Value::Object(members) = at.planned else {
        return;
    };
    for attribute in attributes {
        let planned = members.entry(attribute.name.clone()).or_default();
        let (config, prior) = (
            at.config.attribute(&attribute.name),
            at.prior.attribute(&attribute.name),
        );
        let site = Site {
            attribute,
            path: path.attribute(attribute.name.as_str()),
            config,
            prior,
        };
        if visit(&site, planned) == Next::Skip {
            continue;
        }
        if let Shape::Nested(nesting, nested) = &attribute.shape {
            each_element(
                *nesting,
                Triple {
                    config,
                    prior,
                    planned,
                },
                &site.path,
                &mut |at, path| {
                    object(nested, &[], at, path, visit);
                },
            );
        }
    }
    for block in blocks {
        let Some(planned) = members.get_mut(&block.name) else {
            continue;
        };
        let (config, prior) = (at.config.attribute(&block.name), at.prior.attribute(&block.name));
        let nesting = match planned {
            Value::List(_) => Nesting::List,
            Value::Set(_) => Nesting::Set,
            Value::Map(_) => Nesting::Map,
            _ => Nesting::Single,
        };
        let path = path.attribute(block.name.as_str());
        each_element(
            nesting,
            Triple {
                config,
                prior,
                planned,
            },
            &path,
            &mut |at, path| {
                object(&block.attributes, &block.blocks, at, path, visit);
            },
        );
    }
}

fn each_element(
    nesting: Nesting,
    at: Triple<'_>,
    path: &AttributePath,
    visit: &mut dyn FnMut(Triple<'_>, &AttributePath),
) {
    let Triple {
        config,
        prior,
        planned,
    } = at;
    match (nesting, planned) {
        (Nesting::Single, planned) => visit(
            Triple {
                config,
                prior,
                planned,
            },
            path,
        ),
        (_, Value::List(elements)) => {
            for (index, planned) in elements.iter_mut().enumerate() {
                let at = Triple {
                    config: element(config, index),
                    prior: element(prior, index),
                    planned,
                };
                visit(at, &path.index(index));
            }
        }
        (_, Value::Map(elements)) => {
            for (key, planned) in elements.iter_mut() {
                let at = Triple {
                    config: member(config, key),
                    prior: member(prior, key),
                    planned,
                };
                visit(at, &path.key(key.as_str()));
            }
        }
        (_, Value::Set(elements)) => {
            let mut changed = std::mem::take(elements);
            for planned in &mut changed {
                let config = source(config, planned);
                let prior = source(prior, if config.is_null() { planned } else { config });
                visit(
                    Triple {
                        config,
                        prior,
                        planned,
                    },
                    path,
                );
            }
            if let Value::Set(sorted) = Value::set(changed) {
                *elements = sorted;
            }
        }
        _ => {}
    }
}

fn element(list: &Value, index: usize) -> &Value {
    match list {
        Value::List(elements) => elements.get(index).unwrap_or(&NULL),
        _ => &NULL,
    }
}

fn member<'a>(map: &'a Value, key: &str) -> &'a Value {
    match map {
        Value::Map(elements) => elements.get(key).unwrap_or(&NULL),
        _ => &NULL,
    }
}

/// The element of a set that `other` stems from or became: one that agrees wherever both say something.
fn source<'a>(set: &'a Value, other: &Value) -> &'a Value {
    let Value::Set(elements) = set else { return &NULL };
    elements
        .iter()
        .find(|element| *element == other)
        .or_else(|| elements.iter().find(|element| agree(element, other)))
        .unwrap_or(&NULL)
}

fn agree(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null | Value::Unknown(_), _) | (_, Value::Null | Value::Unknown(_)) => true,
        (Value::Object(left), Value::Object(right)) => left
            .iter()
            .all(|(name, value)| right.get(name).is_none_or(|other| agree(value, other))),
        (left, right) => left == right,
    }
}
