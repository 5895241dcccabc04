//! Planning: offline, but for one look at an object whose cluster was unknown when the plan was made.
//!
//! The provisional update. While the cluster is unknown, as when it is being replaced, an object in the state may or may not be
//! there after the apply. So its uid is planned as unknown, which both cores show as an update in place; in the apply they plan
//! again, and then the object is looked for: there, with the same uid, the plan becomes "no change"; otherwise it is applied anew.

use super::custom::Custom;
use super::identity::ObjectIdentity;
use super::live::Target;
use super::{dry_run, served};
use crate::provider::{Joiner, Part};
use crate::{forecast, report};
use tfplugin::{Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes a plan.
pub(crate) async fn plan<M: Custom>(
    ctx: &Context<Joiner>,
    request: &PlanRequest<M>,
    plan: &mut Plan<M, ObjectIdentity>,
) -> Result<(), Diagnostics> {
    let name = plan.planned.common().name.clone();
    let planned = plan.planned.common_mut();
    if planned.id.is_unknown() {
        planned.id = name.clone();
    }
    if (plan.changed || request.prior.is_none())
        && let tfplugin::Configured::Ready(data) = ctx.provider()
    {
        let told = served::check(data, &plan.planned).await?;
        if told.has_errors() {
            return Err(told);
        }
        ctx.report_all(told);
        dry_run::ask(ctx, data, &plan.planned, request.prior.is_none()).await?;
    }
    let Some(prior) = &request.prior else {
        plan.identity = ObjectIdentity::of(&name);
        return forecast::plan(ctx, request, plan, false).await;
    };
    let same_name = prior.common().name == name;
    let there = match ctx.provider() {
        tfplugin::Configured::Ready(data) => match &data.cluster {
            Part::Unknown => false,
            Part::Known(cluster) if same_name && !data.has_seen(&M::kind(), prior.common().name()) => {
                let name = prior.common().name.as_str().unwrap_or_default();
                let target = Target {
                    cluster,
                    kind: M::kind(),
                    name,
                };
                let live = target.get().await.map_err(|error| report::cluster(&error))?;
                let uid = live.as_ref().and_then(crate::cluster::uid);
                uid.is_some() && uid == prior.common().uid.as_str()
            }
            Part::Known(_) | Part::Absent | Part::Broken(_) => true,
        },
        tfplugin::Configured::UnknownUntilApply | tfplugin::Configured::Unconfigured => true,
    };
    if !there {
        let planned = plan.planned.common_mut();
        planned.uid = Field::Unknown;
        planned.cluster_uid = Field::Unknown;
        planned.ready = Field::Unknown;
    }
    forecast::plan(ctx, request, plan, there && reachable(ctx)).await
}

/// Whether it is known which cluster it is.
fn reachable(ctx: &Context<Joiner>) -> bool {
    matches!(ctx.provider(), tfplugin::Configured::Ready(data) if matches!(data.cluster, Part::Known(_)))
}
