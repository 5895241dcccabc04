//! Whether a launch with a class would be allowed: its rules, its tags, and a rehearsal that buys nothing. Karpenter's reasons.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use joiner_api::conditions::{Observation, Status, status as status_of};
use joiner_api::labels::conditions as kinds;
use joiner_api::{EC2NodeClass, EC2NodeClassStatus};
use joiner_aws::launch::{ClaimKey, Validity};
use joiner_aws::node_class::NodeClass;
use joiner_aws::tags;
use tracing::warn;

use super::super::rehearse::Rehearsal;
use super::{generation_of, uid};
use crate::act::{Act, chain};
use crate::observe::map;

/// How long a launch that was allowed is taken to be allowed. Karpenter's value.
const VALID: SignedDuration = SignedDuration::from_mins(30);
/// How long one that was refused is taken to be refused: somebody is mending it.
const INVALID: SignedDuration = SignedDuration::from_mins(1);
/// What a rehearsal needs.
const NEEDED: [&str; 4] = [
    kinds::AMIS_READY,
    kinds::INSTANCE_PROFILE_READY,
    kinds::SECURITY_GROUPS_READY,
    kinds::SUBNETS_READY,
];

/// What rehearsals have shown, by the uid of the class.
#[derive(Debug, Default)]
pub(super) struct Validated(Mutex<BTreeMap<String, Shown>>);

#[derive(Debug)]
struct Shown {
    of: Of,
    until: Timestamp,
    observation: Observation,
}

/// All that a rehearsal depends on: the generation, and the status but for its conditions.
#[derive(Debug, PartialEq)]
struct Of(i64, EC2NodeClassStatus);

impl Of {
    fn new(class: &EC2NodeClass, status: &EC2NodeClassStatus) -> Of {
        let mut found = status.clone();
        found.conditions.clear();
        Of(generation_of(class), found)
    }
}

impl Validated {
    fn known(&self, class: &EC2NodeClass, of: &Of, now: Timestamp) -> Option<Observation> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = all.get(uid(class))?;
        (shown.of == *of && shown.until > now).then(|| shown.observation.clone())
    }

    fn remember(&self, class: &EC2NodeClass, of: Of, observation: &Observation, now: Timestamp) {
        let held = if observation.status == Status::True {
            VALID
        } else {
            INVALID
        };
        let until = now.saturating_add(held).unwrap_or(Timestamp::MAX);
        let shown = Shown {
            of,
            until,
            observation: observation.clone(),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, shown| shown.until > now);
        all.insert(uid(class).to_owned(), shown);
    }
}

/// The condition ValidationSucceeded of a class whose other conditions are those in `status`; none where it is to stay as it is.
/// With `DryRun::Off` the rehearsal is left out.
pub(super) async fn validation(
    act: &Act,
    class: &EC2NodeClass,
    status: &EC2NodeClassStatus,
    validated: &Validated,
    dry_run: DryRun,
    now: Timestamp,
) -> Option<Observation> {
    const KIND: &str = kinds::VALIDATION_SUCCEEDED;
    if let Some(broken) = rules(class).or_else(|| missing(status)) {
        return Some(broken);
    }
    if dry_run == DryRun::Off {
        return Some(Observation::holds(KIND));
    }
    let of = Of::new(class, status);
    if let Some(known) = validated.known(class, &of, now) {
        return Some(known);
    }
    let stands = || status_of(&status.conditions, KIND) != Status::Unknown;
    let waiting =
        |message: &str| (!stands()).then(|| Observation::unknown(KIND, "DependenciesNotReady", message));
    let resolved = EC2NodeClass {
        status: Some(status.clone()),
        ..class.clone()
    };
    let Some(types) = act.cloud.types(&resolved, now) else {
        return waiting("Awaiting instance types");
    };
    let Ok(resolved) = NodeClass::try_from(&resolved) else {
        return waiting(AWAITING);
    };
    let resolved = act.cloud.complete(resolved);
    let pools = act.index.pool_entries();
    let pools = pools
        .iter()
        .map(|entry| &*entry.pool)
        .filter(|pool| *pool.class.name == *resolved.name);
    let Some(rehearsal) = Rehearsal::of_class(pools, &resolved, &types, now) else {
        let message = "none of its images runs on any instance type that is on sale in the zones of its subnets; \
                       extend amiSelectorTerms or subnetSelectorTerms";
        return Some(Observation::fails(KIND, "DependenciesNotReady", message));
    };
    let claim = [ClaimKey {
        name: format!("{}-validation", resolved.name),
        uid: uid(class).to_owned(),
    }];
    let order = rehearsal.order(&act.cloud.cluster.join, &claim);
    let observation = match act.cloud.launcher.validate(&order, now).await {
        Validity::Valid => Observation::holds(KIND),
        Validity::Invalid { reason, message } => {
            warn!(EC2NodeClass = %resolved.name, reason = reason, error = %message, "a launch would be refused");
            Observation::fails(KIND, reason, message)
        }
        Validity::Unknown { cause } => {
            let cause = chain(&cause);
            warn!(EC2NodeClass = %resolved.name, error = %cause, "a launch could not be tried, trying again");
            return (!stands()).then(|| Observation::unknown(KIND, "ValidationPending", cause));
        }
    };
    validated.remember(class, of, &observation, now);
    Some(observation)
}

/// Whether launches are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DryRun {
    On,
    Off,
}

/// What the class' own text breaks.
fn rules(class: &EC2NodeClass) -> Option<Observation> {
    let broken = map::class_violations(class);
    if !broken.is_empty() {
        let texts: Vec<&str> = broken.iter().map(|it| &**it).collect();
        return Some(Observation::fails(
            kinds::VALIDATION_SUCCEEDED,
            "ValidationFailed",
            texts.join("; "),
        ));
    }
    let own = class.spec.tags.clone().into_iter().collect();
    let taken = tags::restricted(&own);
    (!taken.is_empty()).then(|| {
        let message = format!(
            "spec.tags: {} are set by the controller: remove them",
            taken.join(", ")
        );
        Observation::fails(kinds::VALIDATION_SUCCEEDED, "TagValidationFailed", message)
    })
}

const AWAITING: &str = "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution";

/// What a rehearsal lacks: something that is known not to be there, else something that is not known.
fn missing(status: &EC2NodeClassStatus) -> Option<Observation> {
    let any = |wanted: Status| {
        NEEDED
            .iter()
            .any(|kind| status_of(&status.conditions, kind) == wanted)
    };
    let kind = kinds::VALIDATION_SUCCEEDED;
    if any(Status::False) {
        return Some(Observation::fails(kind, "DependenciesNotReady", AWAITING));
    }
    any(Status::Unknown).then(|| Observation::unknown(kind, "DependenciesNotReady", AWAITING))
}

#[cfg(test)]
mod tests {
    use joiner_api::conditions::set;
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn class(spec: serde_json::Value) -> EC2NodeClass {
        let mut object = json!({
            "metadata": {"name": "default", "uid": "c-1", "generation": 2},
            "spec": {
                "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "r",
                "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
            },
        });
        for (key, value) in spec.as_object().unwrap() {
            object["spec"][key] = value.clone();
        }
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn what_is_missing_is_awaited() {
        let status = |kinds: &[&'static str], failing: &[&'static str]| {
            let mut status = EC2NodeClassStatus::default();
            for kind in kinds {
                set(&mut status.conditions, &Observation::holds(kind), 1, now());
            }
            for kind in failing {
                set(
                    &mut status.conditions,
                    &Observation::fails(kind, "x", ""),
                    1,
                    now(),
                );
            }
            status
        };
        for (status, want) in [
            (status(&NEEDED, &[]), None),
            (status(&NEEDED[..3], &[]), Some(Status::Unknown)),
            (status(&NEEDED[..2], &NEEDED[2..3]), Some(Status::False)),
        ] {
            assert_eq!(missing(&status).map(|it| it.status), want, "{status:?}");
        }
    }

    #[test]
    fn reserved_tags_are_named() {
        let broken = rules(&class(json!({"tags": {"karpenter.sh/nodeclaim": "x"}}))).unwrap();
        assert!(broken.message.contains("karpenter.sh/nodeclaim"), "{broken:?}");
        assert_eq!(rules(&class(json!({"tags": {"team": "a"}}))), None);
    }

    #[test]
    fn what_was_shown_holds_for_a_while_and_for_the_same_class() {
        let validated = Validated::default();
        let class = class(json!({}));
        let of = |profile: &str| {
            let status = EC2NodeClassStatus {
                instance_profile: Some(profile.to_owned()),
                ..EC2NodeClassStatus::default()
            };
            Of::new(&class, &status)
        };
        let later = |minutes| now() + SignedDuration::from_mins(minutes);
        let good = Observation::holds(kinds::VALIDATION_SUCCEEDED);
        validated.remember(&class, of("p"), &good, now());
        for (profile, minutes, want) in [("p", 29, true), ("p", 30, false), ("q", 0, false)] {
            let known = validated.known(&class, &of(profile), later(minutes));
            assert_eq!(known.is_some(), want, "{profile} after {minutes} minutes");
        }
        let bad = Observation::fails(kinds::VALIDATION_SUCCEEDED, "CreateFleetAuthCheckFailed", "no");
        validated.remember(&class, of("p"), &bad, now());
        assert!(validated.known(&class, &of("p"), later(1)).is_none());
    }
}
