//! Access entries: which IAM principals the API server of a cluster knows.

use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::tags::Tags;

const GET: &str = "eks:DescribeAccessEntry";
const CREATE: &str = "eks:CreateAccessEntry";
const DELETE: &str = "eks:DeleteAccessEntry";

/// An access entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEntry {
    /// Its ARN.
    pub arn: String,
    /// ARN of the principal that it is for.
    pub principal_arn: String,
    /// `EC2_LINUX`, `EC2_WINDOWS`, `STANDARD`, ...
    pub kind: String,
    /// Its tags.
    pub tags: Tags,
}

/// The entry of a principal; `None` if there is none, or no such cluster.
pub async fn get(aws: &Aws, cluster: &str, principal_arn: &str) -> Result<Option<AccessEntry>, Error> {
    let answer = aws
        .eks()
        .await?
        .describe_access_entry()
        .cluster_name(cluster)
        .principal_arn(principal_arn)
        .send()
        .await
        .named(GET);
    Ok(found(answer)?
        .and_then(|answer| answer.access_entry)
        .map(|answer| entry(&answer)))
}

/// Makes an entry of this type. One that exists is [`Error::AlreadyExists`].
pub async fn create(
    aws: &Aws,
    cluster: &str,
    principal_arn: &str,
    kind: &str,
    tags: &Tags,
) -> Result<AccessEntry, Error> {
    let answer = aws
        .eks()
        .await?
        .create_access_entry()
        .cluster_name(cluster)
        .principal_arn(principal_arn)
        .r#type(kind)
        .set_tags(Some(aws.with_default_tags(tags).into_iter().collect()))
        .send()
        .await
        .named(CREATE)?;
    let made = answer.access_entry.ok_or(Error::Incomplete {
        operation: CREATE,
        part: "accessEntry",
    })?;
    Ok(entry(&made))
}

/// Deletes the entry of a principal; true if there was one.
pub async fn delete(aws: &Aws, cluster: &str, principal_arn: &str) -> Result<bool, Error> {
    let answer = aws
        .eks()
        .await?
        .delete_access_entry()
        .cluster_name(cluster)
        .principal_arn(principal_arn)
        .send()
        .await
        .named(DELETE);
    Ok(found(answer)?.is_some())
}

fn entry(answer: &aws_sdk_eks::types::AccessEntry) -> AccessEntry {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    AccessEntry {
        arn: text(answer.access_entry_arn()),
        principal_arn: text(answer.principal_arn()),
        kind: text(answer.r#type()),
        tags: answer.tags().into_iter().flatten().map(super::pair).collect(),
    }
}
