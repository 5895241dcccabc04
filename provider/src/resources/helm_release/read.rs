//! Reading the release: its record, its workloads, and what of its objects differs.

use super::documents::{differing_paths, merged, without};
use super::identity::ReleaseIdentity;
use super::plan::{digest, memory};
use super::schema::HelmRelease;
use crate::cluster::{ADDRESS, Cluster};
use crate::helm::{HelmError, Record, Status, Storage, drift_of, readiness_of, rendered};
use crate::provider::Joiner;
use crate::report;
use std::collections::BTreeMap;
use tfplugin::json::dynamic_from_json;
use tfplugin::{Context, Diagnostic, Diagnostics, Field, State};

/// The key under which a difference of the values is told.
const VALUES: &str = "(values)";
/// The key under which a different chart is told.
const CHART: &str = "(chart)";
/// The key in the private state under which the names of write-only values are kept.
pub(super) const SECRET_NAMES: &str = "set_wo";

/// The state of the release now; `None` when it is gone. While the cluster is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<HelmRelease, ReleaseIdentity>,
) -> Result<Option<State<HelmRelease, ReleaseIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.cluster.is_unknown() {
        return Ok(Some(state));
    }
    let cluster = data.cluster()?;
    let found = cluster
        .uid()
        .await
        .map_err(|error| report::cluster(&error))?
        .map(str::to_owned);
    let id = state.model.id.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = id.split_once('/').unwrap_or_default();
    if let Some(warning) = other_cluster(cluster, &state).await? {
        ctx.report(warning);
        return Ok(None);
    }
    let failed = |error: HelmError| report::helm(&error);
    let newest = async { Storage::open(cluster, namespace, name).await?.newest().await };
    let record = newest
        .await
        .map_err(failed)?
        .filter(|record| record.status() != Status::Uninstalled);
    let Some(record) = record else { return Ok(None) };
    data.saw(&memory(), &id, Some(&id));
    let objects = rendered(&record).map_err(failed)?;
    let mut model = state.model.clone();
    if model.status.is_null() {
        // An import: the record tells what the state does not.
        model.values = Field::Known(dynamic_from_json(&record.values()));
        model.chart_digest = digest(&model);
    }
    if record.status() != Status::Deployed {
        ctx.report(Diagnostic::warning(
            format!("Release {id} is {}", record.status()),
            format!(
                "Helm says of revision {}: {}.",
                record.revision(),
                record.description().trim_end_matches('.')
            ),
        ));
    }
    let readiness = readiness_of(cluster, namespace, &objects).await.map_err(failed)?;
    if !readiness.is_ready() {
        ctx.report(Diagnostic::warning(
            format!("Release {id} is not ready"),
            format!("{}.", readiness.reasons.join("; ")),
        ));
    }
    let mut drift = BTreeMap::new();
    if model.detect_drift.known().copied().unwrap_or(true) {
        drift = drift_of(cluster, namespace, &objects).await.map_err(failed)?;
        let secret: Vec<String> = state.private.get(SECRET_NAMES).unwrap_or_default();
        drift.extend(other_release(&model, &record, &secret).map_err(failed)?);
    }
    let crds = model.crds.known().cloned();
    model = fill(&model, &record, found, crds, readiness.is_ready());
    model.drift = Field::Known(drift);
    let address = cluster.address().await.map_err(|error| report::cluster(&error))?;
    let mut private = state.private;
    private.set(ADDRESS, &address)?;
    Ok(Some(State {
        identity: ReleaseIdentity::of(&model),
        model,
        private,
    }))
}

/// A warning when the state's cluster was replaced by the one that the provider reaches; an error when it is another one.
pub(super) async fn other_cluster(
    cluster: &Cluster,
    state: &State<HelmRelease, ReleaseIdentity>,
) -> Result<Option<Diagnostic>, Diagnostics> {
    let address = state.private.get::<String>(ADDRESS);
    let compared = cluster
        .compare(state.model.cluster_uid.as_str(), address.as_deref())
        .await
        .map_err(|error| report::cluster(&error))?;
    let what = format!("Release {}", state.model.id.as_str().unwrap_or_default());
    report::elsewhere(&what, compared)
}

/// What someone changed with Helm itself.
fn other_release(
    model: &HelmRelease,
    record: &Record,
    secret: &[String],
) -> Result<BTreeMap<String, String>, HelmError> {
    let mut found = BTreeMap::new();
    if let Some(Ok(wanted)) = merged(model) {
        let (live, wanted) = (without(record.values(), secret)?, without(wanted, secret)?);
        let paths = differing_paths(&live, &wanted);
        if !paths.is_empty() {
            let text = format!(
                "revision {} was made with other values: {}",
                record.revision(),
                paths.join(", ")
            );
            found.insert(VALUES.to_owned(), text);
        }
    }
    if let Some(version) = model
        .chart_version
        .as_str()
        .filter(|version| *version != record.chart_version())
    {
        found.insert(
            CHART.to_owned(),
            format!("version {}, not {version}", record.chart_version()),
        );
    }
    Ok(found)
}

/// A model with everything computed filled in from a record.
pub(super) fn fill(
    model: &HelmRelease,
    record: &Record,
    cluster_uid: Option<String>,
    crds: Option<Vec<String>>,
    ready: bool,
) -> HelmRelease {
    HelmRelease {
        id: super::plan::id(model),
        cluster_uid: Field::from_option(cluster_uid),
        status: Field::Known(record.status().to_string()),
        revision: Field::Known(i64::from(record.revision())),
        chart_name: Field::Known(record.chart_name().to_owned()),
        chart_version: Field::Known(record.chart_version().to_owned()),
        app_version: Field::Known(record.app_version().to_owned()),
        crds: Field::Known(crds.unwrap_or_default()),
        ready: Field::Known(ready),
        drift: if model.drift.is_known() {
            model.drift.clone()
        } else {
            Field::Known(BTreeMap::new())
        },
        chart_digest: if model.chart_digest.is_unknown() {
            digest(model)
        } else {
            model.chart_digest.clone()
        },
        ..model.clone()
    }
}
