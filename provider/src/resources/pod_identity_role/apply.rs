//! Creating, changing and deleting role and association.

use super::OWNER_TAG;
use super::association::{associate, dissociate};
use super::plan::{is_another, place_now};
use super::schema::PodIdentityRole;
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, RoleIdentity, RoleSpec, controller_policy, tags_all};
use joiner_aws::policy::pod_identity_trust;
use tfplugin::{ApplyRequest, Context, Diagnostics, Field, State};

/// Creates the role and what hangs on it, then the association.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<PodIdentityRole, RoleIdentity>,
) -> Result<State<PodIdentityRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = finish(&data, request.planned).await?;
    let wanted = spec(&model);
    roles::make(ctx, aws, &mut model.role, &wanted, OWNER_TAG).await?;
    // The role is there: whatever happens now, it goes into the state.
    match associate(aws, &model, ctx.cancellation()).await {
        Ok(made) => {
            model.association_id = Field::Known(made.id);
            model.association_arn = Field::Known(made.arn);
        }
        Err(problem) => {
            model.association_id = Field::Null;
            model.association_arn = Field::Null;
            ctx.report_all(problem);
        }
    }
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Changes what differs between the state and the plan.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<PodIdentityRole, RoleIdentity>,
    request: ApplyRequest<PodIdentityRole, RoleIdentity>,
) -> Result<State<PodIdentityRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = finish(&data, request.planned).await?;
    roles::change(aws, &spec(&prior.model), &spec(&model))
        .await
        .map_err(roles::unfinished)?;
    if !model.association_id.is_known() {
        if is_another(&prior.model, &model) {
            dissociate(aws, &prior.model).await.map_err(roles::unfinished)?;
        }
        let made = associate(aws, &model, ctx.cancellation()).await?;
        model.association_id = Field::Known(made.id);
        model.association_arn = Field::Known(made.arn);
    }
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Deletes association and role, unless something hangs on the role that we did not put there.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<PodIdentityRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let made = spec(&state.model);
    let ours = made.attachments();
    let is_there = roles::deletable(ctx, aws, &state.model.role, &ours).await?;
    dissociate(aws, &state.model)
        .await
        .map_err(|error| report::aws("The association was not deleted", &error))?;
    if is_there {
        roles::delete(aws, &made.name, &ours).await?;
    }
    Ok(())
}

fn spec(model: &PodIdentityRole) -> RoleSpec {
    model.controller.spec(&model.role)
}

/// The planned role with its policies filled in when account or region were not known at plan.
async fn finish(data: &Joiner, mut model: PodIdentityRole) -> Result<PodIdentityRole, Diagnostics> {
    if !model.controller.policy_json.is_known() {
        let place = place_now(data, &model).await?;
        model.controller.policy_json = controller_policy(&model.controller, Field::Known(place));
    }
    if !model.controller.trust_policy_json.is_known() {
        model.controller.trust_policy_json = Field::Known(pod_identity_trust().to_json());
    }
    if model.role.tags_all.is_unknown() {
        model.role.tags_all = tags_all(
            &data.default_tags,
            &model.role.tags,
            model.controller.owner_tag(OWNER_TAG),
        );
    }
    model.role.id = model.role.name.clone();
    Ok(model)
}
