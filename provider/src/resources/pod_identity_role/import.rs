//! Importing by role name: what our tag tells; the association is found by it.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::provider::Joiner;
use crate::roles::{self, ControllerAttributes, RoleAttributes, RoleIdentity};
use tfplugin::{Context, Diagnostic, Diagnostics, Field, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<PodIdentityRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    let role = roles::find(data.aws()?, by).await?;
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
        role: RoleAttributes {
            id: Field::Known(role.name.clone()),
            name: Field::Known(role.name.clone()),
            arn: Field::Known(role.arn),
            ..RoleAttributes::default()
        },
        controller: ControllerAttributes {
            manage_instance_profiles: Field::Known(true),
            ..controller
        },
        ..PodIdentityRole::default()
    };
    Ok(vec![State {
        identity: RoleIdentity::of(&model.role),
        ..State::new(model)
    }])
}
