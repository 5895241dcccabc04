//! Making, changing and deleting a role with what hangs on it.

use super::attributes::RoleAttributes;
use super::spec::RoleSpec;
use crate::provider::Joiner;
use crate::report;
use joiner_aws::policy::same_meaning;
use joiner_aws::{Aws, Error, iam};
use tfplugin::{Context, Diagnostic, Diagnostics, Field};

/// Makes the role with its policies, and fills in ARN and unique ID. What could not be put on it is reported: the role exists then, so it
/// goes into the state whatever happens.
///
/// A role of this name is an error, but for one that carries the owner's tag with the same value: that is what a killed run left, and it
/// is finished.
pub(crate) async fn make(
    ctx: &Context<Joiner>,
    aws: &Aws,
    role: &mut RoleAttributes,
    spec: &RoleSpec,
    owner_tag: &str,
) -> Result<(), Diagnostics> {
    let new = iam::NewRole {
        name: spec.name.clone(),
        path: spec.path.clone(),
        description: spec.description.clone(),
        trust: spec.trust.clone(),
        boundary: spec.boundary.clone(),
        max_session_seconds: None,
        tags: spec.tags.clone(),
    };
    let (made, before) = match iam::create_role(aws, &new).await {
        Ok(made) => (made, None),
        Err(Error::AlreadyExists(_)) => {
            let found = left_over(aws, spec, owner_tag).await?;
            let before = as_left(&found, spec, owner_tag);
            (found, Some(before))
        }
        Err(error) => return Err(report::aws("The role was not created", &error)),
    };
    role.id = role.name.clone();
    role.arn = Field::Known(made.arn);
    role.unique_id = Field::Known(made.id);
    let completed = match &before {
        None => attach(aws, &RoleSpec::default(), spec).await,
        Some(before) => change(aws, before, spec).await,
    };
    if let Err(error) = completed {
        ctx.report(Diagnostic::error(
            format!("Role {} is incomplete", spec.name),
            format!("It was created, but its policies were not all put on it: {error}. The next apply makes it anew."),
        ));
    }
    Ok(())
}

/// Our own role, left by a run that was killed; anyone else's is an error.
async fn left_over(aws: &Aws, spec: &RoleSpec, owner_tag: &str) -> Result<iam::Role, Diagnostics> {
    let name = &spec.name;
    let found = iam::get_role(aws, name)
        .await
        .map_err(|error| report::aws("The role was not created", &error))?;
    let taken = |arn: &str| {
        let mut found = Diagnostics::new();
        found.error_at(
            "name",
            "The role name is taken",
            format!(
                "{arn} exists and was not made by this resource; it was not touched. Choose another name, or import the role (ID: {name}) \
                 if it is meant to be this one."
            ),
        );
        found
    };
    let owner = spec.tags.get(owner_tag).map_or("", String::as_str);
    match found {
        Some(found) if found.ownership(owner_tag, owner) == iam::Ownership::Ours => {
            tracing::info!(role = name, "finishing a role that an earlier run left");
            Ok(found)
        }
        Some(found) => Err(taken(&found.arn)),
        None => Err(taken(&format!("role {name}"))),
    }
}

/// A role that an earlier run left, as far as it can be told from the role itself.
fn as_left(found: &iam::Role, spec: &RoleSpec, owner_tag: &str) -> RoleSpec {
    let trust = if same_meaning(&found.trust, &spec.trust) {
        &spec.trust
    } else {
        &found.trust
    };
    let owner = spec.tags.get_key_value(owner_tag);
    RoleSpec {
        name: spec.name.clone(),
        path: spec.path.clone(),
        description: found.description.clone(),
        trust: trust.clone(),
        boundary: found.boundary.clone(),
        tags: owner
            .map(|(key, value)| (key.clone(), value.clone()))
            .into_iter()
            .collect(),
        ..RoleSpec::default()
    }
}

/// What a change that stopped half-way says.
pub(crate) fn unfinished(error: Error) -> Diagnostics {
    report::aws(
        "The role was not wholly changed; the next plan shows what is left to do",
        &error,
    )
}

/// Changes what differs between two specs of one role.
pub(crate) async fn change(aws: &Aws, before: &RoleSpec, after: &RoleSpec) -> Result<(), Error> {
    let name = &after.name;
    if after.trust != before.trust {
        iam::set_trust(aws, name, &after.trust).await?;
    }
    if after.description != before.description {
        iam::set_description(aws, name, &after.description).await?;
    }
    if after.boundary != before.boundary {
        iam::set_boundary(aws, name, after.boundary.as_deref()).await?;
    }
    if after.tags != before.tags {
        // Only tags that we set before are taken away: others belong to someone else.
        iam::set_role_tags(aws, name, &before.tags, &after.tags).await?;
    }
    attach(aws, before, after).await
}

/// Makes inline and attached policies those of `after`; takes away only what `before` had.
async fn attach(aws: &Aws, before: &RoleSpec, after: &RoleSpec) -> Result<(), Error> {
    let name = &after.name;
    for (policy, document) in &after.inline {
        if before.inline.get(policy) != Some(document) {
            iam::put_inline_policy(aws, name, policy, document).await?;
        }
    }
    for policy in before
        .inline
        .keys()
        .filter(|policy| !after.inline.contains_key(*policy))
    {
        iam::delete_inline_policy(aws, name, policy).await?;
    }
    for arn in after.attached.difference(&before.attached) {
        iam::attach_policy(aws, name, arn).await?;
    }
    for arn in before.attached.difference(&after.attached) {
        iam::detach_policy(aws, name, arn).await?;
    }
    Ok(())
}

/// Whether the role is there to be deleted. One that someone made anew is left alone, with a warning; one on which something hangs that is
/// not in `ours` is an error that names it.
pub(crate) async fn deletable(
    ctx: &Context<Joiner>,
    aws: &Aws,
    role: &RoleAttributes,
    ours: &iam::Attachments,
) -> Result<bool, Diagnostics> {
    let name = role.name.as_str().unwrap_or_default();
    let failed = |error: Error| report::aws("The role was not deleted", &error);
    let Some(there) = iam::get_role(aws, name).await.map_err(failed)? else {
        return Ok(false);
    };
    if role.unique_id.as_str().is_some_and(|id| id != there.id) {
        ctx.report(Diagnostic::warning(
            format!("Role {name} was left alone"),
            format!(
                "{} is another role than the one in the state: someone made it anew. Ours is gone.",
                there.arn
            ),
        ));
        return Ok(false);
    }
    let foreign = iam::attachments(aws, name).await.map_err(failed)?.foreign(ours);
    if foreign.is_empty() {
        return Ok(true);
    }
    Err(Diagnostics::error(
        format!("Role {name} is used by others"),
        format!(
            "It cannot be deleted while this hangs on it, which this resource did not put there: {}. Remove it, then destroy again. \
             Nothing was changed.",
            foreign.join(", ")
        ),
    ))
}

/// Deletes the role with the policies of `ours`. Its instance profiles are gone before.
pub(crate) async fn delete(aws: &Aws, name: &str, ours: &iam::Attachments) -> Result<(), Diagnostics> {
    let failed = |error: Error| report::aws("The role was not deleted", &error);
    for policy in ours.inline.keys() {
        iam::delete_inline_policy(aws, name, policy)
            .await
            .map_err(failed)?;
    }
    for arn in &ours.policies {
        iam::detach_policy(aws, name, arn).await.map_err(failed)?;
    }
    iam::delete_role(aws, name).await.map_err(failed)?;
    Ok(())
}
