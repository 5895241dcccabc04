//! Instance profiles: our own, and those that a controller left on the role.

use super::OWNER_TAG;
use super::schema::NodeRole;
use crate::report;
use joiner_aws::profiles::{self, Profile, Wanted};
use joiner_aws::tags::{CLUSTER, owned_key};
use joiner_aws::{Aws, Error, iam};
use std::collections::BTreeSet;
use tfplugin::Diagnostics;

/// Makes the instance profile of the role's name. One that is there is taken when it is ours, and is an error when it is not.
pub(super) async fn make(aws: &Aws, model: &NodeRole) -> Result<Profile, Diagnostics> {
    let failed = |error: Error| report::aws("The instance profile was not made", &error);
    let name = model.role.name.as_str().unwrap_or_default().to_owned();
    let cluster = model.cluster_name.as_str().unwrap_or_default();
    let found = profiles::get(aws, &name).await.map_err(failed)?;
    if let Some(found) = found
        && found.tags.get(OWNER_TAG).map(String::as_str) != Some(cluster)
    {
        let mut taken = Diagnostics::new();
        taken.error_at(
            "create_instance_profile",
            "The instance profile's name is taken",
            format!(
                "{} exists and was not made by this resource; it was not touched. Delete it, choose another name for the role, or set \
                 create_instance_profile = false.",
                found.arn
            ),
        );
        return Err(taken);
    }
    let wanted = Wanted {
        path: model.role.path.as_str().unwrap_or("/").to_owned(),
        role: name.clone(),
        name,
        tags: model.role.tags_all.known().cloned().unwrap_or_default(),
    };
    profiles::ensure(aws, &wanted).await.map_err(failed)
}

/// The instance profile of a state, if it is there and holds the role.
pub(super) async fn present(aws: &Aws, model: &NodeRole) -> Result<Option<Profile>, Error> {
    let Some(name) = model.instance_profile_name.as_str() else {
        return Ok(None);
    };
    let found = profiles::get(aws, name).await?;
    Ok(found.filter(|profile| profile.role.as_deref() == model.role.name.as_str()))
}

/// The profiles on the role that may be deleted with it: ours, and those that a controller of this cluster made.
pub(super) async fn of_cluster(aws: &Aws, model: &NodeRole) -> Result<BTreeSet<String>, Error> {
    let role = model.role.name.as_str().unwrap_or_default();
    let cluster = model.cluster_name.as_str().unwrap_or_default();
    let hanging = match iam::attachments(aws, role).await {
        Ok(hanging) => hanging.profiles,
        Err(error) if error.is_not_found() => BTreeSet::new(),
        Err(error) => return Err(error),
    };
    let mut ours = BTreeSet::new();
    for name in hanging {
        let Some(profile) = profiles::get(aws, &name).await? else {
            continue;
        };
        let is_ours = model.instance_profile_name.as_str() == Some(&name)
            && profile.tags.get(OWNER_TAG).is_some_and(|owner| owner == cluster);
        if is_ours || is_controllers(&profile, cluster) {
            ours.insert(name);
        }
    }
    Ok(ours)
}

/// Whether a controller made the profile for nodes of the cluster.
fn is_controllers(profile: &Profile, cluster: &str) -> bool {
    let owned = profile.tags.get(&owned_key(cluster)).map(String::as_str) == Some("owned");
    let named = profile.tags.get(CLUSTER).is_some_and(|name| name == cluster);
    (owned || named) && profile.path.starts_with("/karpenter/")
}
