//! The live side of an object: put it there, see whether it is ready, take it away.
//!
//! Input: a target and JSON. Output: what the cluster says. Invariant: whether to go on is decided by the caller.

use super::blockers::{Controller, View, blockers, controller};
use crate::cluster::{
    Applied, ApplyOptions, Cluster, ClusterError, DeletePreconditions, Ended, Kind, Objects, Pace, Waiting,
};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long an apply waits for its kind to be served, as when the chart was installed a moment ago.
const SERVED_WITHIN: Duration = Duration::from_secs(60);
/// How long a deletion is watched before a controller that does not run ends the wait.
const CONTROLLER_GRACE: Duration = Duration::from_secs(15);
/// Time between two reports on what a deletion waits for.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// One object in one cluster.
pub(crate) struct Target<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The object's kind.
    pub kind: Kind,
    /// Its name.
    pub name: &'a str,
}

/// How the wait for readiness ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ready {
    /// The condition Ready is true.
    Yes,
    /// Not within the time; the reasons that the conditions give.
    NotYet { reasons: Vec<String> },
    /// The core asked to stop.
    Cancelled,
}

/// How a deletion ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Removal {
    /// The object is gone.
    Gone,
    /// An object with this name is there, but it is another one; it was left alone.
    OtherObject,
    /// It is still there; what it waits for.
    StillThere { blockers: Vec<String> },
    /// The core asked to stop.
    Cancelled { blockers: Vec<String> },
}

impl Target<'_> {
    async fn objects(&self) -> Result<Objects<'_>, ClusterError> {
        Objects::all(self.cluster, self.kind.clone()).await
    }

    /// The live object; `None` when it, or its kind, does not exist.
    pub(crate) async fn get(&self) -> Result<Option<Value>, ClusterError> {
        self.objects().await?.get(self.name).await
    }

    /// How long an apply goes on through outages of the cluster, and while its kind is not served yet.
    pub(crate) fn patience<'a>(limit: Duration, cancel: &'a CancellationToken) -> Waiting<'a> {
        Waiting::new(Pace::SLOW, SERVED_WITHIN.min(limit), cancel)
    }

    /// Repeats `ask` through short outages, and while its kind is not served yet; `None` when the core asked to stop.
    async fn through_outages<T, F>(
        &self,
        waiting: &mut Waiting<'_>,
        ask: impl Fn() -> F,
    ) -> Result<Option<T>, ClusterError>
    where
        F: Future<Output = Result<T, ClusterError>>,
    {
        loop {
            // Not dropped half-way: whether the cluster took the object must be known.
            let error = match waiting.finish(ask()).await {
                Ok(Ok(answer)) => return Ok(Some(answer)),
                Ok(Err(error))
                    if error.is_transient() || matches!(error, ClusterError::KindMissing { .. }) =>
                {
                    error
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(ClusterError::silence(self.cluster.label(), waiting.limit())),
            };
            tracing::info!(%error, kind = self.kind.kind(), name = self.name, "waiting for the cluster");
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::TimedOut) => return Err(error),
                Err(Ended::Cancelled) => return Ok(None),
            }
        }
    }

    /// Refuses an object that exists and is not what a killed run of this configuration would have left: one that was never
    /// applied by us, or that this apply would change, since then another state may own it.
    pub(crate) async fn check_existing(
        &self,
        object: &Value,
        options: &ApplyOptions,
        waiting: &mut Waiting<'_>,
    ) -> Result<(), ClusterError> {
        let Some(live) = self.through_outages(waiting, || self.get()).await?.flatten() else {
            return Ok(());
        };
        let foreign = if !is_applied_by(&live, &options.field_manager) {
            ""
        } else if self.would_change(&live, object, options).await? {
            ", was applied by this provider with another configuration"
        } else {
            return Ok(());
        };
        Err(ClusterError::OtherObject(format!(
            "{} {:?} exists already in {}{foreign} and is not in this state. Import it (ID: {}), or set adopt = true to take it over",
            self.kind.kind(),
            self.name,
            self.cluster.label(),
            self.name
        )))
    }

    async fn would_change(
        &self,
        live: &Value,
        object: &Value,
        options: &ApplyOptions,
    ) -> Result<bool, ClusterError> {
        let dry = ApplyOptions {
            dry_run: true,
            ..options.clone()
        };
        let Applied(after) = self.objects().await?.apply(self.name, object, &dry).await?;
        // The server counts every change of a spec.
        Ok(after["metadata"]["generation"] != live["metadata"]["generation"])
    }

    /// Applies the object; waits while its kind is not served yet, and through short outages. `None` when the core asked to stop
    /// before the cluster took it.
    pub(crate) async fn apply(
        &self,
        object: &Value,
        options: &ApplyOptions,
        waiting: &mut Waiting<'_>,
    ) -> Result<Option<Value>, ClusterError> {
        let objects = self.objects().await?;
        let ask = || objects.apply(self.name, object, options);
        let applied = self.through_outages(waiting, ask).await?;
        Ok(applied.map(|Applied(object)| object))
    }

    /// What the cluster would say to the object; `options` ask for a dry run. `is_new` refuses an object that is there and not ours.
    pub(super) async fn try_out(
        &self,
        object: &Value,
        options: &ApplyOptions,
        is_new: bool,
    ) -> Result<(), ClusterError> {
        if is_new {
            let cancel = CancellationToken::new();
            let mut once = Waiting::new(Pace::QUICK, Duration::ZERO, &cancel);
            self.check_existing(object, options, &mut once).await?;
        }
        self.objects()
            .await?
            .apply(self.name, object, options)
            .await
            .map(drop)
    }

    /// Waits for the condition Ready.
    pub(crate) async fn wait_ready(
        &self,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<(Ready, Option<Value>), ClusterError> {
        let objects = self.objects().await?;
        let mut live: Option<Value> = None;
        let mut waiting = Waiting::new(Pace::QUICK, limit, cancel);
        loop {
            let outage = match waiting.probe(objects.get(self.name)).await {
                Ok(Ok(found)) => {
                    live = found;
                    None
                }
                Ok(Err(error)) if error.is_transient() => Some(error),
                Ok(Err(error)) => return Err(error),
                Err(Ended::TimedOut) => return Err(ClusterError::silence(self.cluster.label(), limit)),
                Err(Ended::Cancelled) => return Ok((Ready::Cancelled, live)),
            };
            if live.as_ref().is_some_and(is_ready) {
                return Ok((Ready::Yes, live));
            }
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::Cancelled) => return Ok((Ready::Cancelled, live)),
                Err(Ended::TimedOut) => {
                    if let Some(outage) = outage {
                        return Err(outage);
                    }
                    let reasons = live.as_ref().map(not_ready).unwrap_or_default();
                    return Ok((Ready::NotYet { reasons }, live));
                }
            }
        }
    }

    /// Deletes the object with the given uid in the foreground and waits until it is gone.
    ///
    /// `claims` selects the NodeClaims that go first, if any do. `report` is told, now and then, what the deletion waits for.
    pub(crate) async fn remove(
        &self,
        uid: Option<&str>,
        claims: Option<&str>,
        limit: Duration,
        cancel: &CancellationToken,
        report: &(dyn Fn(&[String]) + Sync),
    ) -> Result<Removal, ClusterError> {
        let objects = self.objects().await?;
        let Some(live) = objects.get(self.name).await? else {
            return Ok(Removal::Gone);
        };
        if uid.is_some() && crate::cluster::uid(&live) != uid {
            return Ok(Removal::OtherObject);
        }
        objects
            .delete(
                self.name,
                DeletePreconditions {
                    uid: uid.map(str::to_owned),
                },
            )
            .await?;
        let started = Instant::now();
        let mut reported: Option<Instant> = None;
        // What is known without a further look, should the core ask to stop before that.
        let alone = View {
            object: live,
            ..View::default()
        };
        let mut found = blockers(&alone, Timestamp::now());
        let mut waiting = Waiting::new(Pace::SLOW, limit, cancel);
        loop {
            match waiting.probe(objects.get(self.name)).await {
                Ok(Ok(Some(live))) if uid.is_none() || crate::cluster::uid(&live) == uid => {
                    let Ok(view) = waiting.probe(self.view(live, claims)).await else {
                        continue;
                    };
                    let now = Timestamp::now();
                    found = blockers(&view, now);
                    if reported.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
                        reported = Some(Instant::now());
                        report(&found);
                    }
                    let nobody = matches!(controller(view.lease.as_ref(), now), Controller::Silent { .. });
                    if nobody && !found.is_empty() && started.elapsed() >= CONTROLLER_GRACE {
                        return Ok(Removal::StillThere { blockers: found });
                    }
                }
                Ok(Ok(_)) => return Ok(Removal::Gone),
                Ok(Err(error)) if error.is_transient() => found = vec![error.to_string()],
                Ok(Err(error)) => return Err(error),
                Err(Ended::TimedOut) => {
                    let silence = ClusterError::silence(self.cluster.label(), limit);
                    found = vec![silence.to_string()];
                }
                Err(Ended::Cancelled) => return Ok(Removal::Cancelled { blockers: found }),
            }
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::TimedOut) => return Ok(Removal::StillThere { blockers: found }),
                Err(Ended::Cancelled) => return Ok(Removal::Cancelled { blockers: found }),
            }
        }
    }

    async fn view(&self, object: Value, claims: Option<&str>) -> View {
        let claims = match claims {
            Some(selector) => look(self.cluster, node_claims(), Some(selector)).await,
            None => Vec::new(),
        };
        surroundings(self.cluster, object, claims).await
    }
}

/// The kind NodeClaim.
pub(crate) fn node_claims() -> Kind {
    Kind::new("karpenter.sh", "v1", "NodeClaim", "nodeclaims")
}

/// What the cluster holds that may be in the way of an object and its NodeClaims. What may not be read counts as absent: this only explains.
pub(crate) async fn surroundings(cluster: &Cluster, object: Value, claims: Vec<Value>) -> View {
    let (pods, budgets) = if claims.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        (
            look(cluster, Kind::new("", "v1", "Pod", "pods"), None).await,
            look(
                cluster,
                Kind::new("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
                None,
            )
            .await,
        )
    };
    let leases = look(
        cluster,
        Kind::new("coordination.k8s.io", "v1", "Lease", "leases"),
        None,
    )
    .await;
    let lease = leases
        .into_iter()
        .filter(|lease| lease["metadata"]["name"] == "karpenter-leader-election")
        .max_by_key(|lease| lease["spec"]["renewTime"].as_str().map(str::to_owned));
    View {
        object,
        claims,
        pods,
        budgets,
        lease,
    }
}

async fn look(cluster: &Cluster, kind: Kind, labels: Option<&str>) -> Vec<Value> {
    match Objects::all(cluster, kind).await {
        Ok(objects) => objects.list(labels).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// Whether the condition Ready is true for the newest generation.
pub(crate) fn is_ready(object: &Value) -> bool {
    conditions(object).any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn not_ready(object: &Value) -> Vec<String> {
    let mut reasons: Vec<String> = conditions(object)
        .filter(|condition| condition["status"] != "True" && condition["type"] != "Ready")
        .map(|condition| {
            let text = |key: &str| condition[key].as_str().unwrap_or_default();
            let words = if text("message").is_empty() {
                text("reason")
            } else {
                text("message")
            };
            format!("{}: {words}", text("type"))
        })
        .collect();
    if reasons.is_empty() && conditions(object).next().is_none() {
        reasons.push("no controller has looked at it yet".to_owned());
    }
    reasons
}

fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"].as_array().into_iter().flatten()
}

fn is_applied_by(object: &Value, field_manager: &str) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.is_some_and(|entries| {
        entries
            .iter()
            .any(|entry| entry["manager"] == field_manager && entry["operation"] == "Apply")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn readiness_names_what_is_missing() {
        let object = |conditions: Value| json!({ "status": { "conditions": conditions } });
        let ready = object(json!([{ "type": "Ready", "status": "True" }]));
        assert!(is_ready(&ready) && !is_ready(&json!({})));
        let waiting = object(json!([
            { "type": "Ready", "status": "False", "message": "SubnetsReady=False" },
            { "type": "SubnetsReady", "status": "False", "reason": "SubnetsNotFound", "message": "SubnetSelector did not match any Subnets" },
            { "type": "AMIsReady", "status": "True" },
        ]));
        assert_eq!(
            not_ready(&waiting),
            ["SubnetsReady: SubnetSelector did not match any Subnets"]
        );
        assert_eq!(not_ready(&json!({})), ["no controller has looked at it yet"]);
    }

    #[test]
    fn what_we_applied_before_is_ours() {
        let object =
            json!({ "metadata": { "managedFields": [{ "manager": "kubectl", "operation": "Apply" }] } });
        assert!(is_applied_by(&object, "kubectl") && !is_applied_by(&object, "terraform-joiner"));
    }
}
