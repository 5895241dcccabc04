//! Status conditions, and the changes decisions make to them.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::text::Text;

/// The instance was bought.
pub const LAUNCHED: &str = "Launched";
/// The node joined.
pub const REGISTERED: &str = "Registered";
/// The node is complete and may be disrupted.
pub const INITIALIZED: &str = "Initialized";
/// The pods of a node that goes are gone.
pub const DRAINED: &str = "Drained";
/// The volumes of a node that goes are detached.
pub const VOLUMES_DETACHED: &str = "VolumesDetached";
/// The instance is being terminated.
pub const INSTANCE_TERMINATING: &str = "InstanceTerminating";
/// The node has been left alone for `consolidateAfter`.
pub const CONSOLIDATABLE: &str = "Consolidatable";
/// The node is not what its pool says any more.
pub const DRIFTED: &str = "Drifted";
/// The node is about to go.
pub const DISRUPTION_REASON: &str = "DisruptionReason";
/// The sum of an object's conditions.
pub const READY: &str = "Ready";
/// A pool's or class's own rules hold.
pub const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
/// A pool's class is there and ready.
pub const NODE_CLASS_READY: &str = "NodeClassReady";
/// Nodes of a pool do join.
pub const NODE_REGISTRATION_HEALTHY: &str = "NodeRegistrationHealthy";

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It does.
    True,
    /// It does not.
    False,
    /// Not known, or not yet.
    Unknown,
}

impl Status {
    /// Kubernetes' spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        }
    }

    /// Reads Kubernetes' spelling; anything else is unknown.
    pub fn parse(text: &str) -> Status {
        match text {
            "True" => Status::True,
            "False" => Status::False,
            _ => Status::Unknown,
        }
    }
}

/// One condition as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it holds.
    pub status: Status,
    /// One word for machines. Where there is nothing to say, the condition's own type.
    pub reason: Text,
    /// A sentence for people; may be empty.
    pub message: Text,
    /// Since when the status is what it is.
    pub since: Timestamp,
}

/// The conditions of one object, by type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions(BTreeMap<Text, Condition>);

/// A condition that a decision wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The condition's type.
    pub kind: &'static str,
    /// Whether it holds.
    pub status: Status,
    /// One word for machines.
    pub reason: Text,
    /// A sentence for people.
    pub message: Text,
}

impl Wanted {
    /// It holds.
    pub fn yes(kind: &'static str) -> Wanted {
        Wanted {
            kind,
            status: Status::True,
            reason: kind.into(),
            message: "".into(),
        }
    }

    /// It does not hold.
    pub fn no(kind: &'static str, reason: impl Into<Text>, message: impl Into<Text>) -> Wanted {
        Wanted {
            kind,
            status: Status::False,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// It is not known, or not yet.
    pub fn unknown(kind: &'static str, reason: impl Into<Text>, message: impl Into<Text>) -> Wanted {
        Wanted {
            kind,
            status: Status::Unknown,
            reason: reason.into(),
            message: message.into(),
        }
    }
}

impl Conditions {
    /// The condition `kind`.
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.0.get(kind)
    }

    /// Whether `kind` is there and true.
    pub fn is_true(&self, kind: &str) -> bool {
        self.status(kind) == Some(Status::True)
    }

    /// Where `kind` stands.
    pub fn status(&self, kind: &str) -> Option<Status> {
        self.get(kind).map(|condition| condition.status)
    }

    /// All, by type.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Condition)> {
        self.0.iter()
    }

    /// Puts `condition` in place.
    pub fn insert(&mut self, kind: impl Into<Text>, condition: Condition) {
        self.0.insert(kind.into(), condition);
    }

    /// Takes the condition `kind` away.
    pub fn remove(&mut self, kind: &str) {
        self.0.remove(kind);
    }

    /// Whether `wanted` says anything new.
    pub fn differs(&self, wanted: &Wanted) -> bool {
        self.get(wanted.kind).is_none_or(|there| {
            there.status != wanted.status || there.reason != wanted.reason || there.message != wanted.message
        })
    }

    /// Applies `wanted` at `now`. The time of the last change moves only with the status.
    pub fn apply(&mut self, wanted: &Wanted, now: Timestamp) {
        let since = match self.get(wanted.kind) {
            Some(there) if there.status == wanted.status => there.since,
            _ => now,
        };
        let condition = Condition {
            status: wanted.status,
            reason: wanted.reason.clone(),
            message: wanted.message.clone(),
            since,
        };
        self.insert(wanted.kind, condition);
    }
}

impl<K: Into<Text>> FromIterator<(K, Condition)> for Conditions {
    fn from_iter<I: IntoIterator<Item = (K, Condition)>>(conditions: I) -> Conditions {
        Conditions(
            conditions
                .into_iter()
                .map(|(kind, condition)| (kind.into(), condition))
                .collect(),
        )
    }
}

/// What Ready says when the conditions `parts` make it up: true when all are, false when one is, else unknown; the
/// message names the first part that is not true.
pub fn ready(conditions: &Conditions, parts: &[&'static str]) -> Wanted {
    let not_true = |status: Status| {
        parts
            .iter()
            .copied()
            .find(|part| conditions.status(part).unwrap_or(Status::Unknown) == status)
    };
    if let Some(part) = not_true(Status::False) {
        return Wanted::no(READY, "UnhealthyDependents", format!("{part}=False"));
    }
    match not_true(Status::Unknown) {
        Some(part) => Wanted::unknown(READY, "ReconcilingDependents", format!("{part}=Unknown")),
        None => Wanted::yes(READY),
    }
}
