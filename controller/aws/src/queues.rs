//! Queues as the provider makes them: read whole, write part by part.

use crate::connect::Aws;
use crate::error::{Error, Named, found};
use crate::queue;
use crate::tags::{Tags, changes};
use aws_sdk_sqs::types::QueueAttributeName as Attribute;
use std::collections::HashMap;

const GET: &str = "sqs:GetQueueAttributes";
const CREATE: &str = "sqs:CreateQueue";
const SET: &str = "sqs:SetQueueAttributes";
const DELETE: &str = "sqs:DeleteQueue";
const LIST_TAGS: &str = "sqs:ListQueueTags";
const TAG: &str = "sqs:TagQueue";
const UNTAG: &str = "sqs:UntagQueue";

/// How messages are encrypted at rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Not at all.
    None,
    /// With keys that SQS keeps.
    #[default]
    Sqs,
    /// With a key of KMS: its ID, ARN or alias.
    Kms(String),
}

/// A queue as SQS knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its URL, by which calls name it.
    pub url: String,
    /// Its ARN.
    pub arn: String,
    /// Its policy as JSON, if it has one.
    pub policy: Option<String>,
    /// How long a message is kept, in seconds.
    pub retention_seconds: i64,
    /// How messages are encrypted.
    pub encryption: Encryption,
    /// Its tags.
    pub tags: Tags,
}

/// What can be set of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How long a message is kept, in seconds.
    pub retention_seconds: i64,
    /// How messages are encrypted.
    pub encryption: Encryption,
}

/// The queue; `None` if there is none of the name.
pub async fn get(aws: &Aws, name: &str) -> Result<Option<Queue>, Error> {
    match found(queue::url(aws, name).await)? {
        Some(url) => at(aws, &url).await,
        None => Ok(None),
    }
}

/// The queue with this URL; `None` if there is none.
pub async fn at(aws: &Aws, url: &str) -> Result<Option<Queue>, Error> {
    let client = aws.sqs().await?;
    let attributes = client
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(Attribute::All)
        .send()
        .await
        .named(GET);
    let Some(attributes) = found(attributes)? else {
        return Ok(None);
    };
    let tags = client
        .list_queue_tags()
        .queue_url(url)
        .send()
        .await
        .named(LIST_TAGS);
    let Some(tags) = found(tags)? else { return Ok(None) };
    let attributes = attributes.attributes.unwrap_or_default();
    let text = |name: &Attribute| attributes.get(name).filter(|text| !text.is_empty()).cloned();
    let arn = text(&Attribute::QueueArn).ok_or(Error::Incomplete {
        operation: GET,
        part: "QueueArn",
    })?;
    let by_sqs = text(&Attribute::SqsManagedSseEnabled).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    Ok(Some(Queue {
        url: url.to_owned(),
        arn,
        policy: text(&Attribute::Policy),
        retention_seconds: text(&Attribute::MessageRetentionPeriod)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default(),
        encryption: match text(&Attribute::KmsMasterKeyId) {
            Some(key) => Encryption::Kms(key),
            None if by_sqs => Encryption::Sqs,
            None => Encryption::None,
        },
        tags: tags.tags.unwrap_or_default().into_iter().collect(),
    }))
}

/// Makes a queue and answers its URL. One of the same name with the same attributes is no error to SQS: look with [`get`] before.
pub async fn create(aws: &Aws, name: &str, wanted: &Wanted, tags: &Tags) -> Result<String, Error> {
    let answer = aws
        .sqs()
        .await?
        .create_queue()
        .queue_name(name)
        .set_attributes(Some(attributes(wanted)))
        .set_tags(Some(aws.with_default_tags(tags).into_iter().collect()))
        .send()
        .await
        .named(CREATE)?;
    answer.queue_url.ok_or(Error::Incomplete {
        operation: CREATE,
        part: "QueueUrl",
    })
}

/// Whether SQS refuses the name because a queue of it was deleted within the last minute.
pub fn is_deleted_recently(error: &Error) -> bool {
    error.code().ends_with("QueueDeletedRecently")
}

/// Sets what can be set. An empty key takes the one of KMS away.
pub async fn set(aws: &Aws, url: &str, wanted: &Wanted) -> Result<(), Error> {
    let mut attributes = attributes(wanted);
    attributes.entry(Attribute::KmsMasterKeyId).or_default();
    set_attributes(aws, url, attributes).await
}

/// Replaces the policy.
pub async fn set_policy(aws: &Aws, url: &str, policy: &str) -> Result<(), Error> {
    set_attributes(aws, url, HashMap::from([(Attribute::Policy, policy.to_owned())])).await
}

/// Makes the queue's tags those in `wanted` and the connection's default tags; removes the others of `current`.
pub async fn set_tags(aws: &Aws, url: &str, current: &Tags, wanted: &Tags) -> Result<(), Error> {
    let (add, remove) = changes(current, &aws.with_default_tags(wanted));
    let client = aws.sqs().await?;
    if !remove.is_empty() {
        let call = client.untag_queue().queue_url(url).set_tag_keys(Some(remove));
        call.send().await.named(UNTAG)?;
    }
    if !add.is_empty() {
        let call = client
            .tag_queue()
            .queue_url(url)
            .set_tags(Some(add.into_iter().collect()));
        call.send().await.named(TAG)?;
    }
    Ok(())
}

/// Deletes the queue; true if there was one.
pub async fn delete(aws: &Aws, url: &str) -> Result<bool, Error> {
    let answer = aws
        .sqs()
        .await?
        .delete_queue()
        .queue_url(url)
        .send()
        .await
        .named(DELETE);
    Ok(found(answer)?.is_some())
}

async fn set_attributes(aws: &Aws, url: &str, attributes: HashMap<Attribute, String>) -> Result<(), Error> {
    aws.sqs()
        .await?
        .set_queue_attributes()
        .queue_url(url)
        .set_attributes(Some(attributes))
        .send()
        .await
        .named(SET)?;
    Ok(())
}

/// With a key of KMS the keys of SQS are off by themselves.
fn attributes(wanted: &Wanted) -> HashMap<Attribute, String> {
    let mut attributes = HashMap::from([(
        Attribute::MessageRetentionPeriod,
        wanted.retention_seconds.to_string(),
    )]);
    match &wanted.encryption {
        Encryption::None => attributes.insert(Attribute::SqsManagedSseEnabled, "false".to_owned()),
        Encryption::Sqs => attributes.insert(Attribute::SqsManagedSseEnabled, "true".to_owned()),
        Encryption::Kms(key) => attributes.insert(Attribute::KmsMasterKeyId, key.clone()),
    };
    attributes
}
