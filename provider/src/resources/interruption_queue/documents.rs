//! What queue and rules shall be, made from the resource's attributes.

use super::OWNER_TAG;
use super::schema::InterruptionQueue;
use crate::roles::OwnerTag;
use joiner_aws::interruption::{EVENTS, queue_policy};
use joiner_aws::queues::{Encryption, Wanted};
use joiner_aws::tags::Tags;
use std::collections::BTreeSet;
use tfplugin::Field;

/// How long an event is kept when nothing is said, in seconds.
const RETENTION: i64 = 300;

/// What can be set of the queue.
pub(super) fn wanted(queue: &InterruptionQueue) -> Wanted {
    Wanted {
        retention_seconds: queue.message_retention_seconds.known_or(RETENTION),
        encryption: match queue.kms_key_id.as_str() {
            Some(key) => Encryption::Kms(key.to_owned()),
            None => Encryption::Sqs,
        },
    }
}

/// The word for an encryption.
pub(super) fn encryption_word(encryption: &Encryption) -> &'static str {
    match encryption {
        Encryption::None => "none",
        Encryption::Sqs => "SQS",
        Encryption::Kms(_) => "KMS",
    }
}

/// The policy of the queue with this ARN.
pub(super) fn policy(arn: &str) -> Result<String, String> {
    queue_policy(arn).map(|document| document.to_json())
}

/// The tags of queue and rules.
pub(super) fn tags(queue: &InterruptionQueue) -> Tags {
    queue.tags_all.known().cloned().unwrap_or_default()
}

/// The tag that tells our queues and rules from others.
pub(super) fn owner_tag(queue: &InterruptionQueue) -> OwnerTag {
    (OWNER_TAG, queue.name.clone())
}

/// The value of that tag.
pub(super) fn owner(queue: &InterruptionQueue) -> String {
    queue.name.as_str().unwrap_or_default().to_owned()
}

/// The names of all rules; unknown while their prefix is.
pub(super) fn rule_names(prefix: &Field<String>) -> Field<BTreeSet<String>> {
    match prefix.as_str() {
        Some(prefix) => Field::Known(EVENTS.iter().map(|event| event.rule(prefix)).collect()),
        None => Field::Unknown,
    }
}
