//! Conditions of a status: read one, set one, sum them up.
//!
//! Input: a list of conditions, the object's generation and the time. Output: the changed list. Invariant:
//! `lastTransitionTime` moves only when a condition's status changes.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::labels::conditions::READY;

/// The status of a condition that holds.
pub const TRUE: &str = "True";
/// The status of a condition that does not hold.
pub const FALSE: &str = "False";
/// The status of a condition nothing is known about.
pub const UNKNOWN: &str = "Unknown";

/// What is to be said about one aspect of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The condition's type.
    pub condition: &'static str,
    /// Whether it holds.
    pub status: Status,
    /// One word for programs. Upstream repeats the type when there is nothing to explain.
    pub reason: String,
    /// A sentence for people; may be empty.
    pub message: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nothing is known yet.
    Unknown,
}

impl Status {
    /// The text in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => TRUE,
            Self::False => FALSE,
            Self::Unknown => UNKNOWN,
        }
    }
}

impl Observation {
    /// The condition holds.
    pub fn holds(condition: &'static str) -> Self {
        Self {
            condition,
            status: Status::True,
            reason: condition.to_owned(),
            message: String::new(),
        }
    }

    /// The condition does not hold, because of `reason`.
    pub fn fails(condition: &'static str, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            condition,
            status: Status::False,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// Nothing is known yet, because of `reason`.
    pub fn unknown(condition: &'static str, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            condition,
            status: Status::Unknown,
            reason: reason.into(),
            message: message.into(),
        }
    }
}

/// The condition of that type.
pub fn get<'a>(conditions: &'a [Condition], condition: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.type_ == condition)
}

/// The status of the condition of that type; an absent condition is unknown.
pub fn status(conditions: &[Condition], condition: &str) -> Status {
    match get(conditions, condition).map(|c| c.status.as_str()) {
        Some(TRUE) => Status::True,
        Some(FALSE) => Status::False,
        _ => Status::Unknown,
    }
}

/// Whether the condition of that type holds.
pub fn is_true(conditions: &[Condition], condition: &str) -> bool {
    status(conditions, condition) == Status::True
}

/// When the condition of that type last changed its status.
pub fn since(conditions: &[Condition], condition: &str) -> Option<Timestamp> {
    get(conditions, condition).map(|c| c.last_transition_time.0)
}

/// Sets a condition; says whether anything changed. The list stays sorted as it is, new conditions come last.
/// `now` is stored in whole seconds, since Kubernetes keeps no more.
pub fn set(
    conditions: &mut Vec<Condition>,
    observation: &Observation,
    generation: i64,
    now: Timestamp,
) -> bool {
    let Observation {
        condition,
        status,
        reason,
        message,
    } = observation;
    let existing = conditions.iter_mut().find(|c| c.type_ == *condition);
    let wanted = Condition {
        last_transition_time: match &existing {
            Some(old) if old.status == status.as_str() => old.last_transition_time.clone(),
            _ => Time(whole_seconds(now)),
        },
        message: message.clone(),
        observed_generation: Some(generation),
        reason: reason.clone(),
        status: status.as_str().to_owned(),
        type_: (*condition).to_owned(),
    };
    match existing {
        Some(old) if *old == wanted => false,
        Some(old) => {
            *old = wanted;
            true
        }
        None => {
            conditions.push(wanted);
            true
        }
    }
}

/// Removes a condition; says whether it was there.
pub fn remove(conditions: &mut Vec<Condition>, condition: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|c| c.type_ != condition);
    conditions.len() != before
}

/// Sums `parts` up in the condition Ready; says whether anything changed. Ready fails when a part fails, is
/// unknown when a part is, and holds when all hold.
pub fn set_ready(
    conditions: &mut Vec<Condition>,
    parts: &[&'static str],
    generation: i64,
    now: Timestamp,
) -> bool {
    let named = |wanted: Status| {
        let names: Vec<&str> = parts
            .iter()
            .filter(|part| status(conditions, part) == wanted)
            .copied()
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let observation = if let Some(failed) = named(Status::False) {
        Observation::fails(
            READY,
            "UnhealthyDependents",
            format!("these conditions do not hold: {failed}"),
        )
    } else if let Some(unknown) = named(Status::Unknown) {
        Observation::unknown(
            READY,
            "ReconcilingDependents",
            format!("still waiting for: {unknown}"),
        )
    } else {
        Observation::holds(READY)
    };
    set(conditions, &observation, generation, now)
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn keeps_the_transition_time_while_the_status_stays() {
        let mut conditions = Vec::new();
        assert!(set(&mut conditions, &Observation::holds("Launched"), 1, at(10)));
        assert!(!set(&mut conditions, &Observation::holds("Launched"), 1, at(20)));
        assert!(set(&mut conditions, &Observation::holds("Launched"), 2, at(30)));
        assert_eq!(since(&conditions, "Launched"), Some(at(10)));
        assert!(set(
            &mut conditions,
            &Observation::fails("Launched", "Gone", "it is gone"),
            2,
            at(40)
        ));
        assert_eq!(since(&conditions, "Launched"), Some(at(40)));
        assert_eq!(status(&conditions, "Launched"), Status::False);
        assert!(remove(&mut conditions, "Launched"));
        assert!(!remove(&mut conditions, "Launched"));
    }

    #[test]
    fn ready_sums_up() {
        for (launched, registered, want) in [
            (Some(Status::True), Some(Status::True), Status::True),
            (Some(Status::True), None, Status::Unknown),
            (Some(Status::Unknown), Some(Status::False), Status::False),
        ] {
            let mut conditions = Vec::new();
            for (condition, status) in [("Launched", launched), ("Registered", registered)] {
                if let Some(status) = status {
                    let observation = Observation {
                        status,
                        ..Observation::holds(condition)
                    };
                    set(&mut conditions, &observation, 1, at(1));
                }
            }
            set_ready(&mut conditions, &["Launched", "Registered"], 1, at(2));
            assert_eq!(status(&conditions, READY), want);
        }
    }
}
