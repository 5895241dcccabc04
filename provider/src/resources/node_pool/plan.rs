//! Planning a NodePool.

use super::schema::NodePool;
use super::zones;
use crate::feasible;
use crate::objects::{self, Foreseen, ObjectIdentity, told};
use crate::provider::{Checks, Joiner, Level, known_region};
use tfplugin::{Configured, Context, Diagnostics, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<NodePool>,
    plan: &mut Plan<NodePool, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    if let Some(prior) = &request.prior
        && prior.replicas.is_null() != plan.planned.replicas.is_null()
    {
        // The API forbids the change between a fixed number of nodes and as many as pods need.
        plan.require_replace("replicas");
    }
    if plan.changed || request.prior.is_none() {
        foresee(ctx, &plan.planned)?;
    }
    objects::plan(ctx, request, plan).await
}

/// Tells what of the pool can never work.
fn foresee(ctx: &Context<Joiner>, planned: &NodePool) -> Result<(), Diagnostics> {
    let level = Checks::in_context(ctx).catalogue;
    if level == Level::Off {
        return Ok(());
    }
    let object = Foreseen::of(planned)?;
    let region = known_region(ctx);
    let class = |name: &str| match ctx.provider() {
        Configured::Ready(data) => data.class(name),
        _ => None,
    };
    let findings = feasible::pool(
        &object.json,
        &|path| object.is_unknown(path),
        region.as_str(),
        &class,
    );
    let mut found = told::<NodePool>(findings, level);
    if let Configured::Ready(data) = ctx.provider() {
        let level = data.checks.account;
        found.append(told::<NodePool>(zones::check(data, &object), level));
    }
    if found.has_errors() {
        return Err(found);
    }
    ctx.report_all(found);
    Ok(())
}
