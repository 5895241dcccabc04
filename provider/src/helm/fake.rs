//! A Helm in memory, for tests: what it does to a cluster it does to a [`MockApi`], and it keeps records as Helm does.

use super::{HelmError, Record};
use crate::cluster::mock::MockApi;
use crate::yaml;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A Helm over a cluster in memory. Each chart renders one Deployment `NAME`, with the value `replicas`.
pub(crate) struct FakeHelm {
    api: Arc<MockApi>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    failure: Option<String>,
    refusal: Option<String>,
    broken_pods: bool,
    early: bool,
    hidden: bool,
    revisions: BTreeMap<u32, Revision>,
}

#[derive(Clone)]
struct Revision {
    status: &'static str,
    values: Json,
    version: String,
    labels: BTreeMap<String, String>,
}

impl FakeHelm {
    /// A Helm that works on `api`.
    pub(crate) fn new(api: &Arc<MockApi>) -> Arc<Self> {
        api.serve("apps/v1", "Deployment", "deployments");
        Arc::new(Self {
            api: Arc::clone(api),
            state: Mutex::default(),
        })
    }

    /// Lets the next change fail with these words.
    pub(crate) fn fail_next(&self, words: &str) {
        self.state().failure = Some(words.to_owned());
    }

    /// Lets the chart refuse its values with these words, or take them again.
    pub(crate) fn refuse_values(&self, words: Option<&str>) {
        self.state().refusal = words.map(str::to_owned);
    }

    /// Lets the pods of what is rendered from now on never get ready, or get ready again.
    pub(crate) fn break_pods(&self, broken: bool) {
        self.state().broken_pods = broken;
    }

    /// Lets the next uninstall end before the Deployment does, with Helm's complaint about it.
    pub(crate) fn end_early(&self) {
        self.state().early = true;
    }

    /// Lets nobody read the records of what is installed next.
    pub(crate) fn hide_records(&self) {
        self.state().hidden = true;
    }

    /// What was run, by verb.
    pub(crate) fn verbs(&self) -> Vec<String> {
        self.state().calls.drain(..).collect()
    }

    /// The values of the newest revision.
    pub(crate) fn values(&self) -> Json {
        let state = self.state();
        state
            .revisions
            .last_key_value()
            .map_or(Json::Null, |(_, revision)| revision.values.clone())
    }

    /// Makes the newest revision one that a killed run left.
    pub(crate) fn leave_pending(&self, name: &str, namespace: &str) {
        let mut state = self.state();
        if let Some(mut revision) = state.revisions.last_entry() {
            revision.get_mut().status = "pending-upgrade";
        }
        self.store(&state, name, namespace);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one command.
    pub(crate) fn run(&self, args: &[String]) -> Result<String, HelmError> {
        let verb = args.first().cloned().unwrap_or_default();
        let after = |flag: &str| {
            let place = args.iter().position(|arg| arg == flag);
            place
                .and_then(|place| args.get(place + 1))
                .cloned()
                .unwrap_or_default()
        };
        let (name, namespace) = (args.get(1).cloned().unwrap_or_default(), after("--namespace"));
        let mut state = self.state();
        match verb.as_str() {
            "version" => return Ok("v4.3.2".to_owned()),
            "show" => return Ok(String::new()),
            "template" => {
                return match &state.refusal {
                    Some(words) => Err(failed(&verb, words)),
                    None => Ok(String::new()),
                };
            }
            _ => state.calls.push(verb.clone()),
        }
        let next = state.revisions.keys().last().copied().unwrap_or(0) + 1;
        match verb.as_str() {
            "upgrade" => {
                let values = std::fs::read_to_string(after("--values")).unwrap_or_default();
                let (key, value) = match after("--labels").split_once('=') {
                    Some((key, value)) => (key.to_owned(), value.to_owned()),
                    None => Default::default(),
                };
                let revision = Revision {
                    status: "deployed",
                    values: serde_json::from_str(&values).unwrap_or_default(),
                    version: chart_version(Path::new(&args[2])),
                    labels: BTreeMap::from([(key, value)]),
                };
                self.install(&mut state, next, revision, &name, &namespace)
            }
            "rollback" => {
                // The provider marks what a killed run left by changing the Secret; Helm reads those, not this memory.
                let to = args
                    .get(2)
                    .and_then(|revision| revision.parse().ok())
                    .unwrap_or(0);
                let Some(revision) = state.revisions.get(&to).cloned() else {
                    return Err(failed(&verb, "release: not found"));
                };
                self.install(&mut state, next, revision, &name, &namespace)
            }
            "uninstall" => {
                for revision in state.revisions.keys() {
                    self.api.remove(&secret_path(&namespace, &name, *revision));
                }
                state.revisions.clear();
                let deployment = deployment_path(&namespace, &name);
                if !std::mem::take(&mut state.early) {
                    self.api.remove(&deployment);
                    return Ok(String::new());
                }
                self.api.change(&deployment, |live| {
                    live["metadata"]["deletionTimestamp"] = json!("2026-11-30T08:00:00Z");
                    live["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
                });
                let complaint =
                    format!("resource Deployment/{namespace}/{name} still exists. status: Terminating");
                Err(failed(
                    &verb,
                    &format!("uninstallation completed with 1 error(s): {complaint}"),
                ))
            }
            other => Err(failed(other, "unknown command")),
        }
    }

    fn install(
        &self,
        state: &mut State,
        number: u32,
        mut revision: Revision,
        name: &str,
        namespace: &str,
    ) -> Result<String, HelmError> {
        let failure = state.failure.take();
        if failure.is_some() {
            revision.status = "failed";
        } else {
            revision.status = "deployed";
            for earlier in state
                .revisions
                .values_mut()
                .filter(|earlier| earlier.status == "deployed")
            {
                earlier.status = "superseded";
            }
            let mut live = deployment(name, namespace, &revision.values);
            let replicas = live["spec"]["replicas"].clone();
            let ready = if state.broken_pods {
                json!(0)
            } else {
                replicas.clone()
            };
            live["metadata"]["uid"] = json!("deployment");
            live["status"] =
                json!({ "replicas": replicas, "updatedReplicas": replicas, "availableReplicas": ready });
            self.api.put(&deployment_path(namespace, name), live);
        }
        state.revisions.insert(number, revision);
        self.store(state, name, namespace);
        if std::mem::take(&mut state.hidden) {
            self.api
                .unserve(&format!("/api/v1/namespaces/{namespace}/secrets"));
        }
        match failure {
            Some(words) => Err(failed("upgrade", &words)),
            None => Ok(String::new()),
        }
    }

    fn store(&self, state: &State, name: &str, namespace: &str) {
        for (number, revision) in &state.revisions {
            let record = Record::made_of(json!({
                "name": name, "namespace": namespace, "version": number, "config": revision.values,
                "info": { "status": revision.status, "description": "told by the fake" },
                "chart": { "metadata": { "name": "joiner", "version": revision.version, "appVersion": "1" } },
                "manifest": deployment(name, namespace, &revision.values).to_string(),
            }));
            let mut labels = json!({ "owner": "helm", "name": name, "version": number.to_string(), "status": revision.status });
            for (key, value) in &revision.labels {
                labels[key] = json!(value);
            }
            let secret = format!("sh.helm.release.v1.{name}.v{number}");
            let data = STANDARD.encode(record.encode().expect("it encodes"));
            self.api.put(
                &secret_path(namespace, name, *number),
                json!({
                    "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
                    "metadata": { "name": secret, "namespace": namespace, "labels": labels }, "data": { "release": data },
                }),
            );
        }
    }
}

fn failed(verb: &str, message: &str) -> HelmError {
    HelmError::Failed {
        verb: verb.to_owned(),
        message: message.to_owned(),
    }
}

fn secret_path(namespace: &str, name: &str, revision: u32) -> String {
    format!("/api/v1/namespaces/{namespace}/secrets/sh.helm.release.v1.{name}.v{revision}")
}

fn deployment_path(namespace: &str, name: &str) -> String {
    format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
}

fn deployment(name: &str, namespace: &str, values: &Json) -> Json {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": namespace },
        "spec": { "replicas": values["replicas"].as_i64().unwrap_or(1), "selector": { "matchLabels": { "app": name } } },
    })
}

fn chart_version(chart: &Path) -> String {
    let text = std::fs::read_to_string(chart.join("Chart.yaml")).unwrap_or_default();
    let chart: Json = yaml::parse(&text).unwrap_or_default();
    chart["version"].as_str().unwrap_or_default().to_owned()
}
