//! Reading queue and rules, by meaning.

use super::documents::{encryption_word, owner_tag};
use super::identity::QueueIdentity;
use super::rules;
use super::schema::InterruptionQueue;
use crate::provider::Joiner;
use crate::report;
use crate::roles::{keep_words, still_there, stored_tags};
use joiner_aws::Error;
use joiner_aws::queues::{self, Encryption, Queue};
use std::collections::BTreeSet;
use tfplugin::{Context, Diagnostics, Field, State};

/// A stored queue; the first releases stored no `tags_all`.
pub(super) fn stored(ctx: &Context<Joiner>, mut model: InterruptionQueue) -> InterruptionQueue {
    let owner = owner_tag(&model);
    model.tags_all = stored_tags(ctx, model.tags_all, &model.tags, owner);
    model
}

/// The state of the queue now; `None` when it is gone. While AWS is unknown the state stays as it is.
pub(super) async fn read(
    ctx: &Context<Joiner>,
    state: State<InterruptionQueue, QueueIdentity>,
) -> Result<Option<State<InterruptionQueue, QueueIdentity>>, Diagnostics> {
    let data = ctx.ready()?;
    if data.aws.is_unknown() {
        return Ok(Some(state));
    }
    let (aws, prior) = (data.aws()?, state.model);
    let failed = |error: Error| report::aws("The queue was not read", &error);
    let name = prior.name.as_str().unwrap_or_default();
    let Some(queue) = queues::get(aws, name).await.map_err(failed)? else {
        return Ok(None);
    };
    let rules = rules::right(aws, &prior, &queue.arn).await.map_err(failed)?;
    let model = merge(&prior, queue, rules);
    Ok(Some(State {
        identity: QueueIdentity::of(&model),
        model,
        private: state.private,
    }))
}

/// The queue as a model: in the words of `prior`, and without the tags of others.
fn merge(prior: &InterruptionQueue, queue: Queue, rules: BTreeSet<String>) -> InterruptionQueue {
    let mut model = prior.clone();
    model.id = prior.name.clone();
    model.url = Field::Known(queue.url);
    model.arn = Field::Known(queue.arn);
    model.message_retention_seconds = Field::Known(queue.retention_seconds);
    model.encryption = encryption_word(&queue.encryption).into();
    model.kms_key_id = match queue.encryption {
        Encryption::Kms(key) => Field::Known(key),
        Encryption::None | Encryption::Sqs => Field::Null,
    };
    let policy = queue.policy.unwrap_or_default();
    model.policy_json = keep_words(Field::Known(policy), &prior.policy_json);
    still_there(&mut model.tags, &queue.tags);
    still_there(&mut model.tags_all, &queue.tags);
    model.rules = Field::Known(rules);
    model
}
