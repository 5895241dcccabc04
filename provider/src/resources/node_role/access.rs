//! The access entry: the leave to join the cluster.

use super::OWNER_TAG;
use super::schema::NodeRole;
use crate::report;
use crate::roles::settled;
use joiner_aws::eks::access_entries::{self, AccessEntry};
use joiner_aws::{Aws, Error};
use tfplugin::Diagnostics;
use tokio_util::sync::CancellationToken;

/// Makes the access entry. One that is there is made anew when it is ours: an entry belongs to the very role that it was made for, not to
/// its name. Anyone else's is an error.
pub(super) async fn admit(
    aws: &Aws,
    model: &NodeRole,
    cancel: &CancellationToken,
) -> Result<AccessEntry, Diagnostics> {
    let text = |field: &tfplugin::Field<String>| field.as_str().unwrap_or_default().to_owned();
    let (cluster, role, kind) = (
        text(&model.cluster_name),
        text(&model.role.arn),
        text(&model.access_entry_type),
    );
    let tags = model.role.tags_all.known().cloned().unwrap_or_default();
    let failed = |error: &Error| report::aws("The nodes' access entry was not made", error);
    let make = || {
        settled(cancel, || {
            access_entries::create(aws, &cluster, &role, &kind, &tags)
        })
    };
    match make().await {
        Ok(made) => return Ok(made),
        Err(Error::AlreadyExists(_)) => {}
        Err(error) => return Err(failed(&error)),
    }
    let found = access_entries::get(aws, &cluster, &role)
        .await
        .map_err(|error| failed(&error))?;
    if let Some(found) = found
        && found.tags.get(OWNER_TAG) != Some(&cluster)
    {
        let mut taken = Diagnostics::new();
        taken.error_at(
            "create_access_entry",
            "The role has an access entry already",
            format!(
                "Cluster {cluster} has an access entry of type {} for {role}, and it was not made by this resource; it was not touched. Delete \
                 it (aws eks delete-access-entry --cluster-name {cluster} --principal-arn {role}), or set create_access_entry = false and \
                 leave it to its owner.",
                found.kind
            ),
        );
        return Err(taken);
    }
    access_entries::delete(aws, &cluster, &role)
        .await
        .map_err(|error| failed(&error))?;
    make().await.map_err(|error| failed(&error))
}

/// Takes the access entry away; one that is gone, as with its cluster, is no error.
pub(super) async fn bar(aws: &Aws, model: &NodeRole) -> Result<(), Error> {
    if let (Some(cluster), Some(role), true) = (
        model.cluster_name.as_str(),
        model.role.arn.as_str(),
        model.access_entry_arn.is_known(),
    ) {
        access_entries::delete(aws, cluster, role).await?;
    }
    Ok(())
}
