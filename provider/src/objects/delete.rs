//! Deleting: dependants first, and not done before the object is gone.

use super::custom::{Custom, Limits};
use super::identity::ObjectIdentity;
use super::live::{Removal, Target};
use super::read::other_cluster;
use crate::provider::Joiner;
use crate::report;
use std::time::Duration;
use tfplugin::{Context, Diagnostic, Diagnostics, State, timeout_or};

/// How long a deletion may take: nodes are drained in it.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Deletes the object and waits until it is gone.
pub(crate) async fn delete<M: Custom>(
    ctx: &Context<Joiner>,
    state: State<M, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let model = &state.model;
    let data = ctx.ready()?;
    let cluster = data.cluster()?;
    let common = model.common();
    let name = common.name();
    let kind = M::kind();
    if let Some(warning) = other_cluster(cluster, &state).await? {
        ctx.report(warning);
        return Ok(());
    }
    let target = Target {
        cluster,
        kind: kind.clone(),
        name,
    };
    let limit = timeout_or(&common.timeouts, |limits: &Limits| &limits.delete, LIMIT);
    let progress = |blockers: &[String]| {
        tracing::info!(
            kind = kind.kind(),
            name,
            waits_for = blockers.join("; "),
            "waiting until it is gone"
        );
    };
    let removal = target
        .remove(
            common.uid.as_str(),
            M::claims(name).as_deref(),
            limit,
            ctx.cancellation(),
            &progress,
        )
        .await
        .map_err(|error| match error.is_transient() {
            true => Diagnostics::error(
                format!("{} {name} was not deleted", kind.kind()),
                error.to_string(),
            ),
            false => report::cluster(&error),
        })?;
    let waits_for = |blockers: &[String]| {
        if blockers.is_empty() {
            "nothing that is known".to_owned()
        } else {
            blockers.join("; ")
        }
    };
    match removal {
        Removal::Gone => Ok(()),
        Removal::OtherObject => {
            ctx.report(Diagnostic::warning(
                format!("{} {name} was left alone", kind.kind()),
                "An object of this name is there, but it has another uid than the one in the state: someone made it anew. Ours is gone.",
            ));
            Ok(())
        }
        Removal::StillThere { blockers } => Err(Diagnostics::error(
            format!("{} {name} is still there", kind.kind()),
            format!(
                "Its deletion was asked for and goes on; it waits for: {}. Destroy again when that is solved, or allow more time with \
                 timeouts = {{ delete = ... }} (now {} s).",
                waits_for(&blockers),
                limit.as_secs()
            ),
        )),
        Removal::Cancelled { blockers } => Err(Diagnostics::error(
            format!("{} {name} is still there", kind.kind()),
            format!(
                "The wait was stopped on request. Its deletion was asked for and goes on; it waits for: {}. Destroy again to wait for its \
                 end.",
                waits_for(&blockers)
            ),
        )),
    }
}
