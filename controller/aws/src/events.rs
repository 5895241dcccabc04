//! EventBridge: rules of the account's default bus, their targets and tags.

use crate::connect::Aws;
use crate::error::{Error, found};
use crate::json_call;
use crate::tags::Tags;
use serde_json::{Value as Json, json};

pub(crate) const SERVICE: json_call::Service = json_call::Service {
    id: "EventBridge",
    name: "events",
    hosts: ["events", "events-fips"],
    target: "AWSEvents",
};

const PUT_RULE: &str = "events:PutRule";
const DESCRIBE_RULE: &str = "events:DescribeRule";
const DELETE_RULE: &str = "events:DeleteRule";
const PUT_TARGETS: &str = "events:PutTargets";
const LIST_TARGETS: &str = "events:ListTargetsByRule";
const LIST_RULES: &str = "events:ListRuleNamesByTarget";
const REMOVE_TARGETS: &str = "events:RemoveTargets";
const LIST_TAGS: &str = "events:ListTagsForResource";
const TAG: &str = "events:TagResource";
const UNTAG: &str = "events:UntagResource";

/// A rule as EventBridge knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// The pattern of the events that it lets through; null for a rule by schedule.
    pub pattern: Json,
    /// Whether it works.
    pub enabled: bool,
}

/// A rule to be made, or to be set right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRule {
    /// Its name, at most 64 letters, digits and characters of `._-`.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The pattern of the events that it lets through.
    pub pattern: Json,
}

/// Where a rule's events go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its ID within the rule.
    pub id: String,
    /// ARN of what gets the events.
    pub arn: String,
}

/// The rule; `None` if there is none of the name.
pub async fn rule(aws: &Aws, name: &str) -> Result<Option<Rule>, Error> {
    let answer = aws.events(DESCRIBE_RULE, &json!({ "Name": name })).await;
    Ok(found(answer)?.map(|answer| Rule {
        name: name.to_owned(),
        arn: text(&answer["Arn"]),
        pattern: pattern(&answer["EventPattern"]),
        enabled: answer["State"] != "DISABLED",
    }))
}

/// Makes the rule, or gives the rule of this name another pattern, and enables it; answers its ARN. A rule that exists keeps its tags:
/// see [`set_tags`].
pub async fn put_rule(aws: &Aws, rule: &NewRule) -> Result<String, Error> {
    let input = json!({
        "Name": rule.name, "Description": rule.description, "EventPattern": rule.pattern.to_string(), "State": "ENABLED",
    });
    let answer = aws.events(PUT_RULE, &input).await?;
    match answer["RuleArn"].as_str() {
        Some(arn) => Ok(arn.to_owned()),
        None => Err(Error::Incomplete {
            operation: PUT_RULE,
            part: "RuleArn",
        }),
    }
}

/// Deletes the rule; true if there was one. Its targets must be gone before.
pub async fn delete_rule(aws: &Aws, name: &str) -> Result<bool, Error> {
    let answer = aws.events(DELETE_RULE, &json!({ "Name": name })).await;
    Ok(found(answer)?.is_some())
}

/// The targets of a rule, sorted; none if there is no such rule.
pub async fn targets(aws: &Aws, rule: &str) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    let mut next = Json::Null;
    loop {
        let answer = aws
            .events(LIST_TARGETS, &page(json!({ "Rule": rule }), &next))
            .await;
        let Some(answer) = found(answer)? else { break };
        targets.extend(items(&answer["Targets"]).map(|target| Target {
            id: text(&target["Id"]),
            arn: text(&target["Arn"]),
        }));
        next = answer["NextToken"].clone();
        if !next.is_string() {
            break;
        }
    }
    targets.sort();
    Ok(targets)
}

/// Gives a rule a target, or changes the one of this ID.
pub async fn put_target(aws: &Aws, rule: &str, target: &Target) -> Result<(), Error> {
    let input = json!({ "Rule": rule, "Targets": [{ "Id": target.id, "Arn": target.arn }] });
    let answer = aws.events(PUT_TARGETS, &input).await?;
    failed(PUT_TARGETS, &answer)
}

/// Takes targets away from a rule; those that are not there, and a rule that is not there, are no error.
pub async fn remove_targets(aws: &Aws, rule: &str, ids: &[&str]) -> Result<(), Error> {
    let answer = aws
        .events(REMOVE_TARGETS, &json!({ "Rule": rule, "Ids": ids }))
        .await;
    match found(answer)? {
        Some(answer) => failed(REMOVE_TARGETS, &answer),
        None => Ok(()),
    }
}

/// Names of the rules that have this target, sorted.
pub async fn rules_of_target(aws: &Aws, arn: &str) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    let mut next = Json::Null;
    loop {
        let answer = aws
            .events(LIST_RULES, &page(json!({ "TargetArn": arn }), &next))
            .await?;
        names.extend(items(&answer["RuleNames"]).map(text));
        next = answer["NextToken"].clone();
        if !next.is_string() {
            break;
        }
    }
    names.sort();
    Ok(names)
}

/// The tags of a rule.
pub async fn tags(aws: &Aws, rule_arn: &str) -> Result<Tags, Error> {
    let answer = aws.events(LIST_TAGS, &json!({ "ResourceARN": rule_arn })).await?;
    Ok(items(&answer["Tags"])
        .map(|tag| (text(&tag["Key"]), text(&tag["Value"])))
        .collect())
}

/// Makes the rule's tags those in `wanted` and the connection's default tags; removes the others of `current`.
pub async fn set_tags(aws: &Aws, rule_arn: &str, current: &Tags, wanted: &Tags) -> Result<(), Error> {
    let (add, remove) = crate::tags::changes(current, &aws.with_default_tags(wanted));
    if !remove.is_empty() {
        aws.events(UNTAG, &json!({ "ResourceARN": rule_arn, "TagKeys": remove }))
            .await?;
    }
    if !add.is_empty() {
        let add: Vec<Json> = add
            .iter()
            .map(|(key, value)| json!({ "Key": key, "Value": value }))
            .collect();
        aws.events(TAG, &json!({ "ResourceARN": rule_arn, "Tags": add }))
            .await?;
    }
    Ok(())
}

/// The call's answer tells of targets that it did not do.
fn failed(operation: &'static str, answer: &Json) -> Result<(), Error> {
    match items(&answer["FailedEntries"]).next() {
        None => Ok(()),
        Some(entry) => Err(Error::Refused(crate::error::Answer {
            operation,
            code: text(&entry["ErrorCode"]),
            message: format!(
                "target {}: {}",
                text(&entry["TargetId"]),
                text(&entry["ErrorMessage"])
            ),
            request_id: None,
        })),
    }
}

fn page(mut input: Json, next: &Json) -> Json {
    if next.is_string() {
        input["NextToken"] = next.clone();
    }
    input
}

fn pattern(written: &Json) -> Json {
    written
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

fn items(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_done_is_an_error() {
        assert!(
            failed(
                PUT_TARGETS,
                &json!({ "FailedEntryCount": 0, "FailedEntries": [] })
            )
            .is_ok()
        );
        let answer = json!({ "FailedEntries": [{ "TargetId": "q", "ErrorCode": "LimitExceeded", "ErrorMessage": "too many" }] });
        let error = failed(PUT_TARGETS, &answer).unwrap_err().to_string();
        assert!(
            error.contains("events:PutTargets") && error.contains("q: too many"),
            "{error}"
        );
        assert_eq!(
            pattern(&json!("{\"source\":[\"aws.ec2\"]}"))["source"][0],
            "aws.ec2"
        );
    }
}
