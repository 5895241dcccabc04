//! The role itself: identity, trust, boundary, tags.

use super::{document, from_iam_tags, iam_tags};
use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::tags::{Tags, changes};
use aws_sdk_iam::types as iam;

const GET: &str = "iam:GetRole";
const CREATE: &str = "iam:CreateRole";
const DELETE: &str = "iam:DeleteRole";
const UPDATE: &str = "iam:UpdateRole";
const TRUST: &str = "iam:UpdateAssumeRolePolicy";
const TAG: &str = "iam:TagRole";
const UNTAG: &str = "iam:UntagRole";
const PUT_BOUNDARY: &str = "iam:PutRolePermissionsBoundary";
const DELETE_BOUNDARY: &str = "iam:DeleteRolePermissionsBoundary";

/// A role as IAM knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// IAM's id of this very role; a role of the same name made later has another one.
    pub id: String,
    /// Its path, `/` by default.
    pub path: String,
    /// Its description; empty without one.
    pub description: String,
    /// Its trust policy as JSON.
    pub trust: String,
    /// ARN of its permissions boundary.
    pub boundary: Option<String>,
    /// Longest session in seconds.
    pub max_session_seconds: i32,
    /// Its tags.
    pub tags: Tags,
}

/// Whose a role is, judged by one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It carries our tag.
    Ours,
    /// It does not: someone else made it.
    Foreign,
}

impl Role {
    /// Whether the role carries the tag that we put on ours.
    pub fn ownership(&self, key: &str, value: &str) -> Ownership {
        match self.tags.get(key) {
            Some(found) if found == value => Ownership::Ours,
            _ => Ownership::Foreign,
        }
    }
}

/// A role to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRole {
    /// Its name, unique in the account.
    pub name: String,
    /// Its path; empty: `/`.
    pub path: String,
    /// Its description; empty: none.
    pub description: String,
    /// Its trust policy as JSON.
    pub trust: String,
    /// ARN of its permissions boundary.
    pub boundary: Option<String>,
    /// Longest session in seconds; none: 3600.
    pub max_session_seconds: Option<i32>,
    /// Its tags; the connection's default tags come on top.
    pub tags: Tags,
}

/// The role; `None` if there is none of the name.
pub async fn get_role(aws: &Aws, name: &str) -> Result<Option<Role>, Error> {
    let answer = aws
        .iam()
        .await?
        .get_role()
        .role_name(name)
        .send()
        .await
        .named(GET);
    Ok(found(answer)?.and_then(|output| output.role).as_ref().map(role))
}

/// Makes the role. A name that is taken is [`Error::AlreadyExists`]; look at its [`Role::ownership`] then.
pub async fn create_role(aws: &Aws, new: &NewRole) -> Result<Role, Error> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let output = aws
        .iam()
        .await?
        .create_role()
        .role_name(&new.name)
        .set_path(text(&new.path))
        .set_description(text(&new.description))
        .assume_role_policy_document(&new.trust)
        .set_permissions_boundary(new.boundary.clone())
        .set_max_session_duration(new.max_session_seconds)
        .set_tags(Some(iam_tags(&aws.with_default_tags(&new.tags), CREATE)?))
        .send()
        .await
        .named(CREATE)?;
    let made = output.role.ok_or(Error::Incomplete {
        operation: CREATE,
        part: "Role",
    })?;
    Ok(role(&made))
}

/// Deletes the role; true if there was one. Its policies must be detached and its profiles left before, see
/// [`super::attachments`]; else the answer is [`Error::Conflict`].
pub async fn delete_role(aws: &Aws, name: &str) -> Result<bool, Error> {
    let answer = aws
        .iam()
        .await?
        .delete_role()
        .role_name(name)
        .send()
        .await
        .named(DELETE);
    Ok(found(answer)?.is_some())
}

/// Replaces the trust policy.
pub async fn set_trust(aws: &Aws, name: &str, trust: &str) -> Result<(), Error> {
    aws.iam()
        .await?
        .update_assume_role_policy()
        .role_name(name)
        .policy_document(trust)
        .send()
        .await
        .named(TRUST)?;
    Ok(())
}

/// Replaces the description.
pub async fn set_description(aws: &Aws, name: &str, description: &str) -> Result<(), Error> {
    aws.iam()
        .await?
        .update_role()
        .role_name(name)
        .description(description)
        .send()
        .await
        .named(UPDATE)?;
    Ok(())
}

/// Replaces the longest session, in seconds.
pub async fn set_max_session(aws: &Aws, name: &str, seconds: i32) -> Result<(), Error> {
    aws.iam()
        .await?
        .update_role()
        .role_name(name)
        .max_session_duration(seconds)
        .send()
        .await
        .named(UPDATE)?;
    Ok(())
}

/// Replaces or, with `None`, removes the permissions boundary.
pub async fn set_boundary(aws: &Aws, name: &str, boundary: Option<&str>) -> Result<(), Error> {
    let client = aws.iam().await?;
    match boundary {
        Some(arn) => {
            let call = client
                .put_role_permissions_boundary()
                .role_name(name)
                .permissions_boundary(arn);
            call.send().await.named(PUT_BOUNDARY)?;
        }
        None => {
            found(
                client
                    .delete_role_permissions_boundary()
                    .role_name(name)
                    .send()
                    .await
                    .named(DELETE_BOUNDARY),
            )?;
        }
    }
    Ok(())
}

/// Makes the role's tags those in `wanted` and the connection's default tags; removes the others of `current`.
pub async fn set_role_tags(aws: &Aws, name: &str, current: &Tags, wanted: &Tags) -> Result<(), Error> {
    let wanted = aws.with_default_tags(wanted);
    let (add, remove) = changes(current, &wanted);
    let client = aws.iam().await?;
    if !remove.is_empty() {
        client
            .untag_role()
            .role_name(name)
            .set_tag_keys(Some(remove))
            .send()
            .await
            .named(UNTAG)?;
    }
    if !add.is_empty() {
        client
            .tag_role()
            .role_name(name)
            .set_tags(Some(iam_tags(&add, TAG)?))
            .send()
            .await
            .named(TAG)?;
    }
    Ok(())
}

fn role(answer: &iam::Role) -> Role {
    Role {
        name: answer.role_name().to_owned(),
        arn: answer.arn().to_owned(),
        id: answer.role_id().to_owned(),
        path: answer.path().to_owned(),
        description: answer.description().unwrap_or_default().to_owned(),
        trust: document(answer.assume_role_policy_document().unwrap_or_default()),
        boundary: answer
            .permissions_boundary()
            .and_then(|boundary| boundary.permissions_boundary_arn())
            .map(str::to_owned),
        max_session_seconds: answer.max_session_duration().unwrap_or(3600),
        tags: from_iam_tags(answer.tags()),
    }
}
