//! Applying and, if wanted, deleting the definitions.

use super::ID;
use super::definitions::{OURS, field_manager, is_newer, kind_of, names, version_of, wanted};
use super::schema::{Crds, Limits};
use crate::cluster::{
    ADDRESS, ApplyOptions, Cluster, ClusterError, DeletePreconditions, Objects, Pace, Served, Waiting,
    definition_kind, name_of, put_definitions, uid,
};
use crate::objects::ObjectIdentity;
use crate::provider::Joiner;
use crate::report;
use std::time::Duration;
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, Private, State, timeout_or};

/// How long a delete may take when nothing is said.
const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Applies the definitions.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<Crds, ObjectIdentity>,
) -> Result<State<Crds, ObjectIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    check_existing(cluster, &request.planned, &field_manager(&data.field_manager)).await?;
    apply(ctx, &data, request.planned, request.private).await
}

/// Applies the definitions anew.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    _: State<Crds, ObjectIdentity>,
    request: ApplyRequest<Crds, ObjectIdentity>,
) -> Result<State<Crds, ObjectIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    apply(ctx, &data, request.planned, request.private).await
}

async fn apply(
    ctx: &Context<Joiner>,
    data: &Joiner,
    mut model: Crds,
    mut private: Private,
) -> Result<State<Crds, ObjectIdentity>, Diagnostics> {
    let cluster = data.cluster()?;
    let failed = |error: ClusterError| report::cluster(&error);
    let options = ApplyOptions {
        field_manager: field_manager(&data.field_manager),
        force_conflicts: true,
        dry_run: false,
    };
    let served = put_definitions(cluster, &wanted(), &options, ctx.cancellation())
        .await
        .map_err(failed)?;
    match served {
        Served::Yes => {}
        Served::NotYet { name, after } => ctx.report(Diagnostic::warning(
            format!("{name} is not served yet"),
            format!(
                "It was applied, and the API server does not serve it after {} s. See kubectl describe crd {name}.",
                after.as_secs()
            ),
        )),
        Served::Cancelled => ctx.report(Diagnostic::warning(
            "It is not known whether the definitions are served",
            "They were applied; the wait for them was stopped on request.",
        )),
    }
    let cluster_uid = cluster.uid().await.map_err(failed)?.map(str::to_owned);
    private.set(ADDRESS, &cluster.address().await.map_err(failed)?)?;
    model.id = ID.into();
    model.version = OURS.into();
    model.names = Field::Known(names());
    model.cluster_uid = Field::from_option(cluster_uid);
    Ok(State {
        model,
        private,
        identity: Some(ObjectIdentity { name: ID.into() }),
    })
}

/// Refuses definitions that are newer, and those of others unless they may be adopted.
async fn check_existing(cluster: &Cluster, model: &Crds, manager: &str) -> Result<(), Diagnostics> {
    let failed = |error: ClusterError| report::cluster(&error);
    let objects = Objects::all(cluster, definition_kind()).await.map_err(failed)?;
    let mut found = Diagnostics::new();
    for definition in wanted() {
        let name = name_of(&definition);
        let Some(live) = objects.get(name).await.map_err(failed)? else {
            continue;
        };
        if let Some(newer) = version_of(&live).filter(|version| is_newer(version, OURS)) {
            found.error_at(
                "version",
                "The cluster has a newer definition",
                format!(
                    "{name} is that of version {newer} of the provider, and this is {OURS}. Use version {newer} or later."
                ),
            );
        } else if model.adopt.known() == Some(&false) && !is_applied_by(&live, manager) {
            found.error_at(
                "adopt",
                "A definition exists already",
                format!(
                    "{name} exists in {} and was not made by this resource; it was not touched. Set adopt = true to take it over, or import \
                     the definitions (ID: {ID}).",
                    cluster.label()
                ),
            );
        }
    }
    found.into_result(())
}

fn is_applied_by(live: &serde_json::Value, manager: &str) -> bool {
    let entries = live["metadata"]["managedFields"].as_array();
    entries.is_some_and(|entries| entries.iter().any(|entry| entry["manager"] == manager))
}

/// Leaves the definitions, or deletes them when no object of them is left.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<Crds, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let model = &state.model;
    if model.on_destroy.as_str() != Some("delete") {
        return Ok(());
    }
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let failed = |error: ClusterError| report::cluster(&error);
    let address = state.private.get::<String>(ADDRESS);
    let compared = cluster
        .compare(model.cluster_uid.as_str(), address.as_deref())
        .await
        .map_err(failed)?;
    if let Some(warning) = report::elsewhere("The set of definitions", compared)? {
        ctx.report(warning);
        return Ok(());
    }
    refuse_objects(cluster).await?;
    let objects = Objects::all(cluster, definition_kind()).await.map_err(failed)?;
    let limit = timeout_or(&model.timeouts, |limits: &Limits| &limits.delete, LIMIT);
    let mut waiting = Waiting::new(Pace::QUICK, limit, ctx.cancellation());
    for definition in wanted() {
        let name = name_of(&definition);
        let Some(live) = objects.get(name).await.map_err(failed)? else {
            continue;
        };
        let only_if = DeletePreconditions {
            uid: uid(&live).map(str::to_owned),
        };
        objects.delete(name, only_if).await.map_err(failed)?;
        while objects.get(name).await.map_err(failed)?.is_some() {
            waiting.pause().await.map_err(|_| {
                Diagnostics::error(
                    format!("{name} is still there"),
                    "Its deletion was asked for and goes on; objects of it may hold it. Destroy again to wait for its end.",
                )
            })?;
        }
    }
    Ok(())
}

/// With a definition all objects of it go: pools with their nodes, and what finalizers hold stays for ever.
async fn refuse_objects(cluster: &Cluster) -> Result<(), Diagnostics> {
    let failed = |error: ClusterError| report::cluster(&error);
    let mut left = Vec::new();
    for definition in wanted() {
        let kind = kind_of(&definition);
        let word = kind.kind().to_owned();
        let objects = Objects::all(cluster, kind).await.map_err(failed)?;
        let found = objects.list(None).await.map_err(failed)?;
        left.extend(found.iter().map(|object| format!("{word} {}", name_of(object))));
    }
    if left.is_empty() {
        return Ok(());
    }
    let more = left.len().saturating_sub(10);
    left.truncate(10);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(Diagnostics::error(
        "The definitions are in use",
        format!(
            "With them these objects would go, and their nodes: {}{more}. Delete them first, while the controller runs; then destroy again. \
             Nothing was changed.",
            left.join(", ")
        ),
    ))
}
