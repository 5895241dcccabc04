//! Creating, changing and deleting the release.
//!
//! What goes into the state. A core taints what a create returns together with an error, and then replaces it. So an error comes
//! with a state only when Helm itself failed and left a failed first install, of which nothing works: replacing that is right. Workloads
//! that are not ready are a warning. A failed upgrade is an error beside what is really there, which no core taints.

use super::documents::secret_names;
use super::identity::ReleaseIdentity;
use super::read::{SECRET_NAMES, fill, other_cluster};
use super::schema::{HelmRelease, Limits};
use super::steps::{Found, Run, Workloads};
use crate::cluster::{ADDRESS, ClusterError, Kind, Objects, Pace, Waiting};
use crate::helm::{Adopt, HelmError, Record, Status};
use crate::provider::Joiner;
use crate::report;
use std::time::Duration;
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, State, timeout_or};

/// How long an uninstall may take.
const UNINSTALL: Duration = Duration::from_secs(10 * 60);
/// How long reading a release's record may take.
const RECORD: Duration = Duration::from_secs(30);

/// Installs the release.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<HelmRelease, ReleaseIdentity>,
) -> Result<State<HelmRelease, ReleaseIdentity>, Diagnostics> {
    let adopt = request.planned.adopt.known().copied().unwrap_or(false);
    let adopt = if adopt { Adopt::Yes } else { Adopt::No };
    apply(ctx, request, None, adopt).await
}

/// Upgrades the release, or puts it into a cluster that was replaced.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<HelmRelease, ReleaseIdentity>,
    request: ApplyRequest<HelmRelease, ReleaseIdentity>,
) -> Result<State<HelmRelease, ReleaseIdentity>, Diagnostics> {
    apply(ctx, request, Some(prior), Adopt::Yes).await
}

async fn apply(
    ctx: &Context<Joiner>,
    request: ApplyRequest<HelmRelease, ReleaseIdentity>,
    prior: Option<State<HelmRelease, ReleaseIdentity>>,
    adopt: Adopt,
) -> Result<State<HelmRelease, ReleaseIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let ApplyRequest {
        config,
        planned,
        mut private,
        ..
    } = request;
    if let Some(prior) = &prior {
        // A plan without a refresh has not looked at the cluster.
        other_cluster(cluster, prior).await?;
    }
    if let Ok(address) = cluster.address().await {
        private.set(ADDRESS, &address)?;
    }
    match secret_names(&config) {
        names if names.is_empty() => private.remove(SECRET_NAMES),
        names => private.set(SECRET_NAMES, &names)?,
    }
    // What is write-only is in the configuration alone.
    let release = HelmRelease {
        set_wo: config.set_wo,
        ..planned.clone()
    };
    let run = Run {
        data: &data,
        cluster,
        release: &release,
        cancel: ctx.cancellation(),
    };
    let failed = |error: HelmError| report::helm(&error);
    match run.take_over(adopt).await.map_err(failed)? {
        // An update goes on from its own release; that is nothing to tell.
        Found::Release(explanation) if prior.is_none() => {
            ctx.report(Diagnostic::warning(
                "An existing release was taken over",
                sentence(&explanation),
            ));
        }
        Found::Unfinished(explanation) => {
            ctx.report(Diagnostic::warning(
                "An unfinished release was taken up",
                sentence(&explanation),
            ));
        }
        Found::Nothing | Found::Release(_) => {}
    }
    let before = run.last_deployed().await.map_err(failed)?;
    let atomic = planned.atomic.known().copied().unwrap_or(false);
    // Before, for after Helm the cluster may not answer any more.
    let cluster_uid = cluster.uid().await.ok().flatten().map(str::to_owned);
    let upgraded = run.upgrade().await;
    let record = newest(&run).await;
    let state = |model: HelmRelease| State {
        model,
        private: private.clone(),
        identity: ReleaseIdentity::of(&planned),
    };
    match (upgraded, record) {
        (Ok(crds), Ok(Some(record))) => {
            let workloads = run.workloads(&record).await.map_err(failed)?;
            if let (true, Workloads::NotReady(reasons)) = (atomic, &workloads) {
                return undo(ctx, &run, before, prior, not_ready(&run, reasons)).await;
            }
            let ready = matches!(workloads, Workloads::Ready);
            report_workloads(ctx, &run, &workloads);
            Ok(state(fill(&planned, &record, cluster_uid, Some(crds), ready)))
        }
        (Ok(_), Ok(None)) => Err(Diagnostics::error(
            "The release has no record",
            "Helm said that it worked, but left no record in the cluster. Someone may have removed it; apply again.",
        )),
        // Helm said that it worked, so it is no error; the next plan reads what it did.
        (Ok(crds), Err(error)) => {
            report_workloads(ctx, &run, &Workloads::NotKnown(error.to_string()));
            let text = |planned: &Field<String>| Field::from_option(planned.known().cloned());
            let model = HelmRelease {
                revision: Field::from_option(planned.revision.known().copied()),
                chart_name: text(&planned.chart_name),
                chart_version: text(&planned.chart_version),
                app_version: text(&planned.app_version),
                ..fill(&planned, &Record::unread(), cluster_uid, Some(crds), false)
            };
            Ok(state(model))
        }
        (Err(error), record) => {
            let left = record
                .ok()
                .flatten()
                .filter(|record| before != Some(record.revision()));
            let Some(record) = left else {
                return Err(failed(error));
            };
            if atomic && !matches!(error, HelmError::Cancelled { .. }) {
                return undo(ctx, &run, before, prior, failed(error)).await;
            }
            if prior.is_some() {
                ctx.report_all(failed(error));
                let (crds, ready) = (planned.crds.known().cloned(), false);
                return Ok(state(fill(&planned, &record, cluster_uid, crds, ready)));
            }
            ctx.report(Diagnostic::error(
                format!("Release {} failed", record.name()),
                format!(
                    "{} The release is in the state as {}, so that a destroy removes it. It is the first install and nothing of it works, so \
                     the next apply removes what there is and installs anew; the chart's CRDs and their objects stay.",
                    sentence(&error.to_string()),
                    record.status()
                ),
            ));
            Ok(state(fill(&planned, &record, cluster_uid, None, false)))
        }
    }
}

/// Goes back to what was before, and fails with `cause`.
async fn undo(
    ctx: &Context<Joiner>,
    run: &Run<'_>,
    before: Option<u32>,
    prior: Option<State<HelmRelease, ReleaseIdentity>>,
    cause: Diagnostics,
) -> Result<State<HelmRelease, ReleaseIdentity>, Diagnostics> {
    let done = match before {
        Some(revision) => format!("The release was rolled back to revision {revision}."),
        None => "The release was removed again.".to_owned(),
    };
    let mut all = cause;
    match run.undo(before).await {
        Ok(()) => all.push(Diagnostic::warning("Undone, since atomic is set", done)),
        Err(error) => all.append(report::helm(&error)),
    }
    match (prior, newest(run).await) {
        (Some(prior), Ok(Some(record))) => {
            ctx.report_all(all);
            let model = HelmRelease {
                revision: Field::Known(i64::from(record.revision())),
                status: Field::Known(record.status().to_string()),
                ..prior.model
            };
            Ok(State { model, ..prior })
        }
        _ => Err(all),
    }
}

/// The newest revision. A short outage is waited through, and a request to stop does not end it: without it, it is not known what
/// there is.
async fn newest(run: &Run<'_>) -> Result<Option<Record>, HelmError> {
    let mut waiting = Waiting::new(Pace::QUICK, run.limit().min(RECORD), run.cancel);
    loop {
        let read = async { run.storage().await?.newest().await };
        let outage = match waiting.finish(read).await {
            Ok(Err(HelmError::Cluster(error))) if error.is_transient() => error,
            Ok(answer) => return answer,
            Err(_) => return Err(ClusterError::silence(run.cluster.label(), waiting.limit()).into()),
        };
        if waiting.pause().await.is_err() {
            return Err(outage.into());
        }
    }
}

fn not_ready(run: &Run<'_>, reasons: &[String]) -> Diagnostics {
    Diagnostics::error(
        "The workloads are not ready",
        format!(
            "They were not ready after {} s: {}.",
            run.limit().as_secs(),
            reasons.join("; ")
        ),
    )
}

fn report_workloads(ctx: &Context<Joiner>, run: &Run<'_>, workloads: &Workloads) {
    let name = run.release.name.as_str().unwrap_or_default();
    match workloads {
        Workloads::Ready | Workloads::NotWaited => {}
        Workloads::NotReady(reasons) => ctx.report(Diagnostic::warning(
            format!("Release {name} is installed, but not ready"),
            format!(
                "After {} s: {}. Kubernetes goes on trying. Put right what is wrong and apply again, or allow more time with timeout.",
                run.limit().as_secs(),
                reasons.join("; ")
            ),
        )),
        Workloads::NotKnown(outage) => ctx.report(Diagnostic::warning(
            format!("It is not known whether release {name} is ready"),
            format!("Helm installed it; then the wait for its workloads ended: {}", sentence(outage)),
        )),
    }
}

/// Removes the release and waits until its objects are gone. The CRDs stay.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<HelmRelease, ReleaseIdentity>,
) -> Result<(), Diagnostics> {
    let release = &state.model;
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    if let Some(warning) = other_cluster(cluster, &state).await? {
        ctx.report(warning);
        return Ok(());
    }
    let run = Run {
        data: &data,
        cluster,
        release,
        cancel: ctx.cancellation(),
    };
    let newest = async { run.storage().await?.newest().await };
    match newest.await.map_err(|error| report::helm(&error))? {
        None => return Ok(()),
        Some(record) if record.status() == Status::Uninstalled => return Ok(()),
        Some(_) => {}
    }
    refuse_orphans(&data, release).await?;
    let limit = timeout_or(&release.timeouts, |limits: &Limits| &limits.delete, UNINSTALL);
    run.uninstall(limit).await.map_err(|error| report::helm(&error))
}

/// Without the controller nobody ends the instances of NodeClaims.
async fn refuse_orphans(data: &Joiner, release: &HelmRelease) -> Result<(), Diagnostics> {
    if !release.chart.is_null() || release.allow_orphans.known().copied().unwrap_or(false) {
        return Ok(());
    }
    let claims = Objects::all(
        data.cluster()?,
        Kind::new("karpenter.sh", "v1", "NodeClaim", "nodeclaims"),
    )
    .await;
    let claims = match claims {
        Ok(claims) => claims.list(None).await,
        Err(error) => Err(error),
    };
    let claims = claims.map_err(|error| report::cluster(&error))?;
    if claims.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = claims
        .iter()
        .filter_map(|claim| claim["metadata"]["name"].as_str())
        .take(5)
        .collect();
    Err(Diagnostics::error(
        "The controller still has nodes",
        format!(
            "{} NodeClaims exist ({}{}), and without the controller nobody ends their instances. Destroy their NodePools first (let them \
             refer to this release, so that the order is right), or set allow_orphans = true and apply before you destroy.",
            claims.len(),
            names.join(", "),
            if claims.len() > names.len() { ", ..." } else { "" }
        ),
    ))
}

/// A text that ends with a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('.') {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
