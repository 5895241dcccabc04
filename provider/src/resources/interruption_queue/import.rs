//! Importing by the queue's name; the rules are found by their target.

use super::OWNER_TAG;
use super::identity::QueueIdentity;
use super::rules::find_prefix;
use super::schema::InterruptionQueue;
use crate::provider::Joiner;
use crate::report;
use crate::roles::imported_tags;
use joiner_aws::{Error, queues};
use tfplugin::{Context, Diagnostics, Field, ImportBy, State};

/// The queue with the name that is the ID.
pub(super) async fn import(
    ctx: &Context<Joiner>,
    by: ImportBy<QueueIdentity>,
) -> Result<Vec<State<InterruptionQueue, QueueIdentity>>, Diagnostics> {
    let wanted = match by {
        ImportBy::Id(name) => QueueIdentity {
            name: Field::Known(name),
            ..QueueIdentity::default()
        },
        ImportBy::Identity(identity) => identity,
    };
    let data = ctx.ready()?;
    let aws = data.aws()?;
    let name = wanted.name.as_str().unwrap_or_default().to_owned();
    let failed = |error: Error| report::aws("The queue was not read", &error);
    let Some(queue) = queues::get(aws, &name).await.map_err(failed)? else {
        return Err(Diagnostics::error(
            format!("There is no queue {name:?}"),
            "Account and region have none of this name. The ID is the queue's name, not its URL or ARN.",
        ));
    };
    let prefix = find_prefix(aws, &queue.arn).await.map_err(failed)?;
    let (tags, tags_all) = imported_tags(&aws.settings().default_tags, &queue.tags, OWNER_TAG);
    let model = InterruptionQueue {
        id: Field::Known(name.clone()),
        name: Field::Known(name.clone()),
        arn: Field::Known(queue.arn),
        tags,
        tags_all,
        rule_name_prefix: Field::Known(prefix.unwrap_or(name)),
        ..InterruptionQueue::default()
    };
    let found = QueueIdentity::of(&model);
    if let Some(found) = &found {
        check_place("account", &wanted.account_id, &found.account_id)?;
        check_place("region", &wanted.region, &found.region)?;
    }
    Ok(vec![State {
        identity: found,
        ..State::new(model)
    }])
}

fn check_place(what: &str, wanted: &Field<String>, found: &Field<String>) -> Result<(), Diagnostics> {
    match (wanted.as_str(), found.as_str()) {
        (Some(wanted), Some(found)) if wanted != found => Err(Diagnostics::error(
            format!("The queue is in another {what}"),
            format!(
                "The identity names {what} {wanted}, and the provider reaches {found}. Set aws in the provider block to the {what} that is \
                 meant."
            ),
        )),
        _ => Ok(()),
    }
}
