//! What was found, and where.

use joiner_api::rules::{JsonPath, Segment};

/// How sure it is that something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// It cannot work.
    Wrong,
    /// It works, and hardly as it is meant.
    Doubtful,
}

/// Something that can never work, or hardly as it is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// Where, from the object's root.
    pub path: JsonPath,
    /// How sure it is.
    pub weight: Weight,
    /// One line without a full stop.
    pub summary: &'static str,
    /// What was found, and what to write instead.
    pub detail: String,
}

impl Finding {
    /// It cannot work.
    pub(super) fn wrong(path: JsonPath, summary: &'static str, detail: String) -> Self {
        Self {
            path,
            weight: Weight::Wrong,
            summary,
            detail,
        }
    }

    /// It works, and hardly as it is meant.
    pub(super) fn doubtful(path: JsonPath, summary: &'static str, detail: String) -> Self {
        Self {
            weight: Weight::Doubtful,
            ..Self::wrong(path, summary, detail)
        }
    }
}

/// A place below the spec.
pub(super) fn spec(fields: &[&str]) -> JsonPath {
    let root = [Segment::Field("spec".to_owned())].into_iter();
    let fields = fields.iter().map(|name| Segment::Field((*name).to_owned()));
    JsonPath(root.chain(fields).collect())
}

/// An element of a list, and a field of it.
pub(super) fn element(list: &JsonPath, index: usize, field: &str) -> JsonPath {
    let mut path = list.0.clone();
    path.push(Segment::Index(index));
    path.push(Segment::Field(field.to_owned()));
    JsonPath(path)
}

/// A list of things, shortened: "a, b, c and 4 more".
pub(super) fn listed<'a>(items: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    let named = items[..items.len().min(most)].join(", ");
    match items.len().checked_sub(most) {
        Some(more @ 1..) => format!("{named} and {more} more"),
        _ => named,
    }
}
