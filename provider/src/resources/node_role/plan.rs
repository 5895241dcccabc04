//! Planning: who may take the role on, and what is to be made beside it.

use super::documents::owner_tag;
use super::schema::NodeRole;
use crate::provider::{Joiner, known_region};
use crate::report;
use crate::roles::{RoleIdentity, check_cluster, keep_words, partition, planned_tags};
use joiner_aws::Aws;
use joiner_aws::policy::node_trust;
use joiner_aws::sts::partition_of;
use tfplugin::{Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<NodeRole>,
    plan: &mut Plan<NodeRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let planned = &mut plan.planned;
    if planned.role.id.is_unknown() {
        planned.role.id = planned.role.name.clone();
    }
    planned.role.tags_all = planned_tags(ctx, &planned.role.tags, owner_tag(planned));
    if (plan.changed || request.prior.is_none()) && planned.create_access_entry.known() != Some(&false) {
        check_cluster(ctx, &planned.cluster_name, None).await?;
    }
    let Some(prior) = &request.prior else {
        // IAM tells account and ID; a role that is replaced has another identity than the one before it.
        plan.identity = None;
        planned.trust_policy_json = known_region(ctx).map(|region| trust(partition_of(&region)));
        beside(planned, &NodeRole::default());
        return Ok(());
    };
    // The partition of a role that is there is in its ARN.
    let arn = prior.role.arn.as_str().unwrap_or_default();
    let wanted = match partition(arn) {
        Some(partition) => Field::Known(trust(partition)),
        None => Field::Unknown,
    };
    planned.trust_policy_json = keep_words(wanted, &prior.trust_policy_json);
    beside(planned, prior);
    Ok(())
}

/// Access entry and instance profile: null without, unknown when they will be made, else as they are.
fn beside(planned: &mut NodeRole, prior: &NodeRole) {
    let entry_changes = planned.cluster_name != prior.cluster_name
        || planned.access_entry_type != prior.access_entry_type
        || !prior.access_entry_arn.is_known();
    match planned.create_access_entry {
        Field::Known(false) => planned.access_entry_arn = Field::Null,
        Field::Known(true) if !entry_changes => {}
        _ => planned.access_entry_arn = Field::Unknown,
    }
    match planned.create_instance_profile {
        Field::Known(true) if prior.instance_profile_arn.is_known() => {}
        Field::Known(true) => {
            planned.instance_profile_name = planned.role.name.clone();
            planned.instance_profile_arn = Field::Unknown;
        }
        Field::Known(false) | Field::Null => {
            planned.instance_profile_name = Field::Null;
            planned.instance_profile_arn = Field::Null;
        }
        Field::Unknown => {
            planned.instance_profile_name = Field::Unknown;
            planned.instance_profile_arn = Field::Unknown;
        }
    }
}

/// The trust policy in a partition.
pub(super) fn trust(partition: &str) -> String {
    node_trust(partition).to_json()
}

/// The partition, for an apply.
pub(super) async fn partition_now(aws: &Aws, model: &NodeRole) -> Result<String, Diagnostics> {
    if let Some(partition) = model.role.arn.as_str().and_then(partition) {
        return Ok(partition.to_owned());
    }
    let region = aws
        .region()
        .await
        .map_err(|error| report::aws("The region is not known", &error))?;
    Ok(partition_of(&region).to_owned())
}
