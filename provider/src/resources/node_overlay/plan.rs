//! Planning a NodeOverlay.

use super::schema::NodeOverlay;
use crate::feasible;
use crate::objects::{self, Foreseen, ObjectIdentity, told};
use crate::provider::{Checks, Joiner, Level, known_region};
use tfplugin::{Configured, Context, Diagnostics, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<NodeOverlay>,
    plan: &mut Plan<NodeOverlay, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let level = Checks::in_context(ctx).catalogue;
    if level != Level::Off {
        let object = Foreseen::of(&plan.planned)?;
        let region = known_region(ctx);
        let is_new = plan.changed || request.prior.is_none();
        let mut findings = Vec::new();
        if is_new {
            let unknown = |path: &[&str]| object.is_unknown(path);
            findings.extend(feasible::overlay(&object.json, &unknown, region.as_str()));
        }
        // One that does not change is kept in mind for those that do, and compared with those that came before it.
        if object.is_known()
            && let Configured::Ready(data) = ctx.provider()
        {
            let others = data.plans_overlay(&object.json, is_new);
            findings.extend(feasible::conflict(&object.json, &others, region.as_str()));
        }
        ctx.report_all(told::<NodeOverlay>(findings, level));
    }
    objects::plan(ctx, request, plan).await
}
