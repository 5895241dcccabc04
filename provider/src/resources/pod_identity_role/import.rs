//! Importing by role name: what our tag and the controller's policy tell; the association is found by the tag.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, CONTROLLER_POLICY, ControllerAttributes, RoleIdentity};
use tfplugin::{Context, Diagnostics, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<PodIdentityRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let (role, hanging) = roles::find(aws, by).await?;
    let controller = ControllerAttributes::of_owner(role.tags.get(OWNER_TAG));
    roles::warn_of_another(ctx, &role, OWNER_TAG, "tag, policies and association");
    let usual = aws
        .region()
        .await
        .map_err(|error| report::aws("The region is not known", &error))?;
    let model = PodIdentityRole {
        region: roles::granted_region(&hanging, &usual),
        role: roles::imported(aws, (&role, &hanging), OWNER_TAG, &[CONTROLLER_POLICY]),
        controller: controller.granted_by(&hanging),
        ..PodIdentityRole::default()
    };
    Ok(vec![State {
        identity: RoleIdentity::of(&model.role),
        ..State::new(model)
    }])
}
