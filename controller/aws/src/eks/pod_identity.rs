//! Pod identity associations: which role the pods of a service account get.

use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::policy::ServiceAccount;
use crate::tags::Tags;

const GET: &str = "eks:DescribePodIdentityAssociation";
const LIST: &str = "eks:ListPodIdentityAssociations";
const CREATE: &str = "eks:CreatePodIdentityAssociation";
const UPDATE: &str = "eks:UpdatePodIdentityAssociation";
const DELETE: &str = "eks:DeletePodIdentityAssociation";

/// An association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// Its ID, such as `a-0123456789abcdef0`.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// The service account whose pods get the role.
    pub account: ServiceAccount,
    /// ARN of the role.
    pub role_arn: String,
    /// Its tags.
    pub tags: Tags,
}

/// The association with this ID; `None` if there is none, or no such cluster.
pub async fn get(aws: &Aws, cluster: &str, id: &str) -> Result<Option<Association>, Error> {
    let answer = aws
        .eks()
        .await?
        .describe_pod_identity_association()
        .cluster_name(cluster)
        .association_id(id)
        .send()
        .await
        .named(GET);
    Ok(found(answer)?
        .and_then(|answer| answer.association)
        .map(|answer| association(&answer)))
}

/// The association of a service account; `None` if there is none, or no such cluster.
pub async fn find(aws: &Aws, cluster: &str, account: &ServiceAccount) -> Result<Option<Association>, Error> {
    let mut pages = aws
        .eks()
        .await?
        .list_pod_identity_associations()
        .cluster_name(cluster)
        .namespace(&account.namespace)
        .service_account(&account.name)
        .into_paginator()
        .send();
    while let Some(page) = pages.next().await {
        let Some(page) = found(page.named(LIST))? else {
            return Ok(None);
        };
        // A service account has one; some implementations answer with more than was asked for.
        let id = page.associations().iter().find_map(|summary| {
            let fits = summary.namespace() == Some(&account.namespace)
                && summary.service_account() == Some(&account.name);
            summary.association_id().filter(|_| fits)
        });
        if let Some(id) = id {
            return get(aws, cluster, id).await;
        }
    }
    Ok(None)
}

/// Makes an association. A service account that has one is [`Error::AlreadyExists`].
pub async fn create(
    aws: &Aws,
    cluster: &str,
    account: &ServiceAccount,
    role_arn: &str,
    tags: &Tags,
) -> Result<Association, Error> {
    let answer = aws
        .eks()
        .await?
        .create_pod_identity_association()
        .cluster_name(cluster)
        .namespace(&account.namespace)
        .service_account(&account.name)
        .role_arn(role_arn)
        .set_tags(Some(aws.with_default_tags(tags).into_iter().collect()))
        .send()
        .await
        .named(CREATE)?;
    let made = answer.association.ok_or(Error::Incomplete {
        operation: CREATE,
        part: "association",
    })?;
    Ok(association(&made))
}

/// Gives an association another role.
pub async fn set_role(aws: &Aws, cluster: &str, id: &str, role_arn: &str) -> Result<(), Error> {
    aws.eks()
        .await?
        .update_pod_identity_association()
        .cluster_name(cluster)
        .association_id(id)
        .role_arn(role_arn)
        .send()
        .await
        .named(UPDATE)?;
    Ok(())
}

/// Deletes an association; true if there was one.
pub async fn delete(aws: &Aws, cluster: &str, id: &str) -> Result<bool, Error> {
    let answer = aws
        .eks()
        .await?
        .delete_pod_identity_association()
        .cluster_name(cluster)
        .association_id(id)
        .send()
        .await
        .named(DELETE);
    Ok(found(answer)?.is_some())
}

fn association(answer: &aws_sdk_eks::types::PodIdentityAssociation) -> Association {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Association {
        id: text(answer.association_id()),
        arn: text(answer.association_arn()),
        account: ServiceAccount {
            namespace: text(answer.namespace()),
            name: text(answer.service_account()),
        },
        role_arn: text(answer.role_arn()),
        tags: answer.tags().into_iter().flatten().map(super::pair).collect(),
    }
}
