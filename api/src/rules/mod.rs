//! What makes an object valid: one rule, one place, used at plan, at admission and in status.
//!
//! Input: an object as JSON, the paths whose values are not known yet, and the object before the change.
//! Output: violations, sorted by path. Invariant: the same object gives the same violations as the API server
//! finds with the same CRD; beyond that come the rules that upstream checks while running.

mod path;

use std::fmt;

use serde_json::Value;

pub use self::path::{JsonPath, Segment};

/// The kinds that are checked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `karpenter.sh/v1` NodePool.
    NodePool,
    /// `karpenter.sh/v1` NodeClaim.
    NodeClaim,
    /// `karpenter.sh/v1alpha1` NodeOverlay.
    NodeOverlay,
    /// `karpenter.k8s.aws/v1` EC2NodeClass.
    EC2NodeClass,
}

impl Kind {
    /// The kinds in the order of [`crate::crds`].
    pub const ALL: [Self; 4] = [Self::NodePool, Self::NodeClaim, Self::NodeOverlay, Self::EC2NodeClass];

    /// The kind's name in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodePool => "NodePool",
            Self::NodeClaim => "NodeClaim",
            Self::NodeOverlay => "NodeOverlay",
            Self::EC2NodeClass => "EC2NodeClass",
        }
    }
}

/// Where values are not known yet, as in a plan that refers to what another resource will give. The value at
/// such a path, if any, is ignored; a path covers all that lies below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownPaths(Vec<JsonPath>);

impl UnknownPaths {
    /// Everything is known.
    pub const fn none() -> Self {
        Self(Vec::new())
    }
}

impl FromIterator<JsonPath> for UnknownPaths {
    fn from_iter<I: IntoIterator<Item = JsonPath>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

/// Something in an object that is not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Where.
    pub path: JsonPath,
    /// The value found there; nothing when a value is missing.
    pub value: Option<Value>,
    /// What is wrong, what was expected and what to do, in one sentence or two.
    pub message: String,
    /// Which of the three kinds of rule was broken.
    pub source: Source,
}

/// Which rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The CRD's schema: types, required fields, patterns, limits. The API server refuses the object.
    Schema,
    /// A CEL rule of the CRD. The API server refuses the object.
    Cel,
    /// A rule that the API server does not know; the controller would refuse to use the object.
    Runtime,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Checks one object (with or without apiVersion, kind, metadata and status). Empty means valid. `old` is the
/// object before a change, for the rules about what may not change.
pub fn check(kind: Kind, object: &Value, unknown: &UnknownPaths, old: Option<&Value>) -> Vec<Violation> {
    let _ = (kind, object, unknown, old);
    Vec::new()
}
