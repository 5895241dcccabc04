//! From JSON to a model.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{JsonStep, json_name};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Model, attributes_of};
use crate::path::AttributePath;
use crate::schema::{Attribute, Nesting, Shape};
use crate::value::{Type, Value};

/// A model read from JSON.
#[derive(Clone, Debug)]
pub struct FromJson<M> {
    /// The model; attributes that the JSON lacks are null.
    pub model: M,
    /// Members of the JSON for which the model has no attribute.
    pub ignored: Vec<Vec<JsonStep>>,
}

/// Reads a model from JSON. Members without an attribute are listed, not refused: an API may be newer than the model.
///
/// # Errors
/// Members of another type than their attribute's, each with its attribute path.
pub fn from_json<M: Model>(json: &Json) -> Result<FromJson<M>, Diagnostics> {
    let mut reader = Reader {
        ignored: Vec::new(),
        steps: Vec::new(),
        errors: Diagnostics::new(),
    };
    let value = reader.object(json, &attributes_of::<M>(), &AttributePath::root());
    if reader.errors.has_errors() {
        return Err(reader.errors);
    }
    Ok(FromJson {
        model: M::read(&value)?,
        ignored: reader.ignored,
    })
}

struct Reader {
    ignored: Vec<Vec<JsonStep>>,
    steps: Vec<JsonStep>,
    errors: Diagnostics,
}

impl Reader {
    fn within(&mut self, step: JsonStep, read: impl FnOnce(&mut Self) -> Value) -> Value {
        self.steps.push(step);
        let value = read(self);
        self.steps.pop();
        value
    }

    fn misfit(&mut self, path: &AttributePath, expected: &str, found: &Json) -> Value {
        let detail = format!("Expected {expected}, found {found}.");
        self.errors
            .push(Diagnostic::error("Unsuitable value", detail).at(path.clone()));
        Value::Null
    }

    fn object(&mut self, json: &Json, attributes: &[Attribute], path: &AttributePath) -> Value {
        let members = match json {
            Json::Null => return Value::Null,
            Json::Object(members) => members,
            other => return self.misfit(path, "an object", other),
        };
        let mut object = BTreeMap::new();
        let mut known = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            let value = json_name(attribute).map_or(Value::Null, |name| {
                let value = match members.get(&name) {
                    Some(member) => {
                        let path = path.attribute(attribute.name.as_str());
                        self.within(JsonStep::Key(name.clone()), |reader| {
                            reader.attribute(member, attribute, &path)
                        })
                    }
                    None => Value::Null,
                };
                known.push(name);
                value
            });
            object.insert(attribute.name.clone(), value);
        }
        for name in members.keys().filter(|name| !known.contains(name)) {
            let mut steps = self.steps.clone();
            steps.push(JsonStep::Key(name.clone()));
            self.ignored.push(steps);
        }
        Value::Object(object)
    }

    fn attribute(&mut self, json: &Json, attribute: &Attribute, path: &AttributePath) -> Value {
        match (&attribute.shape, json) {
            (Shape::Plain(ty), json) => self.plain(json, ty, path),
            (_, Json::Null) => Value::Null,
            (Shape::Nested(Nesting::Single, nested), json) => self.object(json, nested, path),
            (Shape::Nested(nesting @ (Nesting::List | Nesting::Set), nested), Json::Array(elements)) => {
                let elements = elements.iter().enumerate().map(|(index, element)| {
                    let path = path.index(index);
                    self.within(JsonStep::Index(index), |reader| {
                        reader.object(element, nested, &path)
                    })
                });
                let elements: Vec<Value> = elements.collect();
                if *nesting == Nesting::Set {
                    Value::set(elements)
                } else {
                    Value::List(elements)
                }
            }
            (Shape::Nested(Nesting::Map, nested), Json::Object(members)) => {
                let members = members.iter().map(|(key, member)| {
                    let path = path.key(key.as_str());
                    let value = self.within(JsonStep::Key(key.clone()), |reader| {
                        reader.object(member, nested, &path)
                    });
                    (key.clone(), value)
                });
                Value::Map(members.collect())
            }
            (shape, other) => self.misfit(path, &shape.ty().to_string(), other),
        }
    }

    fn plain(&mut self, json: &Json, ty: &Type, path: &AttributePath) -> Value {
        match (ty, json) {
            (_, Json::Null) => Value::Null,
            (Type::Dynamic, json) => dynamic(json),
            (Type::Bool, Json::Bool(value)) => Value::Bool(*value),
            (Type::Number, Json::Number(number)) => number
                .to_string()
                .parse()
                .map_or_else(|_| self.misfit(path, "a number", json), Value::Number),
            (Type::String, Json::String(text)) => Value::string(text.as_str()),
            // Kubernetes' "int or string" fields are strings for us.
            (Type::String, Json::Number(number)) => Value::string(number.to_string()),
            (Type::List(element), Json::Array(elements)) => {
                Value::List(self.elements(elements, element, path))
            }
            (Type::Set(element), Json::Array(elements)) => Value::set(self.elements(elements, element, path)),
            (Type::Map(element), Json::Object(members)) => {
                let members = members.iter().map(|(key, member)| {
                    let path = path.key(key.as_str());
                    (
                        key.clone(),
                        self.within(JsonStep::Key(key.clone()), |reader| {
                            reader.plain(member, element, &path)
                        }),
                    )
                });
                Value::Map(members.collect())
            }
            (Type::Object(types), Json::Object(members)) => {
                let attributes = types.iter().map(|(name, ty)| {
                    let value = members.get(name).map_or(Value::Null, |member| {
                        let path = path.attribute(name.as_str());
                        self.within(JsonStep::Key(name.clone()), |reader| {
                            reader.plain(member, ty, &path)
                        })
                    });
                    (name.clone(), value)
                });
                Value::Object(attributes.collect())
            }
            (Type::Tuple(types), Json::Array(elements)) if types.len() == elements.len() => {
                let elements = elements
                    .iter()
                    .zip(types)
                    .enumerate()
                    .map(|(index, (element, ty))| {
                        let path = path.index(index);
                        self.within(JsonStep::Index(index), |reader| reader.plain(element, ty, &path))
                    });
                Value::Tuple(elements.collect())
            }
            (ty, other) => self.misfit(path, &ty.to_string(), other),
        }
    }

    fn elements(&mut self, elements: &[Json], ty: &Type, path: &AttributePath) -> Vec<Value> {
        let elements = elements.iter().enumerate().map(|(index, element)| {
            let path = path.index(index);
            self.within(JsonStep::Index(index), |reader| reader.plain(element, ty, &path))
        });
        elements.collect()
    }
}

/// JSON of any shape as a value that carries its type: objects and tuples, as a core's `jsondecode` makes them.
#[must_use]
pub fn dynamic(json: &Json) -> Value {
    let (ty, value) = typed(json);
    if value.is_null() {
        Value::Null
    } else {
        Value::Dynamic(Box::new((ty, value)))
    }
}

fn typed(json: &Json) -> (Type, Value) {
    match json {
        Json::Null => (Type::Dynamic, Value::Null),
        Json::Bool(value) => (Type::Bool, Value::Bool(*value)),
        Json::Number(number) => (
            Type::Number,
            number.to_string().parse().map_or(Value::Null, Value::Number),
        ),
        Json::String(text) => (Type::String, Value::string(text.as_str())),
        Json::Array(elements) => {
            let (types, values) = elements.iter().map(typed).unzip();
            (Type::Tuple(types), Value::Tuple(values))
        }
        Json::Object(members) => {
            let (mut types, mut values) = (BTreeMap::new(), BTreeMap::new());
            for (key, member) in members {
                let (ty, value) = typed(member);
                types.insert(key.clone(), ty);
                values.insert(key.clone(), value);
            }
            (Type::Object(types), Value::Object(values))
        }
    }
}
