//! From a model to JSON.

use serde_json::{Map, Value as Json};

use super::{JsonStep, json_name};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Model, attributes_of};
use crate::path::AttributePath;
use crate::schema::{Attribute, Nesting, Shape};
use crate::value::{Number, Value};

/// A model as JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonDocument {
    /// The object, without its unknown parts.
    pub value: Json,
    /// Where unknown parts would be, as paths into the JSON: a rule about them must wait. An unknown list element stands in
    /// `value` as null, so that the indices after it are right.
    pub unknown: Vec<Vec<JsonStep>>,
}

/// Writes a model as JSON.
///
/// # Errors
/// A number that JSON (64-bit integers and floats) cannot hold, with its path.
pub fn to_json<M: Model>(model: &M) -> Result<JsonDocument, Diagnostics> {
    let mut writer = Writer {
        unknown: Vec::new(),
        steps: Vec::new(),
        errors: Diagnostics::new(),
    };
    let value = writer.object(&model.to_value(), &attributes_of::<M>(), &AttributePath::root());
    let document = JsonDocument {
        value,
        unknown: writer.unknown,
    };
    writer.errors.into_result(document)
}

struct Writer {
    unknown: Vec<Vec<JsonStep>>,
    steps: Vec<JsonStep>,
    errors: Diagnostics,
}

impl Writer {
    fn within(&mut self, step: JsonStep, write: impl FnOnce(&mut Self) -> Json) -> Json {
        self.steps.push(step);
        let written = write(self);
        self.steps.pop();
        written
    }

    /// Notes an unknown value here; it stands as null.
    fn unknown_here(&mut self) -> Json {
        self.unknown.push(self.steps.clone());
        Json::Null
    }

    fn object(&mut self, value: &Value, attributes: &[Attribute], path: &AttributePath) -> Json {
        let object = match value {
            Value::Unknown(_) => return self.unknown_here(),
            Value::Object(object) => object,
            _ => return Json::Null,
        };
        let mut members = Map::new();
        for attribute in attributes {
            let (Some(name), Some(value)) = (json_name(attribute), object.get(&attribute.name)) else {
                continue;
            };
            if value.is_null() {
                continue;
            }
            let path = path.attribute(attribute.name.as_str());
            let member = self.within(JsonStep::Key(name.clone()), |writer| {
                writer.attribute(value, attribute, &path)
            });
            if !value.is_unknown() {
                members.insert(name, member);
            }
        }
        Json::Object(members)
    }

    fn attribute(&mut self, value: &Value, attribute: &Attribute, path: &AttributePath) -> Json {
        let nested = match &attribute.shape {
            Shape::Plain(_) => return self.plain(value, path),
            Shape::Nested(Nesting::Single, nested) => return self.object(value, nested, path),
            Shape::Nested(_, nested) => nested,
        };
        match value {
            Value::Unknown(_) => self.unknown_here(),
            Value::List(elements) | Value::Set(elements) => {
                let elements = elements.iter().enumerate().map(|(index, element)| {
                    let path = path.index(index);
                    self.within(JsonStep::Index(index), |writer| {
                        writer.object(element, nested, &path)
                    })
                });
                Json::Array(elements.collect())
            }
            Value::Map(elements) => {
                let elements = elements.iter().map(|(key, element)| {
                    let path = path.key(key.as_str());
                    let element = self.within(JsonStep::Key(key.clone()), |writer| {
                        writer.object(element, nested, &path)
                    });
                    (key.clone(), element)
                });
                Json::Object(elements.collect())
            }
            _ => Json::Null,
        }
    }

    fn plain(&mut self, value: &Value, path: &AttributePath) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Unknown(_) => self.unknown_here(),
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => json_number(number).unwrap_or_else(|| {
                let detail =
                    format!("The number {number} has no exact 64-bit form. Write a smaller or shorter one.");
                self.errors
                    .push(Diagnostic::error("Number too large", detail).at(path.clone()));
                Json::Null
            }),
            Value::String(text) => Json::String(text.clone()),
            Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
                let elements = elements.iter().enumerate().map(|(index, element)| {
                    let path = path.index(index);
                    self.within(JsonStep::Index(index), |writer| writer.plain(element, &path))
                });
                Json::Array(elements.collect())
            }
            Value::Map(elements) | Value::Object(elements) => {
                let elements =
                    elements
                        .iter()
                        .filter(|(_, element)| !element.is_null())
                        .map(|(key, element)| {
                            let path = path.key(key.as_str());
                            (
                                key.clone(),
                                self.within(JsonStep::Key(key.clone()), |writer| {
                                    writer.plain(element, &path)
                                }),
                            )
                        });
                Json::Object(elements.collect())
            }
            Value::Dynamic(inner) => self.plain(&inner.1, path),
        }
    }
}

/// A number as JSON: an integer, or the float that a reader takes for the same decimal.
pub(super) fn json_number(number: &Number) -> Option<Json> {
    if let Some(integer) = number.as_i64() {
        return Some(integer.into());
    }
    if let Some(integer) = number.as_u64() {
        return Some(integer.into());
    }
    let float = number.to_f64();
    let same = float
        .to_string()
        .parse::<Number>()
        .is_ok_and(|back| back == *number);
    if same {
        serde_json::Number::from_f64(float).map(Json::Number)
    } else {
        None
    }
}
