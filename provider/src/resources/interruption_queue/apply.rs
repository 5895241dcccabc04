//! Creating, changing and deleting queue and rules.

use super::OWNER_TAG;
use super::documents::{owner, owner_tag, policy, tags, wanted};
use super::identity::QueueIdentity;
use super::rules;
use super::schema::InterruptionQueue;
use crate::cluster::{Pace, Waiting};
use crate::provider::Joiner;
use crate::report;
use crate::roles::tags_all;
use joiner_aws::queues::{self, Queue};
use joiner_aws::tags::Tags;
use joiner_aws::{Aws, Error};
use std::time::Duration;
use tfplugin::{ApplyRequest, Context, Diagnostic, Diagnostics, Field, State};

/// How long SQS keeps the name of a queue that was deleted.
const NAME_IS_FREE_WITHIN: Duration = Duration::from_secs(75);
/// How long SQS takes at most until a queue that was made is found.
const FOUND_WITHIN: Duration = Duration::from_secs(20);

/// Creates queue, policy and rules.
///
/// A queue or a rule of this name is an error, but for those that carry our tag: these are what a killed run left, and are finished.
pub(super) async fn create(
    ctx: &Context<Joiner>,
    request: ApplyRequest<InterruptionQueue, QueueIdentity>,
) -> Result<State<InterruptionQueue, QueueIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let mut model = finish(&data, request.planned);
    model.id = model.name.clone();
    if !model.rule_name_prefix.is_known() {
        model.rule_name_prefix = model.name.clone();
    }
    rules::check_owners(aws, &model).await?;
    let (made, before) = match existing(aws, &model).await? {
        Some(found) => (found, Some(owner_alone(&model))),
        None => (make(ctx, aws, &model).await?, None),
    };
    model.arn = Field::Known(made.arn.clone());
    model.url = Field::Known(made.url.clone());
    if !model.policy_json.is_known() {
        model.policy_json = policy(&made.arn)
            .map(Field::Known)
            .map_err(|problem| Diagnostics::error("No policy could be made", problem))?;
    }
    // From here on something exists, so it goes into the state whatever happens.
    if let Err(error) = complete(aws, &model, &made, before.as_ref()).await {
        ctx.report(Diagnostic::error(
            format!("Queue {} is incomplete", owner(&model)),
            format!("It was created, but not all that belongs to it: {error}. The next apply makes it anew."),
        ));
    }
    Ok(State {
        identity: QueueIdentity::of(&model),
        model,
        private: request.private,
    })
}

/// The planned queue with its tags, where the provider's were not known at plan.
fn finish(data: &Joiner, mut model: InterruptionQueue) -> InterruptionQueue {
    if model.tags_all.is_unknown() {
        model.tags_all = tags_all(&data.default_tags, &model.tags, owner_tag(&model));
    }
    model
}

/// Our own queue, left by a run that was killed; anyone else's is an error.
async fn existing(aws: &Aws, model: &InterruptionQueue) -> Result<Option<Queue>, Diagnostics> {
    let name = owner(model);
    let found = queues::get(aws, &name)
        .await
        .map_err(|error| report::aws("The queue was not created", &error))?;
    match found {
        Some(found) if found.tags.get(OWNER_TAG) != Some(&name) => {
            let mut taken = Diagnostics::new();
            taken.error_at(
                "name",
                "The queue's name is taken",
                format!(
                    "{} exists and was not made by this resource; it was not touched. Choose another name, or import the queue (ID: {name}) \
                     if it is meant to be this one.",
                    found.arn
                ),
            );
            Err(taken)
        }
        found => Ok(found),
    }
}

/// Makes the queue. The name of one that was deleted a moment ago, as in a replacement, is free a minute later.
async fn make(ctx: &Context<Joiner>, aws: &Aws, model: &InterruptionQueue) -> Result<Queue, Diagnostics> {
    let failed = |error: &Error| report::aws("The queue was not created", error);
    let mut waiting = Waiting::new(Pace::SLOW, NAME_IS_FREE_WITHIN, ctx.cancellation());
    let url = loop {
        match queues::create(aws, &owner(model), &wanted(model), &tags(model)).await {
            Ok(url) => break url,
            Err(error) if queues::is_deleted_recently(&error) => {
                tracing::info!(queue = owner(model), "waiting until SQS gives the name free");
                waiting.pause().await.map_err(|_| failed(&error))?;
            }
            Err(error) => return Err(failed(&error)),
        }
    };
    let mut waiting = Waiting::new(Pace::QUICK, FOUND_WITHIN, ctx.cancellation());
    loop {
        if let Some(made) = queues::at(aws, &url).await.map_err(|error| failed(&error))? {
            return Ok(made);
        }
        waiting.pause().await.map_err(|_| {
            Diagnostics::error(
                "The queue was not created",
                format!("SQS made {url} and does not find it. Apply again: it is finished then."),
            )
        })?;
    }
}

/// Only what tells that it is ours is known of a queue that a killed run left.
fn owner_alone(model: &InterruptionQueue) -> Tags {
    Tags::from([(OWNER_TAG.to_owned(), owner(model))])
}

/// Gives a queue that is there everything that belongs to it. `before` are the tags that we gave it before; none for a new one.
async fn complete(
    aws: &Aws,
    model: &InterruptionQueue,
    made: &Queue,
    before: Option<&Tags>,
) -> Result<(), Error> {
    if before.is_some() {
        queues::set(aws, &made.url, &wanted(model)).await?;
        queues::set_tags(aws, &made.url, &made.tags, &tags(model)).await?;
    }
    queues::set_policy(aws, &made.url, model.policy_json.as_str().unwrap_or_default()).await?;
    rules::put(aws, model, &made.arn, before).await
}

/// Changes what differs between the state and the plan.
pub(super) async fn update(
    ctx: &Context<Joiner>,
    prior: State<InterruptionQueue, QueueIdentity>,
    request: ApplyRequest<InterruptionQueue, QueueIdentity>,
) -> Result<State<InterruptionQueue, QueueIdentity>, Diagnostics> {
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let model = finish(&data, request.planned);
    change(aws, &prior.model, &model).await.map_err(|error| {
        report::aws(
            "The queue was not wholly changed; the next plan shows what is left to do",
            &error,
        )
    })?;
    Ok(State {
        identity: QueueIdentity::of(&model),
        model,
        private: request.private,
    })
}

async fn change(aws: &Aws, prior: &InterruptionQueue, model: &InterruptionQueue) -> Result<(), Error> {
    let url = model.url.as_str().unwrap_or_default();
    if wanted(prior) != wanted(model) || prior.encryption != model.encryption {
        queues::set(aws, url, &wanted(model)).await?;
    }
    if prior.policy_json != model.policy_json {
        queues::set_policy(aws, url, model.policy_json.as_str().unwrap_or_default()).await?;
    }
    let (before, after) = (tags(prior), tags(model));
    if before != after {
        // Only tags that we set before are taken away: others belong to someone else.
        queues::set_tags(aws, url, &before, &after).await?;
    }
    if before != after || prior.rules != model.rules {
        rules::put(aws, model, model.arn.as_str().unwrap_or_default(), Some(&before)).await?;
    }
    Ok(())
}

/// Deletes rules and queue.
pub(super) async fn delete(
    ctx: &Context<Joiner>,
    state: State<InterruptionQueue, QueueIdentity>,
) -> Result<(), Diagnostics> {
    let data = ctx.ready()?;
    let (aws, model) = (data.aws()?, &state.model);
    rules::delete(aws, model, model.arn.as_str().unwrap_or_default()).await?;
    queues::delete(aws, model.url.as_str().unwrap_or_default())
        .await
        .map_err(|error| report::aws("The queue was not deleted", &error))?;
    Ok(())
}
