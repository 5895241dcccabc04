//! Instance profiles of the cluster's node classes: one for each class and role, made and removed by us.
//!
//! Name and path are a pure function of cluster, region, class and role, so that a repeated attempt finds what the first
//! one made.

use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::instances::timestamp;
use crate::tags::Tags;
use aws_sdk_iam::types as iam;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

const GET: &str = "iam:GetInstanceProfile";
const CREATE: &str = "iam:CreateInstanceProfile";
const DELETE: &str = "iam:DeleteInstanceProfile";
const ADD_ROLE: &str = "iam:AddRoleToInstanceProfile";
const REMOVE_ROLE: &str = "iam:RemoveRoleFromInstanceProfile";
const LIST: &str = "iam:ListInstanceProfiles";

/// A profile as IAM knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Its path, such as `/karpenter/eu-central-1/dev/<uid>/`.
    pub path: String,
    /// Its ARN.
    pub arn: String,
    /// Name of its role, if it has one.
    pub role: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Its tags; empty in lists.
    pub tags: Tags,
}

/// A profile as it shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// See [`name`].
    pub name: String,
    /// See [`path`].
    pub path: String,
    /// Name of the role, with or without its path.
    pub role: String,
    /// See [`crate::tags::for_profile`].
    pub tags: Tags,
}

/// `<cluster>_<hash>`, at most 128 characters.
pub fn name(cluster: &str, region: &str, node_class_uid: &str, role: &str) -> String {
    let digest = Sha256::digest(format!("{region}\n{node_class_uid}\n{role}"));
    let hash = hex::encode(&digest[..10]);
    let room = 128 - hash.len() - 1;
    let cluster: String = cluster.chars().take(room).collect();
    format!("{cluster}_{hash}")
}

/// `/karpenter/<region>/<cluster>/<uid of the node class>/`
pub fn path(region: &str, cluster: &str, node_class_uid: &str) -> String {
    format!("/karpenter/{region}/{cluster}/{node_class_uid}/")
}

/// The path under which all profiles of a cluster lie.
pub fn cluster_path(region: &str, cluster: &str) -> String {
    format!("/karpenter/{region}/{cluster}/")
}

/// The profile; `None` if there is none of the name.
pub async fn get(aws: &Aws, name: &str) -> Result<Option<Profile>, Error> {
    let answer = aws
        .iam()
        .await?
        .get_instance_profile()
        .instance_profile_name(name)
        .send()
        .await
        .named(GET);
    Ok(found(answer)?
        .and_then(|output| output.instance_profile)
        .as_ref()
        .map(profile))
}

/// Makes the profile if need be and sees to it that it holds the role and no other. A missing role is
/// [`Error::NotFound`] of `iam:AddRoleToInstanceProfile`; a profile that was made in this call is then removed again.
pub async fn ensure(aws: &Aws, wanted: &Wanted) -> Result<Profile, Error> {
    let mut made = false;
    let mut profile = match get(aws, &wanted.name).await? {
        Some(profile) => profile,
        None => {
            made = true;
            create(aws, wanted).await?
        }
    };
    let role = wanted.role.rsplit('/').next().unwrap_or(&wanted.role);
    if profile.role.as_deref() == Some(role) {
        return Ok(profile);
    }
    if let Some(other) = profile.role.take() {
        remove_role(aws, &wanted.name, &other).await?;
    }
    match add_role(aws, &wanted.name, role).await {
        Ok(()) => {
            profile.role = Some(role.to_owned());
            Ok(profile)
        }
        Err(error) => {
            if made {
                // What matters to the caller is the first error; a profile left over is found by its path.
                let _ = delete(aws, &wanted.name).await;
            }
            Err(error)
        }
    }
}

/// Removes the profile with its hold on a role; true if there was one.
pub async fn delete(aws: &Aws, name: &str) -> Result<bool, Error> {
    let Some(profile) = get(aws, name).await? else {
        return Ok(false);
    };
    if let Some(role) = &profile.role {
        found(remove_role(aws, name, role).await)?;
    }
    let answer = aws
        .iam()
        .await?
        .delete_instance_profile()
        .instance_profile_name(name)
        .send()
        .await
        .named(DELETE);
    Ok(found(answer)?.is_some())
}

/// All profiles under a path, sorted by name.
pub async fn list(aws: &Aws, path: &str) -> Result<Vec<Profile>, Error> {
    let mut pages = aws
        .iam()
        .await?
        .list_instance_profiles()
        .path_prefix(path)
        .into_paginator()
        .send();
    let mut profiles = Vec::new();
    while let Some(page) = pages.next().await {
        profiles.extend(page.named(LIST)?.instance_profiles().iter().map(profile));
    }
    // Some implementations answer with more than was asked for.
    profiles.retain(|profile| profile.path.starts_with(path));
    profiles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(profiles)
}

async fn create(aws: &Aws, wanted: &Wanted) -> Result<Profile, Error> {
    let answer = aws
        .iam()
        .await?
        .create_instance_profile()
        .instance_profile_name(&wanted.name)
        .path(&wanted.path)
        .set_tags(Some(crate::iam::iam_tags(
            &aws.with_default_tags(&wanted.tags),
            CREATE,
        )?))
        .send()
        .await
        .named(CREATE);
    match answer {
        Ok(output) => {
            let made = output.instance_profile.ok_or(Error::Incomplete {
                operation: CREATE,
                part: "InstanceProfile",
            })?;
            Ok(profile(&made))
        }
        // Someone was faster, or an earlier attempt's answer was lost.
        Err(Error::AlreadyExists(answer)) => {
            get(aws, &wanted.name).await?.ok_or(Error::AlreadyExists(answer))
        }
        Err(error) => Err(error),
    }
}

async fn add_role(aws: &Aws, name: &str, role: &str) -> Result<(), Error> {
    aws.iam()
        .await?
        .add_role_to_instance_profile()
        .instance_profile_name(name)
        .role_name(role)
        .send()
        .await
        .named(ADD_ROLE)?;
    Ok(())
}

pub(crate) async fn remove_role(aws: &Aws, name: &str, role: &str) -> Result<(), Error> {
    aws.iam()
        .await?
        .remove_role_from_instance_profile()
        .instance_profile_name(name)
        .role_name(role)
        .send()
        .await
        .named(REMOVE_ROLE)?;
    Ok(())
}

pub(crate) fn profile(answer: &iam::InstanceProfile) -> Profile {
    Profile {
        name: answer.instance_profile_name().to_owned(),
        path: answer.path().to_owned(),
        arn: answer.arn().to_owned(),
        role: answer.roles().first().map(|role| role.role_name().to_owned()),
        created: timestamp(answer.create_date()),
        tags: crate::iam::from_iam_tags(answer.tags()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_depends_on_region_class_and_role() {
        let first = name("dev", "eu-central-1", "uid", "role");
        assert!(first.starts_with("dev_") && first.len() == 24, "{first}");
        assert_eq!(first, name("dev", "eu-central-1", "uid", "role"));
        for other in [
            name("dev", "eu-west-1", "uid", "role"),
            name("dev", "eu-central-1", "uid2", "role"),
            name("dev", "eu-central-1", "uid", "role2"),
        ] {
            assert_ne!(first, other);
        }
        assert!(name(&"c".repeat(200), "r", "u", "x").len() <= 128);
    }

    #[test]
    fn paths_nest() {
        assert_eq!(
            path("eu-central-1", "dev", "uid"),
            "/karpenter/eu-central-1/dev/uid/"
        );
        assert!(path("eu-central-1", "dev", "uid").starts_with(&cluster_path("eu-central-1", "dev")));
    }
}
