//! What is carried from a source to the writer: objects of the API as it is served now.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value as Json};

/// An object in the making.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Where it comes from, such as `Provisioner default (pools.yaml)`.
    pub(super) source: String,
    /// The manifest, of the version that is served now.
    pub(super) manifest: Json,
    /// What has no counterpart, and what is to be known.
    pub(super) remarks: Vec<String>,
    /// Expressions in the place of values, each with its path into the attributes.
    pub(super) references: Vec<(Vec<String>, String)>,
    /// Whether a cluster has the object already, so that it can be imported.
    pub(super) exists: bool,
    /// Paths of the manifest whose fields the source calls otherwise, each with the source's path.
    pub(super) renamed: Renamed,
}

/// Paths of a manifest, each with what the source calls it.
pub(super) type Renamed = &'static [(&'static str, &'static str)];

impl Piece {
    /// A piece without remarks, made anew.
    pub(super) fn new(source: &str, manifest: Json) -> Self {
        Self {
            source: source.to_owned(),
            manifest,
            remarks: Vec::new(),
            references: Vec::new(),
            exists: false,
            renamed: &[],
        }
    }

    /// What the source calls the field at `path` of the manifest: the longest path that is known counts for all below it.
    pub(super) fn written(&self, path: &str) -> String {
        let rest = |new: &str| {
            path.strip_prefix(new)
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let known = self
            .renamed
            .iter()
            .filter_map(|(new, old)| Some((new.len(), *old, rest(new)?)));
        match known.max_by_key(|(length, _, _)| *length) {
            Some((_, old, rest)) => format!("{old}{rest}"),
            None => path.to_owned(),
        }
    }

    /// The object's kind.
    pub(super) fn kind(&self) -> &str {
        self.manifest["kind"].as_str().unwrap_or_default()
    }

    /// The object's name.
    pub(super) fn name(&self) -> &str {
        self.manifest["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// The kubelet settings of an old pool: they belong to its class now.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PoolKubelet {
    /// The pool.
    pub(super) pool: String,
    /// The class it refers to.
    pub(super) class: String,
    /// The settings, null for none.
    pub(super) settings: Json,
    /// The field that has them in the pool.
    pub(super) field: &'static str,
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Harvest {
    /// The objects.
    pub(super) pieces: Vec<Piece>,
    /// Of each old pool.
    pub(super) kubelets: Vec<PoolKubelet>,
    /// Variables that the configuration needs, each with its description.
    pub(super) variables: BTreeMap<String, String>,
    /// What was left out as a whole, and why.
    pub(super) skipped: Vec<String>,
}

impl Harvest {
    /// Takes over all that another one has.
    pub(super) fn append(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
        self.kubelets.extend(other.kubelets);
        self.variables.extend(other.variables);
        self.skipped.extend(other.skipped);
    }
}

/// Fields that are taken one by one, so that what is left at the end is known to have no counterpart.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    place: String,
    members: Map<String, Json>,
}

impl Fields {
    /// The members of an object at `place`; none where it is no object.
    pub(super) fn of(place: impl fmt::Display, object: Option<Json>) -> Self {
        let members = match object {
            Some(Json::Object(members)) => members,
            _ => Map::new(),
        };
        Self {
            place: place.to_string(),
            members,
        }
    }

    /// Takes a field; one that is null or empty is not there.
    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        self.members.remove(name).filter(says_something)
    }

    /// Takes a field that is a text, or is written as one.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Json::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }

    /// Takes an object's fields, to be taken one by one.
    pub(super) fn within(&mut self, name: &str) -> Self {
        let place = self.below(name);
        Self::of(place, self.take(name))
    }

    /// The path of a field.
    pub(super) fn below(&self, name: &str) -> String {
        if self.place.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.place)
        }
    }

    /// Whether nothing is there.
    pub(super) fn is_empty(&self) -> bool {
        !self.members.values().any(says_something)
    }

    /// Forgets fields that a source writes and nobody says.
    pub(super) fn forget(&mut self, names: &[&str]) {
        for name in names {
            self.members.remove(*name);
        }
    }

    /// Says what is left, by name, with its value where it is short.
    pub(super) fn left(self, remarks: &mut Vec<String>) {
        for (name, value) in self.members.iter().filter(|(_, value)| says_something(value)) {
            let text = value.to_string();
            let value = if text.len() <= 120 {
                format!(" ({text})")
            } else {
                String::new()
            };
            remarks.push(format!("{}{value} has no counterpart", self.below(name)));
        }
    }
}

/// Whether a value is neither null nor empty.
pub(super) fn says_something(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
        Json::String(text) => !text.is_empty(),
        Json::Bool(_) | Json::Number(_) => true,
    }
}

/// Puts a member into an object when there is one to put.
pub(super) fn put(object: &mut Json, name: &str, value: Option<Json>) {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_have_the_names_of_their_source() {
        let mut piece = Piece::new("x", json!({}));
        assert_eq!(piece.written("spec.limits.cpu"), "spec.limits.cpu");
        piece.renamed = &[
            ("spec", "spec.provider"),
            ("spec.limits", "spec.limits.resources"),
            ("spec.template.spec.taints", "spec.taints"),
        ];
        for (path, want) in [
            ("spec.limits.cpu", "spec.limits.resources.cpu"),
            ("spec.limitsOther", "spec.provider.limitsOther"),
            ("spec.template.spec.taints[0].effect", "spec.taints[0].effect"),
            ("metadata.name", "metadata.name"),
            ("spec", "spec.provider"),
        ] {
            assert_eq!(piece.written(path), want, "{path}");
        }
    }

    #[test]
    fn what_is_left_is_named() {
        let mut fields = Fields::of(
            "spec",
            Some(json!({ "a": 1, "b": { "c": 2, "d": "" }, "e": [], "f": "x" })),
        );
        assert_eq!(fields.take("a"), Some(json!(1)));
        assert_eq!(fields.take("e"), None);
        let (mut within, mut remarks) = (fields.within("b"), Vec::new());
        assert_eq!(within.text("c").as_deref(), Some("2"));
        within.left(&mut remarks);
        fields.left(&mut remarks);
        assert_eq!(remarks, ["spec.f (\"x\") has no counterpart"]);
    }
}
