//! Creating and changing: server-side apply, then a look at readiness.

use super::check::attribute_path;
use super::custom::{Custom, Limits, object_of};
use super::identity::ObjectIdentity;
use super::live::{Ready, Target, is_ready};
use super::read::other_cluster;
use crate::cluster::{ADDRESS, ApplyOptions, ClusterError, FieldConflict, uid};
use crate::provider::Joiner;
use crate::report;
use joiner_api::rules::{JsonPath, Segment};
use std::time::Duration;
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, State, timeout_or};

/// How long an apply with its wait may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Creates the object. One that exists is refused unless `adopt` is set, or a killed run of this very configuration left it.
pub(crate) async fn create<M: Custom>(
    ctx: &Context<Joiner>,
    request: ApplyRequest<M, ObjectIdentity>,
) -> Result<State<M, ObjectIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let common = request.planned.common();
    let target = Target {
        cluster: data.cluster()?,
        kind: M::kind(),
        name: common.name(),
    };
    let limit = timeout_or(&common.timeouts, |limits: &Limits| &limits.create, LIMIT);
    let mut waiting = Target::patience(limit, ctx.cancellation());
    if !common.adopt.known().copied().unwrap_or(false) {
        let object = object_of(&request.planned)?;
        target
            .check_existing(&object.json, &options(&data, &request.planned), &mut waiting)
            .await
            .map_err(|error| explain::<M>(common.name(), &error))?;
    }
    apply(ctx, &data, request, limit).await
}

/// Changes the object, or puts it into a cluster that was replaced.
pub(crate) async fn update<M: Custom>(
    ctx: &Context<Joiner>,
    prior: State<M, ObjectIdentity>,
    request: ApplyRequest<M, ObjectIdentity>,
) -> Result<State<M, ObjectIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    // A plan without a refresh has not looked at the cluster.
    other_cluster(data.cluster()?, &prior).await?;
    let common = request.planned.common();
    let target = Target {
        cluster: data.cluster()?,
        kind: M::kind(),
        name: common.name(),
    };
    if let Some(planned) = common.uid.as_str() {
        let live = target.get().await.map_err(|error| report::cluster(&error))?;
        if live.as_ref().and_then(uid) != Some(planned) {
            return Err(Diagnostics::error(
                format!(
                    "{} {} is not the one that was planned",
                    M::kind().kind(),
                    common.name()
                ),
                "Between plan and apply it was deleted, or made anew. Nothing was changed. Plan and apply again.",
            ));
        }
    }
    let limit = timeout_or(&common.timeouts, |limits: &Limits| &limits.update, LIMIT);
    apply(ctx, &data, request, limit).await
}

async fn apply<M: Custom>(
    ctx: &Context<Joiner>,
    data: &Joiner,
    request: ApplyRequest<M, ObjectIdentity>,
    limit: Duration,
) -> Result<State<M, ObjectIdentity>, Diagnostics> {
    let ApplyRequest {
        mut planned,
        mut private,
        ..
    } = request;
    let object = object_of(&planned)?;
    let name = planned.common().name().to_owned();
    let target = Target {
        cluster: data.cluster()?,
        kind: M::kind(),
        name: &name,
    };
    let options = options(data, &planned);
    let mut waiting = Target::patience(limit, ctx.cancellation());
    let applied = target
        .apply(&object.json, &options, &mut waiting)
        .await
        .map_err(|error| explain::<M>(&name, &error))?;
    let Some(mut live) = applied else {
        return Err(Diagnostics::error(
            format!("{} {name} was not applied", M::kind().kind()),
            "The operation was stopped on request before the cluster took the object.",
        ));
    };
    let cluster_uid = target.cluster.uid().await.ok().flatten().map(str::to_owned);
    if let Ok(address) = target.cluster.address().await {
        private.set(ADDRESS, &address)?;
    }
    if let Some(wait) = planned.common().wait(M::WAIT) {
        match target.wait_ready(wait.min(limit), ctx.cancellation()).await {
            Ok((ready, found)) => {
                live = found.unwrap_or(live);
                report_readiness::<M>(ctx, &name, wait, &ready);
            }
            Err(error) => ctx.report(Diagnostic::warning(
                format!("It is not known whether {} {name} is ready", M::kind().kind()),
                error.to_string(),
            )),
        }
    }
    data.saw(&M::kind(), &name, uid(&live));
    let computed = planned.common_mut();
    computed.id = Field::Known(name);
    computed.uid = Field::from_option(uid(&live).map(str::to_owned));
    computed.cluster_uid = Field::from_option(cluster_uid);
    computed.ready = Field::Known(is_ready(&live));
    let told = data.forecast(&M::kind(), planned.common().name());
    if let Some(outlook) = planned.outlook_mut() {
        outlook.settle(told.as_deref());
    }
    Ok(State {
        identity: ObjectIdentity::of(&planned.common().name),
        model: planned,
        private,
    })
}

fn options<M: Custom>(data: &Joiner, planned: &M) -> ApplyOptions {
    let force = planned.common().force_conflicts.known().copied();
    ApplyOptions {
        field_manager: data.field_manager.clone(),
        force_conflicts: force.unwrap_or(data.force_conflicts),
        dry_run: false,
    }
}

/// An object that is not ready is a warning: an error would taint it, and the next apply would drain its nodes.
fn report_readiness<M: Custom>(ctx: &Context<Joiner>, name: &str, wait: Duration, ready: &Ready) {
    let kind = M::kind();
    match ready {
        Ready::Yes => {}
        Ready::NotYet { reasons } => ctx.report(Diagnostic::warning(
            format!("{} {name} is not ready yet", kind.kind()),
            format!(
                "It was applied, and was not ready after {} s: {}. Nothing is lost; the controller goes on trying. See kubectl describe \
                 {} {name}.",
                wait.as_secs(),
                if reasons.is_empty() { "no reason is given".to_owned() } else { reasons.join("; ") },
                kind.plural_name()
            ),
        )),
        Ready::Cancelled => ctx.report(Diagnostic::warning(
            format!("It is not known whether {} {name} is ready", kind.kind()),
            "It was applied; the wait for it was stopped on request.",
        )),
    }
}

/// The diagnostics of a failed apply: each conflict at its attribute; what an outage has kept from being done.
pub(super) fn explain<M: Custom>(name: &str, error: &ClusterError) -> Diagnostics {
    let conflicts = match error {
        ClusterError::Conflict(conflicts) => conflicts,
        error if error.is_transient() => {
            let what = format!("{} {name} was not applied", M::kind().kind());
            return Diagnostics::error(what, error.to_string());
        }
        error => return report::cluster(error),
    };
    conflicts
        .iter()
        .map(|FieldConflict { manager, field }| {
            Diagnostic::error(
                "A field has another owner",
                format!(
                    "{field} is managed by {manager:?}, with another value. Remove it here and leave it to {manager:?}, or set \
                     force_conflicts = true to take it over."
                ),
            )
            .at(attribute_path::<M>(&field_path(field)))
        })
        .collect()
}

/// A field as server-side apply names it, such as `.spec.limits.cpu` or `.metadata.labels.app\.kubernetes\.io/name`.
fn field_path(field: &str) -> JsonPath {
    let mut segments = Vec::new();
    let mut name = String::new();
    let mut chars = field.trim_start_matches('.').chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => name.extend(chars.next()),
            '.' if !name.is_empty() => segments.push(Segment::Field(std::mem::take(&mut name))),
            // Keys of associative lists lead to no attribute.
            '[' => break,
            '.' => {}
            other => name.push(other),
        }
    }
    if !name.is_empty() {
        segments.push(Segment::Field(name));
    }
    JsonPath(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicting_fields_have_paths() {
        for (field, want) in [
            (".spec.weight", "spec.weight"),
            (".spec.limits.cpu", "spec.limits.cpu"),
            (
                ".spec.template.spec.requirements",
                "spec.template.spec.requirements",
            ),
            (".metadata.labels.a\\.b/c", "metadata.labels[\"a.b/c\"]"),
            (".spec.list[name=\"x\"].y", "spec.list"),
        ] {
            assert_eq!(field_path(field).to_string(), want);
        }
    }
}
