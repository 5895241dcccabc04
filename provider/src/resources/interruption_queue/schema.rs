//! The attributes of `joiner_interruption_queue`.

use std::collections::{BTreeMap, BTreeSet};
use tfplugin::validate::{between, not_empty};
use tfplugin::{Field, Model};

/// The queue from which a controller learns which instances are about to go: an SQS queue, its policy, and five EventBridge rules that put
/// events into it (spot interruptions, rebalance recommendations, state changes, AWS Health, interrupted capacity reservations).
///
/// Give `name` to the controller's release (`settings.interruptionQueue`) and `arn` to its role. Messages are encrypted at rest, kept for
/// five minutes, and only the rules of this account may put them there. Policy and patterns are compared by meaning; a rule that somebody
/// disabled, changed or deleted is set right. A queue or a rule of the same name that someone else made is an error, and is not touched.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct InterruptionQueue {
    /// Name of the queue, unique in account and region; also the import ID. A change replaces the queue.
    #[tf(required, requires_replace, validate = not_empty)]
    pub name: Field<String>,
    /// What the names of the rules begin with, at most 52 characters; a dash and one of `health`, `rebalance`, `reservation`, `spot` and
    /// `state` follow. Left out: the queue's name. A change replaces queue and rules.
    #[tf(optional, computed, requires_replace, validate = not_empty)]
    pub rule_name_prefix: Field<String>,
    /// How long an event is kept, in seconds. A later one is of no use: the instance is gone.
    #[tf(default = 300_i64, validate = between(60..=1_209_600))]
    pub message_retention_seconds: Field<i64>,
    /// ID, ARN or alias of a KMS key that encrypts messages, whose policy lets `events.amazonaws.com` use it. Left out: keys of SQS' own.
    #[tf(validate = not_empty)]
    pub kms_key_id: Field<String>,
    /// Tags of queue and rules, on top of the provider's `default_tags`. An import takes over all that the queue has besides those.
    pub tags: Field<BTreeMap<String, String>>,
    /// All tags that this resource sets on queue and rules: the provider's `default_tags`, `tags` over them, and the one by which it knows
    /// them again. One of the queue's that somebody changes or takes away is set right by the next apply. Tags that others add stay, and are
    /// not shown.
    #[tf(computed)]
    pub tags_all: Field<BTreeMap<String, String>>,
    /// The same as `name`.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
    /// ARN of the queue.
    #[tf(computed, use_state_for_unknown)]
    pub arn: Field<String>,
    /// URL of the queue.
    #[tf(computed, use_state_for_unknown)]
    pub url: Field<String>,
    /// Who may use the queue, as JSON.
    #[tf(computed, use_state_for_unknown)]
    pub policy_json: Field<String>,
    /// Whether messages are encrypted at rest, and with whose key: `SQS`, `KMS` or `none`.
    #[tf(computed, use_state_for_unknown)]
    pub encryption: Field<String>,
    /// Names of the rules that work as they should.
    #[tf(computed, use_state_for_unknown)]
    pub rules: Field<BTreeSet<String>>,
}
