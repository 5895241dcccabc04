//! The status of a pod, as the kubelet writes it. Pure: what its containers do and the time are arguments.
//!
//! Output: the `status` of a strategic merge patch, in which conditions are merged by type; so the scheduler's condition and
//! readiness gates stay.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// How one container is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    pub(super) state: State,
    /// How it ended the last time.
    pub(super) last: Option<Ended>,
    /// Its readiness probe agrees, or it has none and runs.
    pub(super) ready: bool,
    /// Its startup probe agrees, or it has none and runs.
    pub(super) started: bool,
    pub(super) restarts: u32,
}

/// A container's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Waiting { reason: String, message: String },
    Running { since: Timestamp },
    Terminated(Ended),
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) signal: Option<i32>,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

impl View {
    /// A container that was not started yet.
    pub(super) fn waiting(reason: &str, message: impl Into<String>) -> Self {
        Self {
            state: State::Waiting {
                reason: reason.to_owned(),
                message: message.into(),
            },
            last: None,
            ready: false,
            started: false,
            restarts: 0,
        }
    }

    /// It ended, and well.
    pub(super) fn succeeded(&self) -> bool {
        matches!(&self.state, State::Terminated(ended) if ended.code == 0)
    }

    fn terminated(&self) -> bool {
        matches!(self.state, State::Terminated(_))
    }
}

/// A pod as the kubelet sees it.
#[derive(Debug, Clone)]
pub(super) struct Picture<'a> {
    pub(super) pod: &'a Pod,
    pub(super) views: &'a BTreeMap<String, View>,
    /// All init containers are done, and sidecars started.
    pub(super) initialized: bool,
    /// Volumes and address are there.
    pub(super) sandboxed: bool,
    pub(super) ip: Option<Ipv4Addr>,
    pub(super) host_ip: &'a str,
    pub(super) started: Timestamp,
}

/// The conditions written last: status and time of the change, by type.
pub(super) type Conditions = BTreeMap<&'static str, (bool, Timestamp)>;

/// The pod's phase.
pub(super) fn phase(picture: &Picture<'_>) -> &'static str {
    let spec = picture.pod.spec.as_ref();
    let policy = spec
        .and_then(|spec| spec.restart_policy.as_deref())
        .unwrap_or("Always");
    let views: Vec<&View> = spec
        .iter()
        .flat_map(|spec| &spec.containers)
        .filter_map(|container| picture.views.get(&container.name))
        .collect();
    let init_failed = policy == "Never"
        && spec
            .iter()
            .flat_map(|spec| spec.init_containers.iter().flatten())
            .any(|container| {
                picture
                    .views
                    .get(&container.name)
                    .is_some_and(|view| view.terminated() && !view.succeeded())
            });
    if init_failed {
        return "Failed";
    }
    if !picture.initialized || views.is_empty() {
        return "Pending";
    }
    if policy != "Always" && views.iter().all(|view| view.terminated()) {
        return if views.iter().all(|view| view.succeeded()) {
            "Succeeded"
        } else {
            "Failed"
        };
    }
    let begun = |view: &&View| !matches!(view.state, State::Waiting { .. }) || view.last.is_some();
    if views.iter().all(begun) {
        "Running"
    } else {
        "Pending"
    }
}

/// The whole status; `conditions` is brought up to date.
pub(super) fn status(picture: &Picture<'_>, conditions: &mut Conditions, now: Timestamp) -> Value {
    let spec = picture.pod.spec.as_ref();
    let phase = phase(picture);
    let names: Vec<&str> = spec
        .iter()
        .flat_map(|spec| &spec.containers)
        .map(|container| container.name.as_str())
        .collect();
    let unready: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !picture.views.get(*name).is_some_and(|view| view.ready))
        .collect();
    let all_ready = unready.is_empty() && picture.initialized && phase == "Running";
    let gates = gates_open(picture.pod);
    let list = [
        condition(
            conditions,
            "PodReadyToStartContainers",
            picture.sandboxed,
            "",
            String::new(),
            now,
        ),
        condition(
            conditions,
            "Initialized",
            picture.initialized,
            "ContainersNotInitialized",
            "containers with incomplete status".into(),
            now,
        ),
        condition(
            conditions,
            "ContainersReady",
            all_ready,
            reason(phase),
            message(phase, &unready),
            now,
        ),
        condition(
            conditions,
            "Ready",
            all_ready && gates,
            reason(phase),
            message(phase, &unready),
            now,
        ),
    ];

    let container_statuses = |containers: &[k8s_openapi::api::core::v1::Container]| -> Vec<Value> {
        containers
            .iter()
            .map(|container| {
                let initializing = View::waiting("PodInitializing", "");
                let view = picture.views.get(&container.name).unwrap_or(&initializing);
                container_status(
                    &container.name,
                    container.image.as_deref().unwrap_or_default(),
                    view,
                )
            })
            .collect()
    };
    let mut status = json!({
        "phase": phase,
        "conditions": list,
        "hostIP": picture.host_ip,
        "hostIPs": [{ "ip": picture.host_ip }],
        "startTime": picture.started,
        "containerStatuses": container_statuses(spec.map(|spec| spec.containers.as_slice()).unwrap_or_default()),
    });
    if let Some(init) = spec.and_then(|spec| spec.init_containers.as_ref()) {
        status["initContainerStatuses"] = container_statuses(init).into();
    }
    if let Some(ip) = picture.ip {
        status["podIP"] = ip.to_string().into();
        status["podIPs"] = json!([{ "ip": ip.to_string() }]);
    }
    status
}

fn reason(phase: &str) -> &'static str {
    match phase {
        "Succeeded" => "PodCompleted",
        "Failed" => "PodFailed",
        _ => "ContainersNotReady",
    }
}

fn message(phase: &str, unready: &[&str]) -> String {
    match phase {
        "Succeeded" | "Failed" => String::new(),
        _ => format!("containers with unready status: [{}]", unready.join(" ")),
    }
}

/// True when every readiness gate's condition, which somebody else writes, is true.
fn gates_open(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let gates = pod
        .spec
        .iter()
        .flat_map(|spec| spec.readiness_gates.iter().flatten());
    gates.into_iter().all(|gate| {
        conditions
            .clone()
            .any(|condition| condition.type_ == gate.condition_type && condition.status == "True")
    })
}

fn condition(
    known: &mut Conditions,
    kind: &'static str,
    is: bool,
    reason: &str,
    message: String,
    now: Timestamp,
) -> Value {
    let since = match known.get(kind) {
        Some((before, since)) if *before == is => *since,
        _ => now,
    };
    known.insert(kind, (is, since));
    let mut condition = json!({
        "type": kind,
        "status": if is { "True" } else { "False" },
        "lastProbeTime": null,
        "lastTransitionTime": since,
        // Null removes what an earlier patch left.
        "reason": null,
        "message": null,
    });
    if !is && !reason.is_empty() {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    condition
}

fn container_status(name: &str, image: &str, view: &View) -> Value {
    json!({
        "name": name,
        "image": image,
        "imageID": image,
        "containerID": container_id(name, view),
        "ready": view.ready,
        "started": view.started,
        "restartCount": view.restarts,
        "state": state(&view.state),
        "lastState": view.last.as_ref().map_or_else(|| json!({}), |ended| state(&State::Terminated(ended.clone()))),
    })
}

fn container_id(name: &str, view: &View) -> String {
    match view.state {
        State::Waiting { .. } if view.last.is_none() => String::new(),
        _ => format!("joiner://{name}-{}", view.restarts),
    }
}

fn state(state: &State) -> Value {
    match state {
        State::Waiting { reason, message } if message.is_empty() => {
            json!({ "waiting": { "reason": reason } })
        }
        State::Waiting { reason, message } => json!({ "waiting": { "reason": reason, "message": message } }),
        State::Running { since } => json!({ "running": { "startedAt": since } }),
        State::Terminated(ended) => {
            let mut terminated = json!({
                "exitCode": ended.code,
                "reason": ended.reason,
                "startedAt": ended.started,
                "finishedAt": ended.finished,
            });
            if let Some(signal) = ended.signal {
                terminated["signal"] = signal.into();
            }
            if !ended.message.is_empty() {
                terminated["message"] = ended.message.clone().into();
            }
            json!({ "terminated": terminated })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Timestamp = Timestamp::UNIX_EPOCH;

    fn pod(policy: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "p" },
            "spec": { "restartPolicy": policy, "containers": [
                { "name": "a", "image": "joiner/a" }, { "name": "b", "image": "joiner/b" },
            ] },
        }))
        .unwrap()
    }

    fn running(ready: bool) -> View {
        View {
            state: State::Running { since: T0 },
            last: None,
            ready,
            started: true,
            restarts: 0,
        }
    }

    fn ended(code: i32) -> View {
        let ended = Ended {
            code,
            signal: None,
            reason: "x".into(),
            message: String::new(),
            started: T0,
            finished: T0,
        };
        View {
            state: State::Terminated(ended),
            last: None,
            ready: false,
            started: false,
            restarts: 0,
        }
    }

    fn crashing() -> View {
        let View {
            state: State::Terminated(last),
            ..
        } = ended(1)
        else {
            panic!("not ended")
        };
        View {
            last: Some(last),
            ..View::waiting("CrashLoopBackOff", "")
        }
    }

    #[test]
    fn phases_follow_the_containers() {
        for (policy, a, b, want) in [
            ("Always", running(true), running(false), "Running"),
            ("Always", running(true), crashing(), "Running"),
            (
                "Always",
                View::waiting("ErrImagePull", ""),
                running(true),
                "Pending",
            ),
            ("Always", ended(0), ended(0), "Running"),
            ("Never", ended(0), ended(0), "Succeeded"),
            ("Never", ended(0), ended(2), "Failed"),
            ("OnFailure", ended(0), running(true), "Running"),
        ] {
            let pod = pod(policy);
            let views = BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
            let picture = Picture {
                pod: &pod,
                views: &views,
                initialized: true,
                sandboxed: true,
                ip: None,
                host_ip: "127.0.0.1",
                started: T0,
            };
            assert_eq!(phase(&picture), want, "{policy} {views:?}");
        }
    }

    #[test]
    fn readiness_names_the_unready_and_keeps_its_time() {
        let pod = pod("Always");
        let mut conditions = Conditions::new();
        let later = Timestamp::from_second(60).unwrap();
        let mut status_of = |b: bool, now: Timestamp| {
            let views = BTreeMap::from([("a".to_owned(), running(true)), ("b".to_owned(), running(b))]);
            let picture = Picture {
                pod: &pod,
                views: &views,
                initialized: true,
                sandboxed: true,
                ip: Some(Ipv4Addr::new(127, 2, 0, 1)),
                host_ip: "127.0.0.1",
                started: T0,
            };
            status(&picture, &mut conditions, now)
        };
        let first = status_of(false, T0);
        assert_eq!(first["conditions"][3]["status"], "False");
        assert_eq!(
            first["conditions"][3]["message"],
            "containers with unready status: [b]"
        );
        assert_eq!(first["podIP"], "127.2.0.1");
        let second = status_of(true, later);
        assert_eq!(second["conditions"][3]["status"], "True");
        assert_eq!(second["conditions"][3]["lastTransitionTime"], json!(later));
        assert_eq!(
            second["conditions"][0]["lastTransitionTime"],
            json!(T0),
            "unchanged since"
        );
    }
}
