//! Nothing on create; waiting on destroy.

use super::identity::TeardownIdentity;
use super::schema::{Limits, Teardown};
use super::successor;
use super::watch::{Look, Watch};
use crate::cluster::{Ended, Pace, Waiting};
use crate::provider::Joiner;
use std::time::Duration;
use tfplugin::{ApplyRequest, Configured, Context, Diagnostic, Diagnostics, State, timeout_or};
use tokio::time::Instant;

/// How long a destroy waits when nothing is said.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// Time between two reports on what a destroy waits for.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Puts the barrier into the state.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    mut request: ApplyRequest<Teardown, TeardownIdentity>,
) -> Result<State<Teardown, TeardownIdentity>, Diagnostics> {
    // A barrier that takes another's place stands before the cluster that is there now.
    successor::forget(&mut request.private);
    put(ctx, request).await
}

/// Changes the settings of the destroy to come.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    _: State<Teardown, TeardownIdentity>,
    request: ApplyRequest<Teardown, TeardownIdentity>,
) -> Result<State<Teardown, TeardownIdentity>, Diagnostics> {
    put(ctx, request).await
}

async fn put(
    ctx: &Context<Joiner>,
    request: ApplyRequest<Teardown, TeardownIdentity>,
) -> Result<State<Teardown, TeardownIdentity>, Diagnostics> {
    let (mut model, mut private) = (request.planned, request.private);
    model.id = model.cluster_name.clone();
    if let (Configured::Ready(data), Some(name)) = (ctx.provider(), model.cluster_name.as_str()) {
        successor::note(data, name, &mut private).await?;
    }
    Ok(State {
        identity: TeardownIdentity::of(&model),
        model,
        private,
    })
}

/// Waits until nothing of the cluster's nodes is left. Where another cluster has taken its place and name, what is of that one stays out of it:
/// the NodeClaims that the provider reaches, and all that is younger than it.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<Teardown, TeardownIdentity>,
) -> Result<(), Diagnostics> {
    let data = ctx.ready()?;
    let model = &state.model;
    let name = model.cluster_name.as_str().unwrap_or_default();
    let clears = model.terminate_orphans.known() == Some(&true);
    let limit = timeout_or(&model.timeouts, |limits: &Limits| &limits.delete, LIMIT);
    let mut waiting = Waiting::new(Pace::SLOW, limit, ctx.cancellation());
    let successor = successor::find(&data, name, &state.private).await;
    let mut watch = Watch::new(&data, name, successor)?;
    let mut reported: Option<Instant> = None;
    let ended = loop {
        let look = watch.look().await?;
        if look.is_clear() {
            break None;
        }
        if successor.is_some() && !clears && !look.left.goes_by_itself() {
            return orphaned(ctx, name, &look);
        }
        if clears && look.claims == 0 {
            watch.clear(&look).await?;
        }
        if reported.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
            reported = Some(Instant::now());
            tracing::info!(
                cluster = name,
                waits_for = look.sentences.join("; "),
                "waiting until nothing is left"
            );
        }
        if let Err(ended) = waiting.pause().await {
            break Some((ended, look));
        }
    };
    if let Some(why) = &watch.gone {
        ctx.report(Diagnostic::warning(
            format!("Cluster {name} does not answer"),
            format!("It counts as gone, so its NodeClaims were not looked for, only what the account holds: {why}."),
        ));
    }
    match ended {
        None => Ok(()),
        Some((ended, look)) => Err(still_there(name, ended, &look.sentences, limit, clears)),
    }
}

/// What a replaced cluster left, which nobody ends any more: an error while it costs money or holds the network, else a warning.
fn orphaned(ctx: &Context<Joiner>, name: &str, look: &Look) -> Result<(), Diagnostics> {
    let left = look.sentences.join("; ");
    let summary = format!("Something of the earlier cluster {name} is left");
    let gone = format!(
        "Another cluster has taken its place, so no controller ends this any more: {left}. What belongs to the new cluster was left alone."
    );
    if look.left.instances.is_empty() && look.left.interfaces.is_empty() {
        ctx.report(Diagnostic::warning(
            summary,
            format!(
                "{gone} It costs nothing and holds no network; the last destroy of this resource deletes it with terminate_orphans = true."
            ),
        ));
        return Ok(());
    }
    Err(Diagnostics::error(
        summary,
        format!(
            "{gone} End the instances (aws ec2 terminate-instances --instance-ids ...), delete the interfaces and apply again. With \
             terminate_orphans = true, applied before a cluster is replaced, this resource does it."
        ),
    ))
}

fn still_there(name: &str, ended: Ended, left: &[String], limit: Duration, clears: bool) -> Diagnostics {
    let left = match left {
        [] => "the cluster's answer".to_owned(),
        left => left.join("; "),
    };
    let detail = match ended {
        Ended::Cancelled => format!(
            "The wait was stopped on request. What is left: {left}. Destroy again to wait for its end."
        ),
        Ended::TimedOut => format!(
            "This is left after {} s: {left}. {} Destroy again when that is solved, or allow more time with timeouts = {{ delete = ... }}.",
            limit.as_secs(),
            if clears {
                "NodeClaims are left to their controller; if none runs any more, start it again (apply its joiner_helm_release)."
            } else {
                "NodeClaims go with their node pools, while the controller runs. For what no controller will end any more set \
                 terminate_orphans = true and apply before you destroy."
            }
        ),
    };
    Diagnostics::error(format!("Something of cluster {name} is left"), detail)
}
