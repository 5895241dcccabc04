//! Planning a NodePool.

use super::schema::NodePool;
use super::{class, quotas, reservations, zones};
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
    match plan.changed || request.prior.is_none() {
        true => foresee(ctx, &plan.planned).await?,
        false => note(ctx, &plan.planned).await?,
    }
    objects::plan(ctx, request, plan).await
}

/// Keeps a pool that does not change in mind, for those that share its quotas.
async fn note(ctx: &Context<Joiner>, planned: &NodePool) -> Result<(), Diagnostics> {
    let account = Checks::in_context(ctx).account;
    if account != Level::Off
        && let Configured::Ready(data) = ctx.provider()
    {
        let region = known_region(ctx);
        let findings = quotas::note(data, Foreseen::of(planned)?, region.as_str()).await;
        ctx.report_all(told::<NodePool>(findings, Level::Warning));
    }
    Ok(())
}

/// Tells what of the pool can never work.
async fn foresee(ctx: &Context<Joiner>, planned: &NodePool) -> Result<(), Diagnostics> {
    let Checks {
        catalogue,
        account,
        controller,
        ..
    } = Checks::in_context(ctx);
    let object = Foreseen::of(planned)?;
    let region = known_region(ctx);
    let planned_class = |name: &str| match ctx.provider() {
        Configured::Ready(data) => data.class(name),
        _ => None,
    };
    let mut found = Diagnostics::new();
    if catalogue != Level::Off {
        let unknown = |path: &[&str]| object.is_unknown(path);
        let findings = feasible::pool(&object.json, &unknown, region.as_str(), &planned_class);
        found.append(told::<NodePool>(findings, catalogue));
    }
    if account != Level::Off
        && let Configured::Ready(data) = ctx.provider()
    {
        let mut findings = zones::check(data, &object);
        findings.extend(reservations::check(data, &object));
        findings.extend(quotas::check(data, &object, region.as_str()).await);
        found.append(told::<NodePool>(findings, account));
    }
    if controller != Level::Off
        && let Configured::Ready(data) = ctx.provider()
    {
        let findings = class::check(data, &object).await;
        found.append(told::<NodePool>(findings.into_iter().collect(), controller));
    }
    if found.has_errors() {
        return Err(found);
    }
    ctx.report_all(found);
    Ok(())
}
