//! The forecast of one planned change, or of a planned end.

use super::ask::{self, Others};
use super::attribute::{Forecast, Outlook};
use super::subject::{Change, Subject};
use super::words::{self, Words};
use crate::cluster::Cluster;
use crate::objects::{Custom, ObjectIdentity};
use crate::provider::{Joiner, Level, Part, known_region};
use futures::future::BoxFuture;
use tfplugin::{
    AttributePath, Configured, Context, Diagnostic, Diagnostics, Field, Plan, PlanRequest, State,
};

/// Completes the plan with what the change does to nodes, and tells it. `there` says whether the object is known to be in the cluster.
/// In a box, as all that asks here: most plans have none of it.
pub(crate) fn plan<'a, M: Custom>(
    ctx: &'a Context<Joiner>,
    request: &'a PlanRequest<M>,
    plan: &'a mut Plan<M, ObjectIdentity>,
    there: bool,
) -> BoxFuture<'a, Result<(), Diagnostics>> {
    Box::pin(complete(ctx, request, plan, there))
}

async fn complete<M: Custom>(
    ctx: &Context<Joiner>,
    request: &PlanRequest<M>,
    plan: &mut Plan<M, ObjectIdentity>,
    there: bool,
) -> Result<(), Diagnostics> {
    let Some(subject) = M::NODES else {
        return Ok(());
    };
    if let (Subject::Pool, Configured::Ready(data)) = (subject, ctx.provider())
        && (plan.changed || request.prior.is_none())
    {
        data.coming.add(&plan.planned)?;
    }
    let Some(prior) = &request.prior else {
        put(&mut plan.planned, Outlook::none_yet());
        return Ok(());
    };
    if !plan.changed {
        return Ok(());
    }
    let kept = prior.outlook().cloned().unwrap_or_default();
    if prior.is_replaced_by(&plan.planned) {
        put(
            &mut plan.planned,
            Outlook {
                nodes_drifted: kept.counted(),
                forecast: Field::Null,
            },
        );
        return end::<M>(ctx, subject, prior.common().name()).await;
    }
    let change = Change::of(subject, prior, &plan.planned)?;
    let forecast = match (change.touches_nodes(), change.is_known) {
        (false, _) => kept.forecast.clone(),
        (true, true) => Field::Known(Forecast::at_plan(change.reach())),
        (true, false) => Field::Unknown,
    };
    put(
        &mut plan.planned,
        Outlook {
            nodes_drifted: kept.counted(),
            forecast,
        },
    );
    match reached(ctx) {
        Some((data, cluster)) if there && change.is_known && change.touches_nodes() => {
            tell::<M>(ctx, data, cluster, change).await
        }
        _ => Ok(()),
    }
}

/// Looks at a planned destroy: which pods it leaves without a node.
pub(crate) async fn plan_destroy<M: Custom>(
    ctx: &Context<Joiner>,
    state: &State<M, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    match M::NODES {
        Some(subject) => Box::pin(end::<M>(ctx, subject, state.model.common().name())).await,
        None => Ok(()),
    }
}

fn put<M: Custom>(planned: &mut M, outlook: Outlook) {
    if let Some(planned) = planned.outlook_mut() {
        *planned = outlook;
    }
}

/// The cluster, where it may be asked: not again when a forecast could not be had before, since the next could not be either.
fn reached(ctx: &Context<Joiner>) -> Option<(&Joiner, &Cluster)> {
    match ctx.provider() {
        Configured::Ready(data) if data.checks.forecast != Level::Off && !data.are_forecasts_left_out() => {
            match &data.cluster {
                Part::Known(cluster) => Some((data, cluster)),
                Part::Absent | Part::Unknown | Part::Broken(_) => None,
            }
        }
        _ => None,
    }
}

async fn tell<M: Custom>(
    ctx: &Context<Joiner>,
    data: &Joiner,
    cluster: &Cluster,
    change: Change,
) -> Result<(), Diagnostics> {
    let what = format!("{} {}", M::kind().kind(), change.name);
    let (subject, name) = (change.subject, change.name.clone());
    let (told, caveats) = match ask::change(data, cluster, change, known_region(ctx).into_known()).await {
        Ok(Some(answer)) => answer,
        Ok(None) => return Ok(()),
        Err(trouble) => {
            data.leave_forecasts_out();
            ctx.report(warning(words::of_trouble(cluster.label(), &trouble)));
            return Ok(());
        }
    };
    let place = match subject {
        Subject::Pool => AttributePath::root().attribute("template"),
        Subject::Class => AttributePath::root(),
    };
    if let Some(words) = words::of_change(&what, &told, &caveats) {
        ctx.report(warning(words).at(place.clone()));
    }
    let homeless = words::of_homeless(&what, &told.homeless);
    data.told(&M::kind(), &name, told);
    match homeless {
        Some(words) if data.checks.forecast == Level::Error => {
            Err(Diagnostic::error(words.title, words.detail).at(place).into())
        }
        Some(words) => {
            ctx.report(warning(words).at(place));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Tells what becomes of pods when a pool goes. A class has no nodes of its own: what refers to it must go first.
async fn end<M: Custom>(ctx: &Context<Joiner>, subject: Subject, name: &str) -> Result<(), Diagnostics> {
    let (Subject::Pool, Some((data, cluster))) = (subject, reached(ctx)) else {
        return Ok(());
    };
    // Where all goes, a core looks at nothing in the process in which it plans that.
    let others = match data.has_seen(&M::kind(), name) {
        true => Others::Possible,
        false => Others::None,
    };
    let region = known_region(ctx).into_known();
    match ask::destroy(data, cluster, data.goes(name), others, region).await {
        Ok((told, doubts)) => {
            let what = format!("{} {name}", M::kind().kind());
            if let Some(words) = words::of_destroy(&what, &told, &doubts) {
                ctx.report(warning(words));
            }
        }
        Err(trouble) => {
            data.leave_forecasts_out();
            ctx.report(warning(words::of_trouble(cluster.label(), &trouble)));
        }
    }
    Ok(())
}

fn warning(words: Words) -> Diagnostic {
    Diagnostic::warning(words.title, words.detail)
}
