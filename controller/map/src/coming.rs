//! How many pods a workload wants, where nothing is known to keep them from being made.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::batch::v1::Job;

/// How many pods a ReplicaSet wants; none where it is going or its controller could not make one (`ReplicaFailure`).
pub fn wanted_by_replica_set(object: &ReplicaSet) -> Option<u32> {
    let conditions = object
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let fails = |kind: &str, status: &str| kind == "ReplicaFailure" && status == "True";
    let failing = conditions.into_iter().any(|it| fails(&it.type_, &it.status));
    let wanted = object.spec.as_ref().map_or(1, |spec| spec.replicas.unwrap_or(1));
    let going = object.metadata.deletion_timestamp.is_some();
    (!failing && !going).then(|| u32::try_from(wanted).unwrap_or(0))
}

/// How many pods a Job wants at a time now; none where it is going, suspended or at its end, and where pods of it have failed, as
/// then it waits.
pub fn wanted_by_job(object: &Job) -> Option<u32> {
    let spec = object.spec.as_ref()?;
    let status = object.status.as_ref();
    let count = |number: Option<i32>| u32::try_from(number.unwrap_or(0)).unwrap_or(0);
    let failed = count(status.and_then(|status| status.failed)) > 0;
    let ends = |kind: &str| {
        matches!(
            kind,
            "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet" | "Suspended"
        )
    };
    let conditions = status
        .into_iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let ended = conditions
        .into_iter()
        .any(|it| ends(&it.type_) && it.status == "True");
    let going = object.metadata.deletion_timestamp.is_some();
    if failed || ended || going || spec.suspend == Some(true) {
        return None;
    }
    let at_a_time = spec.parallelism.map_or(1, |number| count(Some(number)));
    let succeeded = count(status.and_then(|status| status.succeeded));
    Some(match spec.completions {
        Some(number) => at_a_time.min(count(Some(number)).saturating_sub(succeeded)),
        // A queue of work: after the first success no more are made.
        None if succeeded > 0 => 0,
        None => at_a_time,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_replica_set_wants_its_replicas_unless_they_cannot_be_made() {
        let selector = json!({"matchLabels": {"app": "web"}});
        let failure = |status: &str| json!({"conditions": [{"type": "ReplicaFailure", "status": status}], "replicas": 1});
        let going = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        for (meta, replicas, status, want) in [
            (json!({}), json!(50), json!(null), Some(50)),
            (json!({}), json!(null), json!(null), Some(1)),
            (json!({}), json!(50), failure("False"), Some(50)),
            (json!({}), json!(50), failure("True"), None),
            (going, json!(50), json!(null), None),
        ] {
            let set = json!({"metadata": meta, "spec": {"replicas": replicas, "selector": selector}, "status": status});
            assert_eq!(wanted_by_replica_set(&read(set.clone())), want, "{set}");
        }
    }

    #[test]
    fn a_job_wants_what_is_left_of_it() {
        let template = json!({"spec": {"containers": []}});
        for (spec, status, want) in [
            (json!({"parallelism": 10}), json!({}), Some(10)),
            (json!({}), json!({}), Some(1)),
            (json!({"parallelism": 10}), json!({"succeeded": 1}), Some(0)),
            (
                json!({"parallelism": 10, "completions": 30}),
                json!({"succeeded": 5}),
                Some(10),
            ),
            (
                json!({"parallelism": 10, "completions": 30}),
                json!({"succeeded": 25}),
                Some(5),
            ),
            (json!({"parallelism": 10, "suspend": true}), json!({}), None),
            (json!({"parallelism": 10}), json!({"failed": 1}), None),
            (
                json!({"parallelism": 10}),
                json!({"conditions": [{"type": "Complete", "status": "True"}]}),
                None,
            ),
        ] {
            let mut job = json!({"metadata": {}, "spec": spec, "status": status});
            job["spec"]["template"] = template.clone();
            assert_eq!(wanted_by_job(&read(job.clone())), want, "{job}");
        }
    }
}
