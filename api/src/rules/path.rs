//! Paths into an object, in the words of the manifest.

use std::fmt;

/// Where in an object something is: camelCase field names, map keys and list indices from the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonPath(pub Vec<Segment>);

/// One step of a [`JsonPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field's name or a map's key.
    Field(String),
    /// A place in a list, from 0.
    Index(usize),
}

impl JsonPath {
    /// The whole object.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The path with a field's name or a map's key added.
    pub fn field(&self, name: &str) -> Self {
        self.with(Segment::Field(name.to_owned()))
    }

    /// The path with a place in a list added.
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// Whether `self` is `other` or lies above it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl From<&str> for Segment {
    fn from(name: &str) -> Self {
        Self::Field(name.to_owned())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl<S: Into<Segment>> FromIterator<S> for JsonPath {
    fn from_iter<I: IntoIterator<Item = S>>(segments: I) -> Self {
        Self(segments.into_iter().map(Into::into).collect())
    }
}

/// As kubectl prints it: `spec.template.spec.requirements[0].key`, `metadata.labels["a.b/c"]`.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Field(name)
                    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()) =>
                {
                    write!(f, "{}{name}", if place == 0 { "" } else { "." })?;
                }
                Segment::Field(name) => write!(f, "[{name:?}]")?,
            }
        }
        Ok(())
    }
}
