//! Which values are not known yet.

use super::JsonPath;

/// Where values are not known yet, as in a plan that refers to what another resource will give. The value at
/// such a path, if any, is ignored; a path covers all that lies below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownPaths(Vec<JsonPath>);

impl UnknownPaths {
    /// Everything is known.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether the value at `path` is unknown as a whole.
    pub fn covers(&self, path: &JsonPath) -> bool {
        self.0.iter().any(|unknown| unknown.contains(path))
    }

    /// Whether the value at `path`, or a part of it, is unknown.
    pub fn touches(&self, path: &JsonPath) -> bool {
        self.0
            .iter()
            .any(|unknown| unknown.contains(path) || path.contains(unknown))
    }

    pub(super) fn with(&self, more: impl IntoIterator<Item = JsonPath>) -> Self {
        let mut paths = self.0.clone();
        paths.extend(more);
        Self(paths)
    }
}

impl FromIterator<JsonPath> for UnknownPaths {
    fn from_iter<I: IntoIterator<Item = JsonPath>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}
