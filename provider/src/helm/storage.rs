//! Reading, and once in a while mending, the records that Helm keeps in a cluster.

use super::{Found, HelmError, Owner, RUN_LABEL, Record, Status};
use crate::cluster::{Cluster, ClusterError};
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// The records of one release.
pub(crate) struct Storage<'a> {
    cluster: &'a Cluster,
    api: Api<Secret>,
    name: String,
}

/// What the labels of one revision tell, without its content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Revision {
    /// Number, from 1.
    pub number: u32,
    /// State.
    pub status: Status,
    /// Who worked on it, when it was us.
    pub owner: Option<Owner>,
    /// When it was last written.
    pub written: Option<Timestamp>,
}

impl<'a> Storage<'a> {
    /// The records of release `name` in `namespace`.
    pub(crate) async fn open(cluster: &'a Cluster, namespace: &str, name: &str) -> Result<Self, HelmError> {
        let api = Api::namespaced(cluster.client().await?.clone(), namespace);
        Ok(Self {
            cluster,
            api,
            name: name.to_owned(),
        })
    }

    /// All revisions, oldest first.
    pub(crate) async fn revisions(&self) -> Result<Vec<Revision>, HelmError> {
        let selector = format!("owner=helm,name={}", self.name);
        let list = self
            .api
            .list_metadata(&ListParams::default().labels(&selector))
            .await;
        let list = list.map_err(|error| self.sort(error))?;
        let mut revisions: Vec<Revision> = list
            .items
            .iter()
            .filter_map(|secret| revision(secret.metadata.labels.as_ref()?))
            .collect();
        revisions.sort_by_key(|revision| revision.number);
        Ok(revisions)
    }

    /// The content of one revision; `None` when it is gone.
    pub(crate) async fn record(&self, number: u32) -> Result<Option<Record>, HelmError> {
        let secret = self
            .api
            .get_opt(&self.secret_name(number))
            .await
            .map_err(|error| self.sort(error))?;
        let Some(data) = secret.and_then(|secret| secret.data?.remove("release")) else {
            return Ok(None);
        };
        Record::decode(&self.name, number, &data.0).map(Some)
    }

    /// The newest revision; `None` when there is no release.
    pub(crate) async fn newest(&self) -> Result<Option<Record>, HelmError> {
        match self.revisions().await?.last() {
            Some(revision) => self.record(revision.number).await,
            None => Ok(None),
        }
    }

    /// The release as [`super::decide`] wants to know it.
    pub(crate) async fn found(&self, now: Timestamp) -> Result<Option<Found>, HelmError> {
        Ok(self.revisions().await?.last().map(|revision| Found {
            status: revision.status,
            revision: revision.number,
            ours: revision.owner.is_some(),
            worker_ended: revision.owner.as_ref().and_then(Owner::has_ended),
            age: revision
                .written
                .and_then(|written| Duration::try_from(now.duration_since(written)).ok())
                .unwrap_or(Duration::ZERO),
        }))
    }

    /// Marks a revision that was left unfinished as failed, so that Helm goes on from it.
    pub(crate) async fn mark_failed(&self, number: u32, why: &str) -> Result<(), HelmError> {
        let Some(record) = self.record(number).await? else {
            return Ok(());
        };
        let encoded = record.failed(why).encode()?;
        let patch = json!({
            "metadata": { "labels": { "status": Status::Failed.to_string() } },
            "data": { "release": ByteString(encoded) },
        });
        let params = PatchParams::default();
        self.api
            .patch(&self.secret_name(number), &params, &Patch::Merge(&patch))
            .await
            .map_err(|error| self.sort(error))?;
        Ok(())
    }

    fn secret_name(&self, number: u32) -> String {
        format!("sh.helm.release.v1.{}.v{number}", self.name)
    }

    fn sort(&self, error: kube::Error) -> HelmError {
        ClusterError::from_kube(self.cluster.label(), error).into()
    }
}

fn revision(labels: &BTreeMap<String, String>) -> Option<Revision> {
    let seconds = labels.get("modifiedAt").or_else(|| labels.get("createdAt"));
    Some(Revision {
        number: labels.get("version")?.parse().ok()?,
        status: Status::parse(labels.get("status")?),
        owner: labels.get(RUN_LABEL).and_then(|label| Owner::parse(label)),
        written: seconds
            .and_then(|text| text.parse().ok())
            .and_then(|seconds| Timestamp::from_second(seconds).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_a_revision() {
        let labels = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>()
        };
        let got = revision(&labels(&[
            ("version", "4"),
            ("status", "pending-upgrade"),
            ("createdAt", "100"),
            ("modifiedAt", "160"),
            (RUN_LABEL, "m.7.9"),
        ]))
        .expect("a revision");
        assert_eq!((got.number, got.status), (4, Status::PendingUpgrade));
        assert_eq!(got.written.map(Timestamp::as_second), Some(160));
        assert!(got.owner.is_some());
        assert_eq!(
            revision(&labels(&[("version", "x"), ("status", "deployed")])),
            None
        );
    }
}
