//! Planning an EC2NodeClass.

use super::schema::Ec2NodeClass;
use super::{account, renamed};
use crate::feasible;
use crate::objects::{self, Foreseen, ObjectIdentity, told};
use crate::provider::{Checks, Joiner, Level, known_region};
use tfplugin::{Configured, Context, Diagnostics, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<Ec2NodeClass>,
    plan: &mut Plan<Ec2NodeClass, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let object = Foreseen::of(&plan.planned)?;
    let checks = Checks::in_context(ctx);
    let mut found = Diagnostics::new();
    if let Configured::Ready(data) = ctx.provider() {
        data.plans_class(plan.planned.common.name());
    }
    if plan.changed || request.prior.is_none() {
        if checks.catalogue != Level::Off {
            let region = known_region(ctx);
            let unknown = |path: &[&str]| object.is_unknown(path);
            let findings = feasible::node_class(&object.json, &unknown, region.as_str());
            found.append(told::<Ec2NodeClass>(findings, checks.catalogue));
        }
        if checks.account != Level::Off
            && let Configured::Ready(data) = ctx.provider()
        {
            let findings = account::check(data, &object).await;
            found.append(told::<Ec2NodeClass>(findings, checks.account));
        }
    }
    if let Configured::Ready(data) = ctx.provider()
        && let Some(told) = renamed::check(data, request, &plan.planned).await
    {
        found.push(told);
    }
    if let Configured::Ready(data) = ctx.provider()
        && object.is_known()
        && let Ok(class) = serde_json::from_value(object.json)
    {
        data.planned_class(class);
    }
    if found.has_errors() {
        return Err(found);
    }
    ctx.report_all(found);
    objects::plan(ctx, request, plan).await
}
