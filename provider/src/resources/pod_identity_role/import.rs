//! Importing by role name: what our tag and the controller's policy tell; the association is found by the tag.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::provider::Joiner;
use crate::roles::{self, CONTROLLER_POLICY, ControllerAttributes, RoleIdentity};
use tfplugin::{Context, Diagnostic, Diagnostics, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<PodIdentityRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let (role, hanging) = roles::find(aws, by).await?;
    let controller = ControllerAttributes::of_owner(role.tags.get(OWNER_TAG));
    if controller.cluster_name.is_null() {
        ctx.report(Diagnostic::warning(
            format!("Role {} does not tell its cluster", role.name),
            format!(
                "It has no tag {OWNER_TAG}, as roles that this resource made have. The first apply writes tag, policies and association as \
                 the configuration says."
            ),
        ));
    }
    let model = PodIdentityRole {
        role: roles::imported(aws, (&role, &hanging), OWNER_TAG, &[CONTROLLER_POLICY]),
        controller: controller.granted_by(&hanging),
        ..PodIdentityRole::default()
    };
    Ok(vec![State {
        identity: RoleIdentity::of(&model.role),
        ..State::new(model)
    }])
}
