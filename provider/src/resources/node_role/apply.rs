//! Creating, changing and deleting the role, its access entry and its instance profile.

use super::access::{admit, bar};
use super::documents::{owner_tag, spec};
use super::plan::{partition_now, trust};
use super::schema::NodeRole;
use super::{OWNER_TAG, profile};
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, RoleIdentity, tags_all, unfinished};
use joiner_aws::iam::Attachments;
use joiner_aws::{Aws, Error, profiles};
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, State};

/// Creates the role, then what stands beside it.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<NodeRole, RoleIdentity>,
) -> Result<State<NodeRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = request.planned;
    let partition = finish(&data, &mut model).await?;
    let wanted = spec(&model, &partition);
    roles::make(ctx, aws, &mut model.role, &wanted, OWNER_TAG).await?;
    // The role is there: whatever happens now, it goes into the state.
    if let Err(problem) = profile_and_entry(ctx, aws, &NodeRole::default(), &mut model).await {
        ctx.report_all(problem);
    }
    without_unknowns(&mut model);
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Changes what differs between the state and the plan.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<NodeRole, RoleIdentity>,
    request: ApplyRequest<NodeRole, RoleIdentity>,
) -> Result<State<NodeRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = request.planned;
    let partition = finish(&data, &mut model).await?;
    roles::change(aws, &spec(&prior.model, &partition), &spec(&model, &partition))
        .await
        .map_err(unfinished)?;
    profile_and_entry(ctx, aws, &prior.model, &mut model).await?;
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Makes instance profile and access entry what the plan says.
async fn profile_and_entry(
    ctx: &Context<Joiner>,
    aws: &Aws,
    prior: &NodeRole,
    model: &mut NodeRole,
) -> Result<(), Diagnostics> {
    if model.create_instance_profile.known() == Some(&true) && !model.instance_profile_arn.is_known() {
        let made = profile::make(aws, model).await?;
        model.instance_profile_name = Field::Known(made.name);
        model.instance_profile_arn = Field::Known(made.arn);
    } else if model.create_instance_profile.known() != Some(&true)
        && let Some(name) = prior.instance_profile_name.as_str()
    {
        profiles::delete(aws, name).await.map_err(unfinished)?;
    }
    let admitted = model.create_access_entry.known() != Some(&false);
    if admitted && model.access_entry_arn.is_known() {
        return Ok(());
    }
    bar(aws, prior).await.map_err(unfinished)?;
    if admitted {
        let made = admit(aws, model, ctx.cancellation()).await?;
        model.access_entry_arn = Field::Known(made.arn);
    }
    Ok(())
}

fn without_unknowns(model: &mut NodeRole) {
    for field in [
        &mut model.access_entry_arn,
        &mut model.instance_profile_name,
        &mut model.instance_profile_arn,
    ] {
        if field.is_unknown() {
            *field = Field::Null;
        }
    }
}

/// Deletes entry, profiles and role, unless something hangs on the role that neither we nor the cluster's controller put there.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<NodeRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let data = ctx.ready()?;
    let (aws, model) = (data.aws()?, &state.model);
    let failed = |error: Error| report::aws("The role was not deleted", &error);
    let partition = partition_now(aws, model).await?;
    let made = spec(model, &partition);
    let of_cluster = profile::of_cluster(aws, model).await.map_err(failed)?;
    let ours = Attachments {
        profiles: of_cluster,
        ..made.attachments()
    };
    let is_there = roles::deletable(ctx, aws, &model.role, &ours).await?;
    bar(aws, model).await.map_err(failed)?;
    if !is_there {
        return Ok(());
    }
    for name in &ours.profiles {
        profiles::delete(aws, name).await.map_err(failed)?;
        if model.instance_profile_name.as_str() != Some(name) {
            ctx.report(Diagnostic::warning(
                format!("Instance profile {name} was deleted"),
                format!(
                    "A controller of cluster {} made it and left it on the role: its EC2NodeClass was not deleted, or not while a controller \
                     ran.",
                    model.cluster_name.as_str().unwrap_or_default()
                ),
            ));
        }
    }
    roles::delete(aws, &made.name, &ours).await
}

/// Fills in what only the apply knows; answers the partition.
async fn finish(data: &Joiner, model: &mut NodeRole) -> Result<String, Diagnostics> {
    let partition = partition_now(data.aws()?, model).await?;
    if !model.trust_policy_json.is_known() {
        model.trust_policy_json = Field::Known(trust(&partition));
    }
    if model.role.tags_all.is_unknown() {
        model.role.tags_all = tags_all(&data.default_tags, &model.role.tags, owner_tag(model));
    }
    model.role.id = model.role.name.clone();
    Ok(partition)
}
