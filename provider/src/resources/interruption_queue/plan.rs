//! Planning: what the queue and its rules shall be is known before they are, but for the account in the policy.

use super::documents::{encryption_word, owner_tag, policy, rule_names, wanted};
use super::identity::QueueIdentity;
use super::schema::InterruptionQueue;
use crate::provider::Joiner;
use crate::roles::{keep_words, planned_tags};
use tfplugin::{Context, Diagnostics, Field, Plan, PlanRequest};

/// Completes the plan.
pub(super) async fn plan(
    ctx: &Context<Joiner>,
    request: &PlanRequest<InterruptionQueue>,
    plan: &mut Plan<InterruptionQueue, QueueIdentity>,
) -> Result<(), Diagnostics> {
    let planned = &mut plan.planned;
    if planned.id.is_unknown() {
        planned.id = planned.name.clone();
    }
    // Not configured: it follows the name.
    if request.config.rule_name_prefix.is_null() {
        planned.rule_name_prefix = planned.name.clone();
    }
    planned.tags_all = planned_tags(ctx, &planned.tags, owner_tag(planned));
    planned.rules = rule_names(&planned.rule_name_prefix);
    planned.encryption = match planned.kms_key_id {
        Field::Unknown => Field::Unknown,
        _ => encryption_word(&wanted(planned).encryption).into(),
    };
    let Some(prior) = &request.prior else {
        // SQS tells account and region.
        plan.identity = None;
        return Ok(());
    };
    if let Some(arn) = prior.arn.as_str()
        && let Ok(policy) = policy(arn)
    {
        planned.policy_json = keep_words(Field::Known(policy), &prior.policy_json);
    }
    Ok(())
}
