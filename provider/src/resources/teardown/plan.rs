//! Planning: there is nothing to find out.

use super::identity::TeardownIdentity;
use super::schema::Teardown;
use crate::provider::Joiner;
use tfplugin::{Context, Diagnostics, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    _: &Context<Joiner>,
    _: &PlanRequest<Teardown>,
    plan: &mut Plan<Teardown, TeardownIdentity>,
) -> Result<(), Diagnostics> {
    plan.planned.id = plan.planned.cluster_name.clone();
    plan.identity = TeardownIdentity::of(&plan.planned);
    Ok(())
}
