//! What makes an object valid: one rule, one place, used at plan, at admission and in status.
//!
//! Input: an object as JSON, the paths whose values are not known yet, and the object before the change.
//! Output: violations, sorted by path. Invariant: the same object gives the same violations as the API server
//! finds with the same CRD; beyond that come the rules that upstream checks while running.

mod amounts;
mod cel;
mod compiled;
mod contradiction;
mod cron;
mod ec2_node_class;
mod kubelet;
mod names;
mod nearest;
mod node_pool;
mod path;
mod requirements;
mod structure;
mod tags;
mod unknown;
mod view;
mod volumes;
mod words;

use std::fmt;

use serde_json::Value;

use self::view::View;
pub use self::{
    names::{is_dns_label, is_dns_name},
    nearest::nearest,
    path::{JsonPath, Segment},
    tags::tag_problem,
    unknown::UnknownPaths,
};

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
    pub const ALL: [Self; 4] = [
        Self::NodePool,
        Self::NodeClaim,
        Self::NodeOverlay,
        Self::EC2NodeClass,
    ];

    /// Group and version, as in manifests.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::NodePool | Self::NodeClaim => "karpenter.sh/v1",
            Self::NodeOverlay => "karpenter.sh/v1alpha1",
            Self::EC2NodeClass => "karpenter.k8s.aws/v1",
        }
    }

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
///
/// ```
/// use joiner_api::rules::{Kind, UnknownPaths, check};
/// let class = serde_json::json!({"spec": {"role": "node", "amiSelectorTerms": [{"alias": "al2023"}]}});
/// let found: Vec<String> =
///     check(Kind::EC2NodeClass, &class, &UnknownPaths::none(), None).iter().map(ToString::to_string).collect();
/// assert_eq!(found.len(), 3); // the alias, and two missing lists of terms
/// assert!(found[0].starts_with("spec.amiSelectorTerms[0].alias: an alias is written family@version"));
/// ```
pub fn check(kind: Kind, object: &Value, unknown: &UnknownPaths, old: Option<&Value>) -> Vec<Violation> {
    let schema = compiled::schema(kind);
    let root = JsonPath::root();
    let object = with_defaults(kind, object, unknown);
    let old = old.map(|old| with_defaults(kind, old, &UnknownPaths::none()));
    let mut found = Vec::new();
    schema.check(&object, &root, unknown, &mut found);

    // What the schema refuses is reported once; rules that would look at it are not evaluated.
    let sound = unknown.with(found.iter().map(|violation| violation.path.clone()));
    cel::check(schema, &object, old.as_ref(), &root, &sound, &mut found);

    let view = View::root(&object, &sound);
    check_header(kind, &view, &mut found);
    match kind {
        Kind::NodePool => node_pool::node_pool(&view, &mut found),
        Kind::NodeClaim => node_pool::node_claim(&view, &mut found),
        Kind::NodeOverlay => node_pool::node_overlay(&view, &mut found),
        Kind::EC2NodeClass => ec2_node_class::ec2_node_class(&view, &mut found),
    }
    one_per_place(found)
}

/// The object as the API server stores it: with the CRD's defaults where values are missing. Values at unknown
/// paths are kept as they are.
pub fn with_defaults(kind: Kind, object: &Value, unknown: &UnknownPaths) -> Value {
    compiled::schema(kind).with_defaults(object, &JsonPath::root(), unknown)
}

fn check_header(kind: Kind, object: &View<'_>, found: &mut Vec<Violation>) {
    for (field, want) in [("apiVersion", kind.api_version()), ("kind", kind.as_str())] {
        if let Some(value) = object
            .field(field)
            .filter(|field| field.value.as_str() != Some(want))
        {
            found.push(value.fail(format!(
                "is {}, but this is checked as a {} of {}",
                value.value,
                kind.as_str(),
                kind.api_version()
            )));
        }
    }
    if let Some(metadata) = object.field("metadata") {
        names::check_metadata(&metadata, found);
    }
    if let Some(name) = object.fields(&["metadata", "name"])
        && !name.value.as_str().is_some_and(names::is_dns_name)
    {
        found.push(name.fail(format!(
            "{} is no object name: use lower-case letters, digits, '-' and '.', starting and ending with a letter or digit, at most 253 characters",
            name.value
        )));
    }
}

/// Sorted by place. Where the CRD refuses a value and a rule of ours says more about the same value, they
/// become one violation with the words that say more.
fn one_per_place(found: Vec<Violation>) -> Vec<Violation> {
    let (running, mut refused): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|violation| violation.source == Source::Runtime);
    for violation in running {
        match refused
            .iter_mut()
            .find(|other| other.path == violation.path && other.source == Source::Cel)
        {
            Some(other) => other.message = violation.message,
            None => refused.push(violation),
        }
    }
    refused.sort_by(|a, b| (&a.path, a.source, &a.message).cmp(&(&b.path, b.source, &b.message)));
    refused.dedup();
    refused
}

#[cfg(test)]
mod tests;
