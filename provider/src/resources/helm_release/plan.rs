//! Planning: offline. What the plan cannot know stays unknown; what makes an upgrade necessary is what the user changed, a chart
//! whose content changed, drift, and a release that is not deployed.

use super::identity::ReleaseIdentity;
use super::schema::HelmRelease;
use super::validate::source;
use super::{account, settings, trial};
use crate::cluster::Kind;
use crate::helm::Storage;
use crate::provider::{Joiner, Part};
use crate::report;
use std::collections::BTreeMap;
use tfplugin::{Configured, Context, Diagnostic, Diagnostics, Field, Plan, PlanRequest};

/// What reads and plans remember a release under.
pub(super) fn memory() -> Kind {
    Kind::new("helm.sh", "v1", "Release", "releases")
}

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<HelmRelease>,
    plan: &mut Plan<HelmRelease, ReleaseIdentity>,
) -> Result<(), Diagnostics> {
    let dropped = settle_secrets(request, &mut plan.planned);
    compare_with_roles(ctx, &request.config, &plan.planned);
    if let (Configured::Ready(data), Some(environment)) = (
        ctx.provider(),
        settings::environment(&plan.planned.with_secrets(&request.config)),
    ) {
        data.plans_controller(environment);
    }
    let digest = digest(&plan.planned);
    let planned = &mut plan.planned;
    if planned.id.is_unknown() {
        planned.id = id(planned);
    }
    let Some(prior) = &request.prior else {
        plan.identity = ReleaseIdentity::of(planned);
        planned.chart_digest = digest;
        planned.chart_name = name(planned);
        planned.chart_version = version(planned);
        planned.drift = Field::Known(BTreeMap::new());
        return try_out(ctx, request, planned).await;
    };
    let drifted = prior.drift.known().is_some_and(|drift| !drift.is_empty());
    let unfinished = prior.status.as_str() != Some("deployed");
    let other_chart = digest != prior.chart_digest;
    let gone = is_gone(ctx, prior).await?;
    if !(plan.changed || dropped || drifted || unfinished || other_chart || gone) {
        return Ok(());
    }
    planned.chart_digest = digest;
    planned.drift = Field::Known(BTreeMap::new());
    planned.status = Field::Unknown;
    planned.revision = Field::Unknown;
    planned.chart_name = name(planned);
    planned.chart_version = version(planned);
    planned.app_version = Field::Unknown;
    planned.crds = Field::Unknown;
    planned.ready = Field::Unknown;
    if gone {
        planned.cluster_uid = Field::Unknown;
    } else if let (Some(old), Some(new)) = (prior.chart_name.as_str(), planned.chart_name.as_str())
        && old != new
    {
        ctx.report(other_chart_name(prior, old, new));
    }
    try_out(ctx, request, planned).await
}

/// Plans `set_sensitive` where the configuration has none: an empty list of the state stays, since it means the same; anything else goes.
/// Answers whether something went.
fn settle_secrets(request: &PlanRequest<HelmRelease>, planned: &mut HelmRelease) -> bool {
    if !request.config.set_sensitive.is_null() {
        return false;
    }
    let prior = request.prior.as_ref().map(|prior| &prior.set_sensitive);
    let before = prior.and_then(Field::known);
    planned.set_sensitive = match before {
        Some(entries) if entries.is_empty() => Field::Known(Vec::new()),
        _ => Field::Null,
    };
    before.is_some_and(|entries| !entries.is_empty())
}

/// Compares the release with the controller's roles that were planned before it.
fn compare_with_roles(ctx: &Context<Joiner>, config: &HelmRelease, planned: &HelmRelease) {
    let (Configured::Ready(data), Some(release)) =
        (ctx.provider(), account::party(&planned.with_secrets(config)))
    else {
        return;
    };
    if let Some(misfit) = data.accounts.plan_release(release) {
        ctx.report(misfit.at_release());
    }
}

/// A change needs Helm, and values that the chart takes; and it brings the chart's definitions.
async fn try_out(
    ctx: &Context<Joiner>,
    request: &PlanRequest<HelmRelease>,
    planned: &HelmRelease,
) -> Result<(), Diagnostics> {
    if let Configured::Ready(data) = ctx.provider()
        && planned.install_crds.known() != Some(&false)
    {
        data.found.will_bring_definitions();
    }
    check_helm(ctx)?;
    trial::check(ctx, &request.config, planned).await
}

/// As after the import of a release whose chart nobody has named yet: without `chart` it is the controller's.
fn other_chart_name(prior: &HelmRelease, old: &str, new: &str) -> Diagnostic {
    Diagnostic::warning(
        "The release gets another chart",
        format!(
            "Release {} is of the chart {old:?}, and the apply makes it one of {new:?}: what only {old:?} has is deleted. If that is not \
             meant, set chart, and version for one in a registry, to where {old:?} comes from.",
            prior.id.as_str().unwrap_or_default()
        ),
    )
    .at("chart")
}

/// Whether the release may be or is gone: its cluster is unknown, or does not have it. As for objects, a cluster that gets known
/// in the apply is looked at then, once.
async fn is_gone(ctx: &Context<Joiner>, prior: &HelmRelease) -> Result<bool, Diagnostics> {
    let data = match ctx.provider() {
        Configured::Ready(data) => data,
        Configured::Unconfigured | Configured::UnknownUntilApply => return Ok(false),
    };
    let cluster = match &data.cluster {
        Part::Unknown => return Ok(true),
        Part::Known(cluster) => cluster,
        Part::Absent | Part::Broken(_) => return Ok(false),
    };
    let id = prior.id.as_str().unwrap_or_default();
    if data.has_seen(&memory(), id) {
        return Ok(false);
    }
    if let (Some(known), Some(found)) = (
        prior.cluster_uid.as_str(),
        cluster.uid().await.map_err(|error| report::cluster(&error))?,
    ) && known != found
    {
        return Ok(true);
    }
    let (namespace, name) = id.split_once('/').unwrap_or_default();
    let revisions = async { Storage::open(cluster, namespace, name).await?.revisions().await };
    Ok(revisions.await.map_err(|error| report::helm(&error))?.is_empty())
}

/// A change needs Helm: that it is missing is told now, not in the middle of an apply.
fn check_helm(ctx: &Context<Joiner>) -> Result<(), Diagnostics> {
    match ctx.provider() {
        Configured::Ready(data) if !data.helm_path.is_unknown() => {
            data.helm().map(drop).map_err(|error| report::helm(&error))
        }
        _ => Ok(()),
    }
}

/// `NAMESPACE/NAME`.
pub(super) fn id(release: &HelmRelease) -> Field<String> {
    match (&release.namespace, &release.name) {
        (Field::Known(namespace), Field::Known(name)) => Field::Known(format!("{namespace}/{name}")),
        _ => Field::Unknown,
    }
}

/// The fingerprint of the chart's content, null for one in a registry; unknown while the chart is.
pub(super) fn digest(release: &HelmRelease) -> Field<String> {
    match source(release) {
        None => Field::Unknown,
        Some(Ok(source)) => Field::from_option(source.fingerprint()),
        Some(Err(_)) => Field::Null,
    }
}

/// The chart's name, where it can be read without a registry.
fn name(release: &HelmRelease) -> Field<String> {
    match source(release) {
        Some(Ok(source)) => source.known_name().map_or(Field::Unknown, Field::Known),
        _ => Field::Unknown,
    }
}

/// The chart's version, where it can be read without a registry.
fn version(release: &HelmRelease) -> Field<String> {
    match source(release) {
        Some(Ok(source)) => source.known_version().map_or(Field::Unknown, Field::Known),
        _ => Field::Unknown,
    }
}
