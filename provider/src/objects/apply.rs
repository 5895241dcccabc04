//! Creating and changing: server-side apply, then a look at readiness.

use super::check::attribute_path;
use super::custom::{Custom, object_of};
use super::live::{Existing, Ready, Target, is_ready};
use crate::cluster::{ApplyOptions, ClusterError, FieldConflict, uid};
use crate::provider::Joiner;
use crate::report;
use joiner_api::rules::{JsonPath, Segment};
use std::time::Duration;
use tfplugin::{
    ApplyRequest, Context, Diagnostic, Diagnostics, Field, Identity, State, Timeouts, timeout_or,
};

/// How long an apply with its wait may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Creates the object. One that exists and that we never applied is refused unless `adopt` is set.
pub(crate) async fn create<M: Custom, I: Identity>(
    ctx: &Context<Joiner>,
    request: ApplyRequest<M, I>,
) -> Result<State<M, I>, Diagnostics> {
    let data = ctx.ready()?;
    let common = request.planned.common();
    let existing = if common.adopt.known().copied().unwrap_or(false) {
        Existing::Adopt
    } else {
        Existing::Refuse
    };
    let target = Target {
        cluster: data.cluster()?,
        kind: M::kind(),
        name: common.name(),
    };
    target
        .check_existing(&data.field_manager, existing)
        .await
        .map_err(|error| report::cluster(&error))?;
    let limit = timeout_or(common.timeouts, |timeouts: &Timeouts| &timeouts.create, LIMIT);
    apply(ctx, &data, request, limit).await
}

/// Changes the object, or puts it into a cluster that was replaced.
pub(crate) async fn update<M: Custom, I: Identity>(
    ctx: &Context<Joiner>,
    request: ApplyRequest<M, I>,
) -> Result<State<M, I>, Diagnostics> {
    let data = ctx.ready()?;
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
    let limit = timeout_or(common.timeouts, |timeouts: &Timeouts| &timeouts.update, LIMIT);
    apply(ctx, &data, request, limit).await
}

async fn apply<M: Custom, I: Identity>(
    ctx: &Context<Joiner>,
    data: &Joiner,
    request: ApplyRequest<M, I>,
    limit: Duration,
) -> Result<State<M, I>, Diagnostics> {
    let ApplyRequest {
        mut planned,
        private,
        identity,
        ..
    } = request;
    let object = object_of(&planned)?;
    let name = planned.common().name().to_owned();
    let target = Target {
        cluster: data.cluster()?,
        kind: M::kind(),
        name: &name,
    };
    let options = ApplyOptions {
        field_manager: data.field_manager.clone(),
        force_conflicts: planned
            .common()
            .force_conflicts
            .known()
            .copied()
            .unwrap_or(data.force_conflicts),
        dry_run: false,
    };
    let applied = target
        .apply(&object.json, &options, ctx.cancellation())
        .await
        .map_err(|error| explain::<M>(&error))?;
    let Some(mut live) = applied else {
        return Err(Diagnostics::error(
            format!("{} {name} was not applied", M::kind().kind()),
            "The operation was stopped on request before the cluster took the object.",
        ));
    };
    let cluster_uid = target.cluster.uid().await.ok().flatten().map(str::to_owned);
    if let Some(wait) = planned.common().wait() {
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
    *computed.id = Field::Known(name);
    *computed.uid = Field::from_option(uid(&live).map(str::to_owned));
    *computed.cluster_uid = Field::from_option(cluster_uid);
    *computed.ready = Field::Known(is_ready(&live));
    Ok(State {
        model: planned,
        private,
        identity,
    })
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

/// The diagnostics of a failed apply: each conflict at its attribute.
fn explain<M: Custom>(error: &ClusterError) -> Diagnostics {
    let ClusterError::Conflict(conflicts) = error else {
        return report::cluster(error);
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
