//! Reading the role: what is there, in the words of the state where it means the same.

use super::documents::OWNER_TAG;
use super::schema::IrsaRole;
use crate::provider::Joiner;
use crate::roles::{self, RoleIdentity, stored_tags};
use joiner_aws::iam::{Attachments, Role};
use tfplugin::{Context, Diagnostics, State};

/// A stored role; the first releases stored no `tags_all`.
pub(super) fn stored(ctx: &Context<Joiner>, mut model: IrsaRole) -> IrsaRole {
    let owner = model.controller.owner_tag(OWNER_TAG);
    model.role.tags_all = stored_tags(ctx, model.role.tags_all, &model.role.tags, owner);
    model
}

/// The state of the role now; `None` when it is gone. While AWS is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<IrsaRole, RoleIdentity>,
) -> Result<Option<State<IrsaRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.aws.is_unknown() {
        return Ok(Some(state));
    }
    let found = roles::present(ctx, data.aws()?, &state.model.role, OWNER_TAG).await?;
    let Some((role, hanging)) = found else {
        return Ok(None);
    };
    let model = merge(&state.model, &role, &hanging);
    Ok(Some(State {
        identity: RoleIdentity::of(&model.role),
        model,
        private: state.private,
    }))
}

fn merge(prior: &IrsaRole, role: &Role, hanging: &Attachments) -> IrsaRole {
    IrsaRole {
        role: roles::merge(&prior.role, role, hanging),
        controller: prior.controller.as_found(role, hanging),
        ..prior.clone()
    }
}
