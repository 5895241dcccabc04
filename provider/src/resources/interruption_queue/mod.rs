//! `joiner_interruption_queue`.

mod apply;
mod documents;
mod identity;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod rules;
mod schema;
mod validate;

use super::by_files::by_files;
use identity::QueueIdentity;
pub(crate) use schema::InterruptionQueue;
use std::convert::identity as unchanged;

/// The tag that tells our queues and rules from others; its value is the queue's name.
const OWNER_TAG: &str = "joiner.dev/interruption-queue";

/// The resource `joiner_interruption_queue`.
pub(crate) struct InterruptionQueueResource;

by_files!(InterruptionQueueResource is "joiner_interruption_queue": InterruptionQueue, QueueIdentity, schema unchanged, stored read::stored);
