//! Planning a NodePool.

use super::schema::NodePool;
use crate::objects::{self, ObjectIdentity};
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, Plan, PlanRequest};

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
    objects::plan(ctx, request, plan).await
}
