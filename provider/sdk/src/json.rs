//! Models as plain JSON, for APIs that speak it: attribute names become camel case (or what `#[tf(json = "...")]` says),
//! null attributes are left out, unknown ones are left out and listed.
//!
//! Map keys (labels, tags) stay as they are. Attributes with `#[tf(json_skip)]` are not in the JSON.

mod read;
mod write;

pub use read::{FromJson, dynamic as dynamic_from_json, from_json};
pub use write::{JsonDocument, to_json};

use std::collections::BTreeMap;

use heck::ToLowerCamelCase;

use crate::model::{Model, attributes_of};
use crate::path::{AttributePath, Step};
use crate::schema::{Attribute, JsonName, Nesting, Shape};

/// One step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JsonStep {
    /// Into an object's member.
    Key(String),
    /// Into an array's element, from 0.
    Index(usize),
}

impl From<&str> for JsonStep {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for JsonStep {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// The name of an attribute in JSON; `None` when it is not there.
pub(crate) fn json_name(attribute: &Attribute) -> Option<String> {
    match &attribute.json {
        JsonName::Camel => Some(attribute.name.to_lower_camel_case()),
        JsonName::Named(name) => Some(name.clone()),
        JsonName::Skipped => None,
    }
}

/// The attribute path of a place in the JSON document of model `M`, so that a rule found broken there is shown to the user
/// at the attribute. `base` is where the model stands in its resource. Steps that lead to no attribute are dropped, and a
/// path ends at a set.
#[must_use]
pub fn locate<M: Model>(base: &AttributePath, steps: &[JsonStep]) -> AttributePath {
    locate_in(&attributes_of::<M>(), base, steps)
}

/// The names of a model's attributes at any depth, by their names in JSON.
#[must_use]
pub fn attribute_names<M: Model>() -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    collect_names(&attributes_of::<M>(), &mut names);
    names
}

fn collect_names(attributes: &[Attribute], names: &mut BTreeMap<String, String>) {
    for attribute in attributes {
        if let Some(name) = json_name(attribute) {
            names.insert(name, attribute.name.to_string());
        }
        if let Shape::Nested(_, nested) = &attribute.shape {
            collect_names(nested, names);
        }
    }
}

fn locate_in(attributes: &[Attribute], base: &AttributePath, steps: &[JsonStep]) -> AttributePath {
    let Some((JsonStep::Key(key), rest)) = steps.split_first() else {
        return base.clone();
    };
    let Some(attribute) = attributes
        .iter()
        .find(|attribute| json_name(attribute).as_ref() == Some(key))
    else {
        return base.clone();
    };
    let path = base.attribute(attribute.name.as_str());
    match (&attribute.shape, rest.split_first()) {
        (Shape::Nested(Nesting::Single, nested), _) => locate_in(nested, &path, rest),
        (Shape::Nested(Nesting::List, nested), Some((JsonStep::Index(index), rest))) => {
            locate_in(nested, &path.index(*index), rest)
        }
        (Shape::Nested(Nesting::Map, nested), Some((JsonStep::Key(key), rest))) => {
            locate_in(nested, &path.key(key.as_str()), rest)
        }
        (Shape::Nested(..), _) => path,
        (Shape::Plain(ty), _) => locate_plain(ty, path, rest),
    }
}

fn locate_plain(ty: &crate::Type, path: AttributePath, steps: &[JsonStep]) -> AttributePath {
    use crate::Type;
    match (ty, steps.split_first()) {
        (Type::List(element), Some((JsonStep::Index(index), rest))) => {
            locate_plain(element, path.index(*index), rest)
        }
        (Type::Map(element), Some((JsonStep::Key(key), rest))) => {
            locate_plain(element, path.key(key.as_str()), rest)
        }
        (Type::Object(types), Some((JsonStep::Key(key), rest))) => match types.get(key) {
            Some(ty) => locate_plain(ty, path.step(Step::Attribute(key.clone())), rest),
            None => path,
        },
        _ => path,
    }
}
