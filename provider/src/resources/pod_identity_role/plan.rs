//! Planning: the policies are made here, as far as partition, account and region are known, so that the plan shows them.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::provider::{Joiner, known_region};
use crate::report;
use crate::roles::{
    Place, RoleIdentity, account, check_cluster, controller_policy, keep_words, partition, planned_for,
    planned_tags,
};
use joiner_aws::policy::pod_identity_trust;
use joiner_aws::sts;
use tfplugin::{Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<PodIdentityRole>,
    plan: &mut Plan<PodIdentityRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let planned = &mut plan.planned;
    if planned.role.id.is_unknown() {
        planned.role.id = planned.role.name.clone();
    }
    planned.role.tags_all = planned_tags(ctx, &planned.role.tags, planned.controller.owner_tag(OWNER_TAG));
    planned_for(
        ctx,
        "joiner_pod_identity_role",
        &planned.role,
        &planned.controller,
    );
    if plan.changed || request.prior.is_none() {
        check_cluster(ctx, &planned.controller.cluster_name, None).await?;
    }
    let trust = Field::Known(pod_identity_trust().to_json());
    let Some(prior) = &request.prior else {
        // IAM tells account and ID; a role that is replaced has another identity than the one before it.
        plan.identity = None;
        planned.controller.trust_policy_json = trust;
        return Ok(());
    };
    planned.controller.trust_policy_json = keep_words(trust, &prior.controller.trust_policy_json);
    if is_another(prior, planned) || !prior.association_id.is_known() {
        planned.association_id = Field::Unknown;
        planned.association_arn = Field::Unknown;
    }
    let policy = controller_policy(&planned.controller, place(ctx, prior, planned));
    let unchanged = policy.is_unknown()
        && planned.controller.policy_json == prior.controller.policy_json
        && !plan.changed;
    if !unchanged {
        planned.controller.policy_json = keep_words(policy, &prior.controller.policy_json);
    }
    Ok(())
}

/// Whether the association is one of another service account, or in another cluster.
pub(super) fn is_another(prior: &PodIdentityRole, planned: &PodIdentityRole) -> bool {
    let key = |model: &PodIdentityRole| {
        let controller = &model.controller;
        (
            controller.cluster_name.clone(),
            controller.namespace.clone(),
            controller.service_account.clone(),
        )
    };
    key(prior) != key(planned)
}

/// Where the cluster is, as far as it is known without a call: partition and account by the role, the region as set or by the association.
fn place(ctx: &Context<Joiner>, prior: &PodIdentityRole, planned: &PodIdentityRole) -> Field<Place> {
    let region = match &planned.region {
        Field::Null => match prior
            .association_arn
            .as_str()
            .and_then(|arn| arn.split(':').nth(3))
        {
            Some(region) => Field::Known(region.to_owned()),
            None => known_region(ctx),
        },
        decided => decided.clone(),
    };
    let arn = prior.role.arn.as_str().unwrap_or_default();
    match (partition(arn), account(arn), region.into_known()) {
        (Some(partition), Some(account), Some(region)) => Field::Known(Place {
            partition: partition.to_owned(),
            account: account.to_owned(),
            region,
        }),
        _ => Field::Unknown,
    }
}

/// Where the cluster is, for an apply.
pub(super) async fn place_now(data: &Joiner, model: &PodIdentityRole) -> Result<Place, Diagnostics> {
    let aws = data.aws()?;
    let region = match model.region.as_str() {
        Some(region) => region.to_owned(),
        None => aws
            .region()
            .await
            .map_err(|error| report::aws("The region is not known", &error))?,
    };
    let caller = sts::identity(aws)
        .await
        .map_err(|error| report::aws("The account is not known", &error))?;
    Ok(Place {
        partition: caller.partition,
        account: caller.account,
        region,
    })
}
