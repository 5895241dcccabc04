//! Importing by role name: what our tag tells; access entry and instance profile are looked for.

use super::OWNER_TAG;
use super::documents::managed_arn;
use super::schema::NodeRole;
use crate::provider::Joiner;
use crate::report;
use crate::roles::{self, RoleAttributes, RoleIdentity, partition};
use joiner_aws::eks::access_entries;
use joiner_aws::profiles;
use std::collections::BTreeSet;
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// The role with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<RoleIdentity>,
) -> Result<Vec<State<NodeRole, RoleIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let (role, hanging) = roles::find(aws, by).await?;
    roles::warn_of_another(
        ctx,
        &role,
        OWNER_TAG,
        "tag, trust policy, policies and access entry",
    );
    let failed = |error: joiner_aws::Error| report::aws("What belongs to the role was not read", &error);
    let cluster = role.tags.get(OWNER_TAG).cloned();
    let entry = match &cluster {
        Some(cluster) => access_entries::get(aws, cluster, &role.arn)
            .await
            .map_err(failed)?,
        None => None,
    };
    let profile = profiles::get(aws, &role.name).await.map_err(failed)?;
    let profile = profile.filter(|profile| profile.role.as_ref() == Some(&role.name));
    let mut attributes = roles::imported(aws, (&role, &hanging), OWNER_TAG, &[]);
    let model = NodeRole {
        managed_policies: Field::Known(managed(&mut attributes, partition(&role.arn).unwrap_or("aws"))),
        role: attributes,
        // Unless the cluster says otherwise: a role without an entry gets one.
        create_access_entry: Field::Known(cluster.is_none() || entry.is_some()),
        access_entry_type: Field::Known(entry.map_or_else(|| "EC2_LINUX".to_owned(), |entry| entry.kind)),
        cluster_name: Field::from_option(cluster),
        create_instance_profile: Field::Known(profile.is_some()),
        instance_profile_name: Field::from_option(profile.map(|profile| profile.name)),
        ..NodeRole::default()
    };
    Ok(vec![State {
        identity: RoleIdentity::of(&model.role),
        ..State::new(model)
    }])
}

/// Takes the names of AWS' own policies out of the attached ones.
fn managed(role: &mut RoleAttributes, partition: &str) -> BTreeSet<String> {
    let prefix = managed_arn(partition, "");
    let arns = std::mem::take(&mut role.policy_arns).known_or_default();
    let (managed, others): (BTreeSet<String>, BTreeSet<String>) =
        arns.into_iter().partition(|arn| arn.starts_with(&prefix));
    role.policy_arns = Field::from_option((!others.is_empty()).then_some(others));
    managed
        .iter()
        .filter_map(|arn| arn.strip_prefix(&prefix).map(str::to_owned))
        .collect()
}
