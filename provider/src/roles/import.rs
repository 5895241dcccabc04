//! Finding a role to import, and what it becomes.
//!
//! An import takes a role over with all that is on it, whoever put it there: the plan after it shows what the configuration leaves out.

use super::attributes::RoleAttributes;
use super::identity::{RoleIdentity, account};
use crate::report;
use joiner_aws::Aws;
use joiner_aws::iam::{Attachments, Role, attachments, get_role};
use joiner_aws::tags::Tags;
use tfplugin::{Diagnostics, Field, ImportBy};

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
    RoleAttributes {
        id: Field::Known(role.name.clone()),
        name: Field::Known(role.name.clone()),
        arn: Field::Known(role.arn.clone()),
        tags: imported_tags(&aws.settings().default_tags, &role.tags, owner_tag),
        policies: Field::from_option((!policies.is_empty()).then_some(policies)),
        policy_arns: Field::from_option((!arns.is_empty()).then_some(arns)),
        ..RoleAttributes::default()
    }
}

/// The attribute `tags` of what has the tags `found`: without `owner_tag`, which the resource itself sets, without the provider's
/// `defaults`, and without those that are AWS' own. One that repeats a default counts as the default's.
pub(crate) fn imported_tags(defaults: &Tags, found: &Tags, owner_tag: &str) -> Field<Tags> {
    let mut tags = found.clone();
    tags.retain(|key, value| {
        key != owner_tag && !key.starts_with("aws:") && defaults.get(key) != Some(value)
    });
    Field::from_option((!tags.is_empty()).then_some(tags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tags(json: serde_json::Value) -> Tags {
        serde_json::from_value(json).expect("texts")
    }

    #[test]
    fn tags_are_those_that_nothing_else_sets() {
        let defaults = tags(json!({ "team": "a", "stage": "dev" }));
        for (found, want) in [
            (json!({ "team": "a", "o": "c", "aws:cf": "x" }), Field::Null),
            (
                json!({ "team": "b", "stage": "dev", "cost": "1", "o": "c" }),
                Field::Known(tags(json!({ "cost": "1", "team": "b" }))),
            ),
        ] {
            let found = tags(found);
            assert_eq!(imported_tags(&defaults, &found, "o"), want);
        }
    }
}
