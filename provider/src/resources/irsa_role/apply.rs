//! Creating, changing and deleting the role.

use super::documents::{CONTROLLER_POLICY, OWNER_TAG, keep_words, owner, policy};
use super::identity::RoleIdentity;
use super::plan::region_now;
use super::schema::IrsaRole;
use crate::provider::Joiner;
use crate::report;
use joiner_aws::tags::Tags;
use joiner_aws::{Aws, Error, iam};
use std::collections::{BTreeMap, BTreeSet};
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, State};

/// Creates the role and what hangs on it.
///
/// A role of this name is an error, but for one that carries our tag for the same service account and cluster: that is what a killed
/// run left, and it is finished.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<IrsaRole, RoleIdentity>,
) -> Result<State<IrsaRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut role = finish(&data, request.planned).await?;
    let new = iam::NewRole {
        name: text(&role.name),
        path: text(&role.path),
        description: text(&role.description),
        trust: text(&role.trust_policy_json),
        boundary: role.permissions_boundary.as_str().map(str::to_owned),
        max_session_seconds: None,
        tags: tags(&role),
    };
    let (made, before) = match iam::create_role(aws, &new).await {
        Ok(made) => (made, None),
        Err(Error::AlreadyExists(_)) => {
            let found = left_over(aws, &role).await?;
            let before = as_left(&found, &role);
            (found, Some(before))
        }
        Err(error) => return Err(report::aws("The role was not created", &error)),
    };
    role.arn = Field::Known(made.arn);
    role.unique_id = Field::Known(made.id);
    // From here on something exists, so it goes into the state whatever happens.
    let completed = match &before {
        None => attach(aws, &IrsaRole::default(), &role).await,
        Some(before) => change(aws, before, &role).await,
    };
    if let Err(error) = completed {
        ctx.report(Diagnostic::error(
            format!("Role {} is incomplete", new.name),
            format!("It was created, but its policies were not all put on it: {error}. The next apply makes it anew."),
        ));
    }
    Ok(State {
        identity: RoleIdentity::of(&role),
        model: role,
        private: request.private,
    })
}

/// Our own role, left by a run that was killed; anyone else's is an error.
async fn left_over(aws: &Aws, role: &IrsaRole) -> Result<iam::Role, Diagnostics> {
    let name = text(&role.name);
    let found = iam::get_role(aws, &name)
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
    match found {
        Some(found) if found.ownership(OWNER_TAG, &owner(role)) == iam::Ownership::Ours => {
            tracing::info!(role = name, "finishing a role that an earlier run left");
            Ok(found)
        }
        Some(found) => Err(taken(&found.arn)),
        None => Err(taken(&format!("role {name}"))),
    }
}

/// A role that an earlier run left, as far as it can be told from the role itself.
fn as_left(found: &iam::Role, role: &IrsaRole) -> IrsaRole {
    IrsaRole {
        description: Field::Known(found.description.clone()),
        permissions_boundary: Field::from_option(found.boundary.clone()),
        trust_policy_json: keep_words(Field::Known(found.trust.clone()), &role.trust_policy_json),
        tags: Field::Null,
        policies: Field::Null,
        policy_arns: Field::Null,
        policy_json: Field::Null,
        ..role.clone()
    }
}

/// Changes what differs between the state and the plan.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<IrsaRole, RoleIdentity>,
    request: ApplyRequest<IrsaRole, RoleIdentity>,
) -> Result<State<IrsaRole, RoleIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let role = finish(&data, request.planned).await?;
    change(aws, &prior.model, &role).await.map_err(|error| {
        report::aws(
            "The role was not wholly changed; the next plan shows what is left to do",
            &error,
        )
    })?;
    Ok(State {
        identity: RoleIdentity::of(&role),
        model: role,
        private: request.private,
    })
}

async fn change(aws: &Aws, prior: &IrsaRole, role: &IrsaRole) -> Result<(), Error> {
    let name = text(&role.name);
    if role.trust_policy_json != prior.trust_policy_json {
        iam::set_trust(aws, &name, &text(&role.trust_policy_json)).await?;
    }
    if role.description != prior.description {
        iam::set_description(aws, &name, &text(&role.description)).await?;
    }
    if role.permissions_boundary != prior.permissions_boundary {
        iam::set_boundary(aws, &name, role.permissions_boundary.as_str()).await?;
    }
    if tags(role) != tags(prior) {
        // Only tags that we set before are taken away: others belong to someone else.
        iam::set_role_tags(aws, &name, &tags(prior), &tags(role)).await?;
    }
    attach(aws, prior, role).await
}

/// Makes inline and attached policies those of `role`; takes away only what `prior` had.
async fn attach(aws: &Aws, prior: &IrsaRole, role: &IrsaRole) -> Result<(), Error> {
    let name = text(&role.name);
    let (before, after) = (inline(prior), inline(role));
    for (policy, document) in &after {
        if before.get(policy) != Some(document) {
            iam::put_inline_policy(aws, &name, policy, document).await?;
        }
    }
    for policy in before.keys().filter(|policy| !after.contains_key(*policy)) {
        iam::delete_inline_policy(aws, &name, policy).await?;
    }
    let (before, after) = (attached(prior), attached(role));
    for arn in after.difference(&before) {
        iam::attach_policy(aws, &name, arn).await?;
    }
    for arn in before.difference(&after) {
        iam::detach_policy(aws, &name, arn).await?;
    }
    Ok(())
}

/// Deletes the role, unless something hangs on it that we did not put there.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<IrsaRole, RoleIdentity>,
) -> Result<(), Diagnostics> {
    let role = &state.model;
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let name = text(&role.name);
    let failed = |error: Error| report::aws("The role was not deleted", &error);
    let there = match iam::get_role(aws, &name).await.map_err(failed)? {
        None => return Ok(()),
        Some(there) => there,
    };
    if role.unique_id.as_str().is_some_and(|id| id != there.id) {
        ctx.report(Diagnostic::warning(
            format!("Role {name} was left alone"),
            format!(
                "{} is another role than the one in the state: someone made it anew. Ours is gone.",
                there.arn
            ),
        ));
        return Ok(());
    }
    let ours = iam::Attachments {
        inline: inline(role),
        policies: attached(role),
        profiles: BTreeSet::new(),
    };
    let foreign = iam::attachments(aws, &name).await.map_err(failed)?.foreign(&ours);
    if !foreign.is_empty() {
        return Err(Diagnostics::error(
            format!("Role {name} is used by others"),
            format!(
                "It cannot be deleted while this hangs on it, which this resource did not put there: {}. Remove it, then destroy again. \
                 Nothing was changed.",
                foreign.join(", ")
            ),
        ));
    }
    for policy in ours.inline.keys() {
        iam::delete_inline_policy(aws, &name, policy)
            .await
            .map_err(failed)?;
    }
    for arn in &ours.policies {
        iam::detach_policy(aws, &name, arn).await.map_err(failed)?;
    }
    iam::delete_role(aws, &name).await.map_err(failed)?;
    Ok(())
}

/// The planned role with the policy filled in when its region was not known at plan.
async fn finish(data: &Joiner, mut role: IrsaRole) -> Result<IrsaRole, Diagnostics> {
    if !role.policy_json.is_known() {
        let region = region_now(data, &role).await?;
        role.policy_json = policy(&role, Field::Known(region))
            .map_err(|problem| Diagnostics::error("No policy could be made", problem))?;
    }
    role.id = role.name.clone();
    Ok(role)
}

pub(super) fn tags(role: &IrsaRole) -> Tags {
    let mut tags: Tags = role.tags.known().cloned().unwrap_or_default();
    tags.insert(OWNER_TAG.to_owned(), owner(role));
    tags
}

fn inline(role: &IrsaRole) -> BTreeMap<String, String> {
    let mut inline = role.policies.known().cloned().unwrap_or_default();
    if let Some(policy) = role.policy_json.as_str().filter(|policy| !policy.is_empty()) {
        inline.insert(CONTROLLER_POLICY.to_owned(), policy.to_owned());
    }
    inline
}

fn attached(role: &IrsaRole) -> BTreeSet<String> {
    role.policy_arns.known().cloned().unwrap_or_default()
}

fn text(field: &Field<String>) -> String {
    field.as_str().unwrap_or_default().to_owned()
}
