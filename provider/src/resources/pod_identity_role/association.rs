//! The association: which pods get the role.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::report;
use crate::roles::settled;
use joiner_aws::eks::pod_identity::{self, Association};
use joiner_aws::policy::ServiceAccount;
use joiner_aws::{Aws, Error};
use tfplugin::{Diagnostics, Field};
use tokio_util::sync::CancellationToken;

/// The service account whose pods get the role.
pub(super) fn service_account(model: &PodIdentityRole) -> ServiceAccount {
    let text = |field: &Field<String>| field.as_str().unwrap_or_default().to_owned();
    ServiceAccount {
        namespace: text(&model.controller.namespace),
        name: text(&model.controller.service_account),
    }
}

/// Gives the role to the service account's pods. An association that is there is taken when it is ours, and is an error when it is not.
pub(super) async fn associate(
    aws: &Aws,
    model: &PodIdentityRole,
    cancel: &CancellationToken,
) -> Result<Association, Diagnostics> {
    let cluster = model.controller.cluster_name.as_str().unwrap_or_default();
    let (account, role) = (
        service_account(model),
        model.role.arn.as_str().unwrap_or_default(),
    );
    let tags = model.role.tags_all.known().cloned().unwrap_or_default();
    let owner = model.controller.owner();
    let failed = |error: &Error| report::aws("The role was not associated with the service account", error);
    let made = settled(cancel, || {
        pod_identity::create(aws, cluster, &account, role, &tags)
    })
    .await;
    let error = match made {
        Ok(made) => return Ok(made),
        Err(error @ Error::AlreadyExists(_)) => error,
        Err(error) => return Err(failed(&error)),
    };
    let found = pod_identity::find(aws, cluster, &account)
        .await
        .map_err(|error| failed(&error))?
        .ok_or_else(|| failed(&error))?;
    if found.role_arn == role {
        return Ok(found);
    }
    if found.tags.get(OWNER_TAG) == Some(&owner) {
        settled(cancel, || pod_identity::set_role(aws, cluster, &found.id, role))
            .await
            .map_err(|error| failed(&error))?;
        return Ok(found);
    }
    let mut taken = Diagnostics::new();
    taken.error_at(
        "service_account",
        "The service account has another role",
        format!(
            "Association {} in cluster {cluster} gives {} to the pods of {}/{}, and was not made by this resource; it was not touched. A \
             service account has one role. Delete the association (aws eks delete-pod-identity-association --cluster-name {cluster} \
             --association-id {}), or choose another service account.",
            found.id, found.role_arn, account.namespace, account.name, found.id
        ),
    );
    Err(taken)
}

/// Takes an association away; one that is gone, as with its cluster, is no error.
pub(super) async fn dissociate(aws: &Aws, model: &PodIdentityRole) -> Result<(), Error> {
    let cluster = model.controller.cluster_name.as_str().unwrap_or_default();
    if let Some(id) = model.association_id.as_str() {
        pod_identity::delete(aws, cluster, id).await?;
    }
    Ok(())
}
