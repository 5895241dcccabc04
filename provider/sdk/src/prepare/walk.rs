//! Visits every attribute of a planned value together with what the configuration and the state have there.

use crate::path::{AttributePath, Step};
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
/// What is within a set has the set's own path: there are no paths into sets.
pub(crate) fn walk(
    schema: &Schema,
    config: &Value,
    prior: &Value,
    planned: &mut Value,
    visit: &mut dyn FnMut(&Site<'_>, &mut Value) -> Next,
) {
    let at = Triple {
        config,
        prior,
        planned,
    };
    object(&schema.attributes, &schema.blocks, at, &Place::root(), visit);
}

struct Triple<'a> {
    config: &'a Value,
    prior: &'a Value,
    planned: &'a mut Value,
}

/// A path that stops growing at a set.
#[derive(Clone)]
struct Place {
    path: AttributePath,
    in_set: bool,
}

impl Place {
    fn root() -> Self {
        Self {
            path: AttributePath::root(),
            in_set: false,
        }
    }

    fn step(&self, step: Step) -> Self {
        if self.in_set {
            self.clone()
        } else {
            Self {
                path: self.path.step(step),
                in_set: false,
            }
        }
    }

    fn inside_set(&self) -> Self {
        Self {
            path: self.path.clone(),
            in_set: true,
        }
    }
}

fn object(
    attributes: &[Attribute],
    blocks: &[NestedBlock],
    at: Triple<'_>,
    place: &Place,
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
        let place = place.step(Step::Attribute(attribute.name.clone()));
        let site = Site {
            attribute,
            path: place.path.clone(),
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
                &place,
                &mut |at, place| {
                    object(nested, &[], at, place, visit);
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
        let place = place.step(Step::Attribute(block.name.clone()));
        each_element(
            nesting,
            Triple {
                config,
                prior,
                planned,
            },
            &place,
            &mut |at, place| {
                object(&block.attributes, &block.blocks, at, place, visit);
            },
        );
    }
}

fn each_element(nesting: Nesting, at: Triple<'_>, place: &Place, visit: &mut dyn FnMut(Triple<'_>, &Place)) {
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
            place,
        ),
        (_, Value::List(elements)) => {
            for (index, planned) in elements.iter_mut().enumerate() {
                let at = Triple {
                    config: element(config, index),
                    prior: element(prior, index),
                    planned,
                };
                visit(at, &place.step(Step::Index(index)));
            }
        }
        (_, Value::Map(elements)) => {
            for (key, planned) in elements.iter_mut() {
                let at = Triple {
                    config: member(config, key),
                    prior: member(prior, key),
                    planned,
                };
                visit(at, &place.step(Step::Key(key.clone())));
            }
        }
        (_, Value::Set(elements)) => {
            let mut changed = std::mem::take(elements);
            let place = place.inside_set();
            for planned in &mut changed {
                let config = source(config, planned);
                let prior = source(prior, if config.is_null() { planned } else { config });
                visit(
                    Triple {
                        config,
                        prior,
                        planned,
                    },
                    &place,
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
