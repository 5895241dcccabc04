//! Creating, changing and deleting the role.

use super::documents::{OWNER_TAG, policy};
use super::plan::region_now;
use super::schema::IrsaRole;
use crate::provider::Joiner;
use crate::roles::{self, RoleIdentity, RoleSpec, tags_all};
use tfplugin::{ApplyRequest, Context, Diagnostics, Field, State};

/// Creates the role and what hangs on it.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<IrsaRole, RoleIdentity>,
) -> Result<State<IrsaRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = finish(&data, request.planned).await?;
    let wanted = spec(&model);
    roles::make(ctx, aws, &mut model.role, &wanted, OWNER_TAG).await?;
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Changes what differs between the state and the plan.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<IrsaRole, RoleIdentity>,
    request: ApplyRequest<IrsaRole, RoleIdentity>,
) -> Result<State<IrsaRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let model = finish(&data, request.planned).await?;
    roles::change(aws, &spec(&prior.model), &spec(&model))
        .await
        .map_err(roles::unfinished)?;
    Ok(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: request.private,
    })
}

/// Deletes the role, unless something hangs on it that we did not put there.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<IrsaRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let made = spec(&state.model);
    let ours = made.attachments();
    if roles::deletable(ctx, aws, &state.model.role, &ours).await? {
        roles::delete(aws, &made.name, &ours).await?;
    }
    Ok(())
}

fn spec(model: &IrsaRole) -> RoleSpec {
    model.controller.spec(&model.role)
}

/// The planned role with the policy filled in when its region was not known at plan.
async fn finish(data: &Joiner, mut model: IrsaRole) -> Result<IrsaRole, Diagnostics> {
    if !model.controller.policy_json.is_known() {
        let region = region_now(data, &model).await?;
        model.controller.policy_json = policy(&model, Field::Known(region))
            .map_err(|problem| Diagnostics::error("No policy could be made", problem))?;
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
