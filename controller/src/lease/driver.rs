//! Reads and writes the lease object as [`evaluate`](super::evaluate) says. Writes carry the resource version that was read, so that of two
//! candidates one fails.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::PostParams;
use kube::{Api, Client, Error};
use tracing::{debug, info, warn};

use super::{DURATION, Observed, RENEW_DEADLINE, RETRY, Verdict, evaluate};

/// Who this process is in the lease.
#[derive(Clone, Debug)]
pub(crate) struct Identity(String);

impl Identity {
    /// A pod's name and UID where they are known: then a restarted container is the same candidate and goes on at once. Else
    /// the host's name and a random suffix, as two processes on a host must differ.
    pub(crate) fn of(pod_name: &str, pod_uid: &str) -> Identity {
        if !pod_name.is_empty() && !pod_uid.is_empty() {
            return Identity(format!("{pod_name}_{pod_uid}"));
        }
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "joiner-controller".to_owned());
        Identity(format!("{host}_{:016x}", rand::random::<u64>()))
    }
}

/// Leadership was lost; the process must end.
#[derive(Debug, thiserror::Error)]
#[error("leadership of lease {name} was lost: {why}; the process ends so that another replica can act")]
pub(crate) struct Lost {
    name: String,
    why: String,
}

/// A candidate for the lease.
pub(crate) struct Leadership {
    api: Api<Lease>,
    name: String,
    me: Identity,
    seen: Option<(Lease, Timestamp)>,
}

impl Leadership {
    pub(crate) fn new(client: Client, namespace: &str, name: &str, me: Identity) -> Self {
        Leadership {
            api: Api::namespaced(client, namespace),
            name: name.to_owned(),
            me,
            seen: None,
        }
    }

    /// Waits until the lease is ours.
    pub(crate) async fn acquire(&mut self) {
        loop {
            match self.attempt().await {
                Ok(true) => {
                    info!(lease = %self.name, identity = %self.me.0, "became leader");
                    return;
                }
                Ok(false) => {}
                Err(error) => warn!(lease = %self.name, error = %error, "lease could not be read or written"),
            }
            tokio::time::sleep(retry()).await;
        }
    }

    /// Renews the lease for ever; returns only when it is lost.
    pub(crate) async fn keep(&mut self) -> Lost {
        let mut renewed = tokio::time::Instant::now();
        loop {
            tokio::time::sleep(retry()).await;
            let why = match tokio::time::timeout(deadline(), self.attempt()).await {
                Ok(Ok(true)) => {
                    renewed = tokio::time::Instant::now();
                    continue;
                }
                Ok(Ok(false)) => return self.lost("another replica holds it"),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "the API server does not answer".to_owned(),
            };
            if renewed.elapsed() >= deadline() {
                return self.lost(&why);
            }
            debug!(lease = %self.name, error = %why, "lease was not renewed, trying again");
        }
    }

    /// Gives the lease back, so that another replica need not wait for it to die. Best effort.
    pub(crate) async fn release(&mut self) {
        let Some((mut lease, _)) = self.seen.take() else {
            return;
        };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.me.0) {
            return;
        }
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        if let Err(error) = self.api.replace(&self.name, &PostParams::default(), &lease).await {
            debug!(lease = %self.name, error = %error, "lease was not released");
        }
    }

    /// One round: read, decide, write. True: the lease is ours.
    async fn attempt(&mut self) -> Result<bool, Error> {
        let now = Timestamp::now();
        let found = self.api.get_opt(&self.name).await?;
        self.note(found, now);
        let observed = self.seen.as_ref().map(|(lease, since)| observe(lease, *since));
        let (transitions, acquire) = match evaluate(observed.as_ref(), &self.me.0, now) {
            Verdict::Yield { until } => {
                debug!(lease = %self.name, until = %until, "another replica leads");
                return Ok(false);
            }
            Verdict::Acquire { transitions } => (transitions, true),
            Verdict::Renew { transitions } => (transitions, false),
        };
        match self.write(transitions, acquire, now).await {
            Ok(lease) => {
                self.seen = Some((lease, now));
                Ok(true)
            }
            // Somebody was faster; the next round reads what they wrote.
            Err(Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, transitions: i32, acquire: bool, now: Timestamp) -> Result<Lease, Error> {
        let stored = self.seen.as_ref().map(|(lease, _)| lease);
        let acquired = match stored.and_then(|lease| lease.spec.as_ref()?.acquire_time.clone()) {
            Some(time) if !acquire => time,
            _ => MicroTime(now),
        };
        let spec = LeaseSpec {
            holder_identity: Some(self.me.0.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: Some(acquired),
            renew_time: Some(MicroTime(now)),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        };
        match stored {
            Some(lease) => {
                let next = Lease {
                    metadata: lease.metadata.clone(),
                    spec: Some(spec),
                };
                self.api.replace(&self.name, &PostParams::default(), &next).await
            }
            None => {
                let metadata = ObjectMeta {
                    name: Some(self.name.clone()),
                    ..ObjectMeta::default()
                };
                self.api
                    .create(
                        &PostParams::default(),
                        &Lease {
                            metadata,
                            spec: Some(spec),
                        },
                    )
                    .await
            }
        }
    }

    /// Remembers what was read; the time moves only when the record changed.
    fn note(&mut self, found: Option<Lease>, now: Timestamp) {
        self.seen = match (found, self.seen.take()) {
            (Some(new), Some((old, since))) if new.spec == old.spec => Some((new, since)),
            (Some(new), _) => Some((new, now)),
            (None, _) => None,
        };
    }

    fn lost(&self, why: &str) -> Lost {
        Lost {
            name: self.name.clone(),
            why: why.to_owned(),
        }
    }
}

fn observe(lease: &Lease, since: Timestamp) -> Observed {
    let spec = lease.spec.clone().unwrap_or_default();
    Observed {
        holder: spec.holder_identity.unwrap_or_default(),
        duration: spec.lease_duration_seconds.map_or(DURATION, |seconds| {
            jiff::SignedDuration::from_secs(seconds.into())
        }),
        transitions: spec.lease_transitions.unwrap_or_default(),
        since,
    }
}

fn retry() -> Duration {
    RETRY.unsigned_abs()
}

fn deadline() -> Duration {
    RENEW_DEADLINE.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::act::testing::{Seen, client, refusal};

    fn held_by(holder: &str) -> Value {
        json!({"metadata": {"name": "l", "namespace": "n", "resourceVersion": "3"},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 2}})
    }

    async fn attempt(
        answer: impl Fn(&Seen) -> (u16, Value) + Send + Sync + 'static,
    ) -> (Result<bool, u16>, Vec<Seen>) {
        let (client, log) = client(answer);
        let mut candidate = Leadership::new(client, "n", "l", Identity("me".to_owned()));
        let result = candidate.attempt().await.map_err(|error| match error {
            Error::Api(status) => status.code,
            _ => 0,
        });
        let seen = log.lock().unwrap().clone();
        (result, seen)
    }

    fn written(asked: &Seen) -> (u16, Value) {
        (200, asked.body.clone())
    }

    #[tokio::test]
    async fn a_lease_that_is_not_there_is_made() {
        let answer = |asked: &Seen| {
            if asked.method == "GET" {
                refusal(404, "NotFound")
            } else {
                written(asked)
            }
        };
        let (result, seen) = attempt(answer).await;
        assert_eq!((result, seen[1].method.as_str()), (Ok(true), "POST"));
        assert_eq!(seen[1].body["spec"]["holderIdentity"], "me");
    }

    #[tokio::test]
    async fn a_released_lease_is_taken_against_its_version_and_a_fresh_one_is_left() {
        let answer = |asked: &Seen| {
            if asked.method == "GET" {
                (200, held_by(""))
            } else {
                written(asked)
            }
        };
        let (result, seen) = attempt(answer).await;
        assert_eq!((result, seen[1].method.as_str()), (Ok(true), "PUT"));
        assert_eq!(seen[1].body["metadata"]["resourceVersion"], "3");
        assert_eq!(seen[1].body["spec"]["leaseTransitions"], 3);
        let (result, seen) = attempt(|_| (200, held_by("you"))).await;
        assert_eq!((result, seen.len()), (Ok(false), 1));
    }

    #[tokio::test]
    async fn whoever_loses_the_race_does_not_lead() {
        let answer = |asked: &Seen| {
            if asked.method == "GET" {
                (200, held_by(""))
            } else {
                refusal(409, "Conflict")
            }
        };
        assert_eq!(attempt(answer).await.0, Ok(false));
        assert_eq!(attempt(|_| refusal(500, "InternalError")).await.0, Err(500));
    }
}
