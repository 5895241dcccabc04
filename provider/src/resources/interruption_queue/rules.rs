//! The five rules: set right, looked at, taken away.

use super::OWNER_TAG;
use super::documents::{owner, tags};
use super::schema::InterruptionQueue;
use crate::report;
use joiner_aws::events::{self, NewRule, Rule, Target};
use joiner_aws::interruption::{EVENTS, Event};
use joiner_aws::tags::Tags;
use joiner_aws::{Aws, Error};
use std::collections::BTreeSet;
use tfplugin::Diagnostics;

/// The ID of our target in each rule.
const TARGET: &str = "joiner";

fn prefix(queue: &InterruptionQueue) -> &str {
    queue.rule_name_prefix.as_str().unwrap_or_default()
}

/// Refuses rules that someone else made: to write one is to overwrite it.
pub(super) async fn check_owners(aws: &Aws, queue: &InterruptionQueue) -> Result<(), Diagnostics> {
    let failed = |error: Error| report::aws("The rules were not read", &error);
    let mut found = Diagnostics::new();
    for event in &EVENTS {
        let name = event.rule(prefix(queue));
        let Some(rule) = events::rule(aws, &name).await.map_err(failed)? else {
            continue;
        };
        let tags = events::tags(aws, &rule.arn).await.map_err(failed)?;
        if tags.get(OWNER_TAG) != Some(&owner(queue)) {
            found.error_at(
                "rule_name_prefix",
                "A rule's name is taken",
                format!(
                    "{} exists and was not made by this resource; it was not touched. Choose another rule_name_prefix, or delete the rule.",
                    rule.arn
                ),
            );
        }
    }
    found.into_result(())
}

/// Makes all rules what they shall be. `before` are the tags that we gave them before.
pub(super) async fn put(
    aws: &Aws,
    queue: &InterruptionQueue,
    arn: &str,
    before: Option<&Tags>,
) -> Result<(), Error> {
    let wanted = tags(queue);
    for event in &EVENTS {
        let name = event.rule(prefix(queue));
        let (is_right, known) = match events::rule(aws, &name).await? {
            Some(rule) => (is_right(aws, event, &rule, arn).await?, before),
            None => (false, None),
        };
        if !is_right {
            let rule = NewRule {
                name: name.clone(),
                description: event.description.to_owned(),
                pattern: event.pattern(),
            };
            let rule_arn = events::put_rule(aws, &rule).await?;
            // Tags first: they tell a later run that the rule is ours.
            events::set_tags(aws, &rule_arn, known.unwrap_or(&Tags::new()), &wanted).await?;
            let target = Target {
                id: TARGET.to_owned(),
                arn: arn.to_owned(),
            };
            events::put_target(aws, &name, &target).await?;
        } else if known != Some(&wanted)
            && let Some(rule) = events::rule(aws, &name).await?
        {
            events::set_tags(aws, &rule.arn, known.unwrap_or(&Tags::new()), &wanted).await?;
        }
    }
    Ok(())
}

/// The names of the rules that work as they should.
pub(super) async fn right(
    aws: &Aws,
    queue: &InterruptionQueue,
    arn: &str,
) -> Result<BTreeSet<String>, Error> {
    let looks = EVENTS.iter().map(|event| async move {
        let name = event.rule(prefix(queue));
        let right = match events::rule(aws, &name).await? {
            Some(rule) => is_right(aws, event, &rule, arn).await?,
            None => false,
        };
        Ok::<_, Error>(right.then_some(name))
    });
    let names = futures::future::try_join_all(looks).await?;
    Ok(names.into_iter().flatten().collect())
}

async fn is_right(aws: &Aws, event: &Event, rule: &Rule, queue_arn: &str) -> Result<bool, Error> {
    if !rule.enabled || rule.pattern != event.pattern() {
        return Ok(false);
    }
    let targets = events::targets(aws, &rule.name).await?;
    Ok(targets.iter().any(|target| target.arn == queue_arn))
}

/// Takes the rules away, but for those that someone else gave a target of their own: these are named in the error, and nothing is changed.
pub(super) async fn delete(aws: &Aws, queue: &InterruptionQueue, arn: &str) -> Result<(), Diagnostics> {
    let failed = |error: Error| report::aws("The rules were not deleted", &error);
    let mut ours = Vec::new();
    let mut foreign = Vec::new();
    for event in &EVENTS {
        let name = event.rule(prefix(queue));
        let targets = events::targets(aws, &name).await.map_err(failed)?;
        let (mine, theirs): (Vec<Target>, Vec<Target>) =
            targets.into_iter().partition(|target| target.arn == arn);
        foreign.extend(
            theirs
                .iter()
                .map(|target| format!("{name} has target {}", target.arn)),
        );
        ours.push((name, mine));
    }
    if !foreign.is_empty() {
        return Err(Diagnostics::error(
            "The rules are used by others",
            format!(
                "They cannot be deleted while this hangs on them, which this resource did not put there: {}. Remove it, then destroy again. \
                 Nothing was changed.",
                foreign.join(", ")
            ),
        ));
    }
    for (name, targets) in ours {
        let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
        if !ids.is_empty() {
            events::remove_targets(aws, &name, &ids).await.map_err(failed)?;
        }
        events::delete_rule(aws, &name).await.map_err(failed)?;
    }
    Ok(())
}

/// What the names of the rules that fill the queue begin with.
pub(super) async fn find_prefix(aws: &Aws, arn: &str) -> Result<Option<String>, Error> {
    let names = events::rules_of_target(aws, arn).await?;
    let prefix_of = |name: &String| {
        EVENTS.iter().find_map(|event| {
            let head = name.strip_suffix(event.suffix)?.strip_suffix('-')?;
            Some(head.to_owned())
        })
    };
    Ok(names.iter().find_map(prefix_of))
}
