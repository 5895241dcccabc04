//! The steps of an install or upgrade: take-over, chart, CRDs, Helm, workloads.

use super::documents::{differing_paths, merged};
use super::schema::HelmRelease;
use super::validate::source;
use crate::cluster::{Cluster, ClusterError, Ended, Pace, Waiting};
use crate::helm::{
    Adopt, Helm, HelmError, Owner, RUN_LABEL, Readiness, Record, Rollback, Status, Storage, Takeover,
    Upgrade, Workspace, apply_crds, decide, readiness_of, rendered,
};
use crate::provider::Joiner;
use jiff::Timestamp;
use std::time::Duration;
use tfplugin::CancellationToken;
use tfplugin::validate::parse_duration;

/// One run of the steps for one release.
pub(super) struct Run<'a> {
    pub data: &'a Joiner,
    pub cluster: &'a Cluster,
    pub release: &'a HelmRelease,
    pub cancel: &'a CancellationToken,
}

/// Why a wait ended that the core asked to stop.
const STOPPED: &str = "it was stopped on request";

/// What stood in the way of an install or upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A release that Helm can go on from.
    Release(String),
    /// A release that a killed run left unfinished, and what was done about it.
    Unfinished(String),
}

/// How the workloads are after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Workloads {
    /// Nobody waited for them.
    NotWaited,
    Ready,
    /// Not within the time, and why.
    NotReady(Vec<String>),
    /// The wait ended for another reason: the cluster stopped answering, or the core asked to stop.
    NotKnown(String),
}

impl Run<'_> {
    pub(super) fn name(&self) -> &str {
        self.release.name.as_str().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.release.namespace.as_str().unwrap_or_default()
    }

    /// The limit that the user set for Helm's steps and for the workloads.
    pub(super) fn limit(&self) -> Duration {
        let set = self
            .release
            .timeout
            .as_str()
            .and_then(|text| parse_duration(text).ok());
        set.unwrap_or(Duration::from_secs(300))
    }

    fn is_on(flag: &tfplugin::Field<bool>) -> bool {
        flag.known().copied().unwrap_or(false)
    }

    pub(super) async fn storage(&self) -> Result<Storage<'_>, HelmError> {
        Storage::open(self.cluster, self.namespace(), self.name()).await
    }

    /// Clears the way, and answers what stood in it.
    pub(super) async fn take_over(&self, adopt: Adopt) -> Result<Found, HelmError> {
        let storage = self.storage().await?;
        let mut waiting = Waiting::new(Pace::SLOW, self.limit(), self.cancel);
        loop {
            let mut found = storage.found(Timestamp::now()).await?;
            if let Some(found) = found.as_mut().filter(|found| found.ours) {
                // A working release is what a killed run left only if it is what this configuration asks for; else another
                // state may own it.
                found.ours = self.is_as_asked(&storage, found.revision).await?;
            }
            let holds = match decide(self.name(), found.as_ref(), adopt) {
                Takeover::Install => return Ok(Found::Nothing),
                Takeover::Continue { explanation } => return Ok(Found::Release(explanation)),
                Takeover::Refuse { explanation } => return Err(HelmError::Taken(explanation)),
                Takeover::Release { explanation } => {
                    if let Some(found) = found {
                        storage
                            .mark_failed(
                                found.revision,
                                "left unfinished by a run that ended before Helm did",
                            )
                            .await?;
                    }
                    return Ok(Found::Unfinished(explanation));
                }
                Takeover::Wait { explanation } => explanation,
            };
            tracing::info!(holds, "waiting for the release");
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::TimedOut) => {
                    return Err(HelmError::Taken(format!(
                        "{holds}. Apply again when it has ended"
                    )));
                }
                Err(Ended::Cancelled) => {
                    return Err(HelmError::Cancelled {
                        verb: "upgrade".to_owned(),
                    });
                }
            }
        }
    }

    async fn is_as_asked(&self, storage: &Storage<'_>, revision: u32) -> Result<bool, HelmError> {
        let record = storage.record(revision).await?;
        Ok(match (record, merged(self.release)) {
            (Some(record), Some(Ok(wanted))) => differing_paths(&record.values(), &wanted).is_empty(),
            _ => true,
        })
    }

    /// Applies the chart's CRDs and installs or upgrades the release. Answers the CRDs' names.
    pub(super) async fn upgrade(&self) -> Result<Vec<String>, HelmError> {
        let release = self.release;
        let workspace = self.workspace().await?;
        let helm = Helm::open(self.data.helm()?, &workspace, self.cancel).await?;
        let source =
            source(release).unwrap_or_else(|| Err(HelmError::Chart("it is not known".to_owned())))?;
        let chart = source.fetch(&helm, self.data.registries()?, self.limit()).await?;
        let values =
            merged(release).unwrap_or_else(|| Err(HelmError::Values("they are not known".to_owned())))?;
        let crds = if Self::is_on(&release.install_crds) {
            apply_crds(&helm, self.cluster, &chart, &self.data.field_manager, self.cancel).await?
        } else {
            Vec::new()
        };
        let upgrade = Upgrade {
            name: self.name().to_owned(),
            namespace: self.namespace().to_owned(),
            chart,
            values: workspace.write_values(&values)?,
            create_namespace: Self::is_on(&release.create_namespace),
            history_max: release
                .history_max
                .known()
                .and_then(|most| u32::try_from(*most).ok())
                .unwrap_or(10),
            timeout: self.limit(),
            force_conflicts: release
                .force_conflicts
                .known()
                .copied()
                .unwrap_or(self.data.force_conflicts),
            take_ownership: Self::is_on(&release.take_ownership),
            label: format!("{RUN_LABEL}={}", Owner::current().label()),
        };
        helm.run(&upgrade.args()).await?;
        Ok(crds)
    }

    /// Goes back to `revision`, or removes a release that never worked.
    pub(super) async fn undo(&self, revision: Option<u32>) -> Result<(), HelmError> {
        match revision {
            Some(revision) => {
                let rollback = Rollback {
                    name: self.name().to_owned(),
                    namespace: self.namespace().to_owned(),
                    revision,
                    timeout: self.limit(),
                };
                self.helm(&rollback.args()).await
            }
            None => self.uninstall(self.limit()).await,
        }
    }

    pub(super) async fn helm(&self, args: &[String]) -> Result<(), HelmError> {
        let workspace = self.workspace().await?;
        Helm::open(self.data.helm()?, &workspace, self.cancel)
            .await?
            .run(args)
            .await?;
        Ok(())
    }

    async fn workspace(&self) -> Result<Workspace, HelmError> {
        let mut workspace = Workspace::new()?;
        workspace.connect(self.cluster).await?;
        Ok(workspace)
    }

    /// Waits for the workloads of `record`.
    pub(super) async fn workloads(&self, record: &Record) -> Result<Workloads, HelmError> {
        if !Self::is_on(&self.release.wait) {
            return Ok(Workloads::NotWaited);
        }
        let objects = rendered(record)?;
        let mut last = Readiness { reasons: Vec::new() };
        let mut waiting = Waiting::new(Pace::QUICK, self.limit(), self.cancel);
        loop {
            let outage = match waiting
                .probe(readiness_of(self.cluster, self.namespace(), &objects))
                .await
            {
                Ok(Ok(readiness)) if readiness.is_ready() => return Ok(Workloads::Ready),
                Ok(Ok(readiness)) => {
                    last = readiness;
                    None
                }
                Ok(Err(HelmError::Cluster(error))) if error.is_transient() => Some(error.to_string()),
                Ok(Err(error)) => return Err(error),
                Err(Ended::TimedOut) => {
                    let silence = ClusterError::silence(self.cluster.label(), self.limit());
                    return Ok(Workloads::NotKnown(silence.to_string()));
                }
                Err(Ended::Cancelled) => return Ok(Workloads::NotKnown(STOPPED.to_owned())),
            };
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::TimedOut) => {
                    return Ok(match outage {
                        Some(outage) => Workloads::NotKnown(outage),
                        None => Workloads::NotReady(last.reasons),
                    });
                }
                Err(Ended::Cancelled) => return Ok(Workloads::NotKnown(STOPPED.to_owned())),
            }
        }
    }

    /// The newest revision that worked, and its number.
    pub(super) async fn last_deployed(&self) -> Result<Option<u32>, HelmError> {
        let revisions = self.storage().await?.revisions().await?;
        let worked = |status: Status| matches!(status, Status::Deployed | Status::Superseded);
        Ok(revisions
            .iter()
            .rev()
            .find(|revision| worked(revision.status))
            .map(|revision| revision.number))
    }
}
