//! What hangs on a role: inline policies, attached policies, instance profiles.

use super::document;
use crate::connect::Aws;
use crate::error::{Error, Named, found};
use std::collections::{BTreeMap, BTreeSet};

const LIST_INLINE: &str = "iam:ListRolePolicies";
const GET_INLINE: &str = "iam:GetRolePolicy";
const PUT_INLINE: &str = "iam:PutRolePolicy";
const DELETE_INLINE: &str = "iam:DeleteRolePolicy";
const LIST_ATTACHED: &str = "iam:ListAttachedRolePolicies";
const ATTACH: &str = "iam:AttachRolePolicy";
const DETACH: &str = "iam:DetachRolePolicy";
const LIST_PROFILES: &str = "iam:ListInstanceProfilesForRole";

/// Everything that hangs on a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    /// Inline policies: name and document.
    pub inline: BTreeMap<String, String>,
    /// ARNs of attached policies.
    pub policies: BTreeSet<String>,
    /// Names of instance profiles that hold the role.
    pub profiles: BTreeSet<String>,
}

impl Attachments {
    /// What is not in `ours`, in words, for a delete that must not take away what someone else put there.
    pub fn foreign(&self, ours: &Self) -> Vec<String> {
        let inline = self.inline.keys().filter(|name| !ours.inline.contains_key(*name));
        let policies = self.policies.difference(&ours.policies);
        let profiles = self.profiles.difference(&ours.profiles);
        inline
            .map(|name| format!("inline policy {name}"))
            .chain(policies.map(|arn| format!("attached policy {arn}")))
            .chain(profiles.map(|name| format!("instance profile {name}")))
            .collect()
    }
}

/// Reads all of it. [`Error::NotFound`] if there is no such role.
pub async fn attachments(aws: &Aws, role: &str) -> Result<Attachments, Error> {
    let (inline, policies, profiles) = futures::try_join!(
        inline_policies(aws, role),
        attached_policies(aws, role),
        profiles_of(aws, role)
    )?;
    Ok(Attachments {
        inline,
        policies,
        profiles,
    })
}

/// Makes or replaces an inline policy.
pub async fn put_inline_policy(aws: &Aws, role: &str, name: &str, document: &str) -> Result<(), Error> {
    let call = aws
        .iam()
        .await?
        .put_role_policy()
        .role_name(role)
        .policy_name(name)
        .policy_document(document);
    call.send().await.named(PUT_INLINE)?;
    Ok(())
}

/// Removes an inline policy; true if there was one.
pub async fn delete_inline_policy(aws: &Aws, role: &str, name: &str) -> Result<bool, Error> {
    let call = aws
        .iam()
        .await?
        .delete_role_policy()
        .role_name(role)
        .policy_name(name);
    Ok(found(call.send().await.named(DELETE_INLINE))?.is_some())
}

/// Attaches a policy; attaching it again changes nothing.
pub async fn attach_policy(aws: &Aws, role: &str, arn: &str) -> Result<(), Error> {
    aws.iam()
        .await?
        .attach_role_policy()
        .role_name(role)
        .policy_arn(arn)
        .send()
        .await
        .named(ATTACH)?;
    Ok(())
}

/// Detaches a policy; true if it was attached.
pub async fn detach_policy(aws: &Aws, role: &str, arn: &str) -> Result<bool, Error> {
    let call = aws
        .iam()
        .await?
        .detach_role_policy()
        .role_name(role)
        .policy_arn(arn);
    Ok(found(call.send().await.named(DETACH))?.is_some())
}

async fn inline_policies(aws: &Aws, role: &str) -> Result<BTreeMap<String, String>, Error> {
    let client = aws.iam().await?;
    let mut pages = client
        .list_role_policies()
        .role_name(role)
        .into_paginator()
        .send();
    let mut names = Vec::new();
    while let Some(page) = pages.next().await {
        names.extend(page.named(LIST_INLINE)?.policy_names().iter().cloned());
    }
    let mut policies = BTreeMap::new();
    for name in names {
        let answer = client
            .get_role_policy()
            .role_name(role)
            .policy_name(&name)
            .send()
            .await
            .named(GET_INLINE);
        // One that was removed since it was listed is no error.
        if let Some(policy) = found(answer)? {
            policies.insert(name, document(policy.policy_document()));
        }
    }
    Ok(policies)
}

async fn attached_policies(aws: &Aws, role: &str) -> Result<BTreeSet<String>, Error> {
    let mut pages = aws
        .iam()
        .await?
        .list_attached_role_policies()
        .role_name(role)
        .into_paginator()
        .send();
    let mut arns = BTreeSet::new();
    while let Some(page) = pages.next().await {
        let page = page.named(LIST_ATTACHED)?;
        arns.extend(
            page.attached_policies()
                .iter()
                .filter_map(|policy| policy.policy_arn().map(str::to_owned)),
        );
    }
    Ok(arns)
}

async fn profiles_of(aws: &Aws, role: &str) -> Result<BTreeSet<String>, Error> {
    let mut pages = aws
        .iam()
        .await?
        .list_instance_profiles_for_role()
        .role_name(role)
        .into_paginator()
        .send();
    let mut names = BTreeSet::new();
    while let Some(page) = pages.next().await {
        let page = page.named(LIST_PROFILES)?;
        names.extend(
            page.instance_profiles()
                .iter()
                .map(|profile| profile.instance_profile_name().to_owned()),
        );
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_attached_is_named() {
        let ours = Attachments {
            inline: [("joiner".to_owned(), "{}".to_owned())].into(),
            policies: ["arn:aws:iam::aws:policy/A".to_owned()].into(),
            profiles: BTreeSet::new(),
        };
        assert!(ours.foreign(&ours).is_empty());
        let mut now = ours.clone();
        now.inline.insert("debug".to_owned(), "{}".to_owned());
        now.policies.insert("arn:aws:iam::aws:policy/B".to_owned());
        now.profiles.insert("p".to_owned());
        assert_eq!(
            now.foreign(&ours),
            [
                "inline policy debug",
                "attached policy arn:aws:iam::aws:policy/B",
                "instance profile p"
            ]
        );
    }
}
