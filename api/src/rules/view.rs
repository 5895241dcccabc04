//! Reading an object of which parts are unknown.

use serde_json::Value;

use super::{JsonPath, Source, UnknownPaths, Violation};

/// A known value and where it stands.
#[derive(Clone)]
pub(super) struct View<'a> {
    pub(super) value: &'a Value,
    pub(super) path: JsonPath,
    unknown: &'a UnknownPaths,
}

impl<'a> View<'a> {
    /// The whole object.
    pub(super) fn root(value: &'a Value, unknown: &'a UnknownPaths) -> Self {
        Self {
            value,
            path: JsonPath::root(),
            unknown,
        }
    }

    /// A field's value, if it is there and known.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        self.step(self.path.field(name), self.value.get(name)?)
    }

    /// The value after several steps of fields.
    pub(super) fn fields(&self, names: &[&str]) -> Option<Self> {
        names.iter().try_fold(self.clone(), |view, name| view.field(name))
    }

    /// A field's text, if it is there, known and a text.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.field(name)?.value.as_str()
    }

    /// Whether the field is there or may be there.
    pub(super) fn may_have(&self, name: &str) -> bool {
        self.value.get(name).is_some_and(|value| !value.is_null())
            || self.unknown.covers(&self.path.field(name))
    }

    /// Whether the value and all below it are known.
    pub(super) fn is_complete(&self) -> bool {
        !self.unknown.touches(&self.path)
    }

    /// The known items of a list.
    pub(super) fn items(&self) -> Vec<Self> {
        self.value
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(|(place, item)| self.step(self.path.index(place), item))
            .collect()
    }

    /// The keys of a map, with their values where these are known.
    pub(super) fn entries(&self) -> Vec<(&'a str, Option<Self>)> {
        self.value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), self.step(self.path.field(key), value)))
            .collect()
    }

    /// A violation at this value.
    pub(super) fn fail(&self, message: impl Into<String>) -> Violation {
        Violation {
            path: self.path.clone(),
            value: Some(self.value.clone()),
            message: message.into(),
            source: Source::Runtime,
        }
    }

    fn step(&self, path: JsonPath, value: &'a Value) -> Option<Self> {
        (!self.unknown.covers(&path) && !value.is_null()).then_some(Self {
            value,
            path,
            unknown: self.unknown,
        })
    }
}
