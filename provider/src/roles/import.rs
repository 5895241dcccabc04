//! Finding a role to import.

use super::identity::{RoleIdentity, account};
use crate::report;
use joiner_aws::Aws;
use joiner_aws::iam::{Role, get_role};
use tfplugin::{Diagnostics, ImportBy};

/// The role with the name that is the ID, or of the identity.
pub(crate) async fn find(aws: &Aws, by: ImportBy<RoleIdentity>) -> Result<Role, Diagnostics> {
    let (name, wanted) = match by {
        ImportBy::Id(name) => (name, None),
        ImportBy::Identity(RoleIdentity { name, account_id }) => {
            (name.known_or_default(), account_id.into_known())
        }
    };
    let found = get_role(aws, &name)
        .await
        .map_err(|error| report::aws("The role was not read", &error))?;
    let Some(role) = found else {
        return Err(Diagnostics::error(
            format!("There is no role {name:?}"),
            "The account has none of this name. The ID is the role's name, not its ARN.",
        ));
    };
    let here = account(&role.arn);
    if wanted.is_some() && here != wanted.as_deref() {
        return Err(Diagnostics::error(
            format!("Role {name:?} is in another account"),
            format!(
                "The identity names account {}, and the provider reaches {}, with account {}. Use the credentials, or the assume_role, of \
                 the account that is meant.",
                wanted.unwrap_or_default(),
                role.arn,
                here.unwrap_or("unknown")
            ),
        ));
    }
    Ok(role)
}
