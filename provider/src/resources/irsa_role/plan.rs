//! Planning: the policies are made here, so that the plan shows them, as far as what they need is known.

use super::documents::{OWNER_TAG, ProviderArn, policy, trust};
use super::schema::IrsaRole;
use crate::provider::{Joiner, known_region};
use crate::roles::{RoleIdentity, Trusted, check_cluster, keep_words, planned_for, planned_tags};
use tfplugin::{Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<IrsaRole>,
    plan: &mut Plan<IrsaRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let region = region(ctx, &plan.planned);
    let planned = &mut plan.planned;
    if planned.role.id.is_unknown() {
        planned.role.id = planned.role.name.clone();
    }
    if request.prior.is_none() {
        // IAM tells account and id; a role that is replaced has another identity than the one before it.
        plan.identity = None;
    }
    planned.role.tags_all = planned_tags(ctx, &planned.role.tags, planned.controller.owner_tag(OWNER_TAG));
    planned_for(ctx, "joiner_irsa_role", &planned.role, &planned.controller);
    if plan.changed || request.prior.is_none() {
        let arn = planned
            .oidc_provider_arn
            .as_str()
            .and_then(|arn| ProviderArn::parse(arn).ok());
        let trusted = arn.map(|arn| Trusted {
            issuer: arn.issuer,
            region: arn.region(),
        });
        check_cluster(ctx, &planned.controller.cluster_name, trusted).await?;
    }
    let prior = request.prior.clone().unwrap_or_default();
    let wrong = |problem: String| {
        let mut found = Diagnostics::new();
        found.error_at("oidc_provider_arn", "Not an OIDC provider", format!("{problem}."));
        found
    };
    let trust = trust(planned).map_err(wrong)?;
    planned.controller.trust_policy_json = keep_words(trust, &prior.controller.trust_policy_json);
    let policy = policy(planned, region).map_err(wrong)?;
    // A region that only the apply will find is no reason to change what was made with it before.
    let (planned, prior) = (&mut planned.controller, &prior.controller);
    let unchanged = policy.is_unknown() && planned.policy_json == prior.policy_json && !plan.changed;
    if !unchanged {
        planned.policy_json = keep_words(policy, &prior.policy_json);
    }
    Ok(())
}

/// The cluster's region as far as it is known without a call: set, in the issuer's name, or the provider's.
fn region(ctx: &Context<Joiner>, role: &IrsaRole) -> Field<String> {
    match &role.region {
        Field::Null => {}
        decided => return decided.clone(),
    }
    let arn = match &role.oidc_provider_arn {
        Field::Known(arn) => arn,
        _ => return Field::Unknown,
    };
    if let Some(region) = ProviderArn::parse(arn).ok().and_then(|arn| arn.region()) {
        return region.into();
    }
    known_region(ctx)
}

/// The cluster's region for an apply.
pub(super) async fn region_now(data: &Joiner, role: &IrsaRole) -> Result<String, Diagnostics> {
    if let Some(region) = role.region.as_str() {
        return Ok(region.to_owned());
    }
    let arn = role.oidc_provider_arn.as_str().unwrap_or_default();
    if let Some(region) = ProviderArn::parse(arn).ok().and_then(|arn| arn.region()) {
        return Ok(region.to_owned());
    }
    data.aws()?
        .region()
        .await
        .map_err(|error| crate::report::aws("The region is not known", &error))
}
