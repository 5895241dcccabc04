//! Finding a role to import, and what it becomes.
//!
//! An import takes a role over with all that is on it, whoever put it there: the plan after it shows what the configuration leaves out.

use super::attributes::RoleAttributes;
use super::identity::{RoleIdentity, account};
use super::tags::imported_tags;
use crate::provider::Joiner;
use crate::report;
use joiner_aws::Aws;
use joiner_aws::iam::{Attachments, Role, attachments, get_role};
use tfplugin::{Context, Diagnostic, Diagnostics, Field, ImportBy};

/// What the tags begin with by which our resources know their roles.
const OURS: &str = "joiner.dev/";

/// The role with the name that is the ID, or of the identity, and what hangs on it.
pub(crate) async fn find(aws: &Aws, by: ImportBy<RoleIdentity>) -> Result<(Role, Attachments), Diagnostics> {
    let (name, wanted) = match by {
        ImportBy::Id(name) => (name, None),
        ImportBy::Identity(RoleIdentity { name, account_id }) => {
            (name.known_or_default(), account_id.into_known())
        }
    };
    let failed = |error: joiner_aws::Error| report::aws("The role was not read", &error);
    let found = get_role(aws, &name).await.map_err(failed)?;
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
    let hanging = attachments(aws, &name).await.map_err(failed)?;
    Ok((role, hanging))
}

/// Warns of a role that the resource whose tag `owner_tag` is did not make: it may be meant for another resource. `what` is what the first apply
/// writes.
pub(crate) fn warn_of_another(ctx: &Context<Joiner>, role: &Role, owner_tag: &str, what: &str) {
    if role.tags.contains_key(owner_tag) {
        return;
    }
    let others = role
        .tags
        .keys()
        .filter(|key| key.starts_with(OURS))
        .map(String::as_str);
    let others: Vec<&str> = others.collect();
    let other = match others.as_slice() {
        [] => String::new(),
        others => format!(
            " It has {} instead, the tag of another resource: import it there.",
            others.join(" and ")
        ),
    };
    ctx.report(Diagnostic::warning(
        format!("Role {} does not tell its cluster", role.name),
        format!(
            "It has no tag {owner_tag}, as roles that this resource made have.{other} The first apply writes {what} as the configuration says."
        ),
    ));
}

/// A found role as attributes. `owner_tag` and `own_policies`, inline ones, are what the resource itself sets.
pub(crate) fn imported(
    aws: &Aws,
    (role, hanging): (&Role, &Attachments),
    owner_tag: &str,
    own_policies: &[&str],
) -> RoleAttributes {
    let mut policies = hanging.inline.clone();
    policies.retain(|name, _| !own_policies.contains(&name.as_str()));
    let arns = hanging.policies.clone();
    let (tags, tags_all) = imported_tags(&aws.settings().default_tags, &role.tags, owner_tag);
    RoleAttributes {
        id: Field::Known(role.name.clone()),
        name: Field::Known(role.name.clone()),
        arn: Field::Known(role.arn.clone()),
        tags,
        tags_all,
        policies: Field::from_option((!policies.is_empty()).then_some(policies)),
        policy_arns: Field::from_option((!arns.is_empty()).then_some(arns)),
        ..RoleAttributes::default()
    }
}
