//! EventBridge: the rules of the default bus, their targets and tags.

use super::{Account, Answer, refused};
use axum::http::StatusCode;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A rule, under its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rule {
    pub pattern: String,
    pub state: String,
    /// By ID: the ARN.
    pub targets: BTreeMap<String, String>,
    pub tags: BTreeMap<String, String>,
}

pub(super) fn answer(account: &Account, action: &str, input: &Json) -> Answer<Json> {
    let mut rules = account.rules();
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| input[key].as_array().cloned().unwrap_or_default();
    let name = match action {
        "PutRule" | "DescribeRule" | "DeleteRule" => text("Name"),
        "ListTagsForResource" | "TagResource" | "UntagResource" => text("ResourceARN")
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => text("Rule"),
    };
    if action == "PutRule" {
        let rule = rules.entry(name.clone()).or_default();
        rule.pattern = text("EventPattern");
        rule.state = text("State");
        return Ok(json!({ "RuleArn": arn(&name) }));
    }
    if action == "ListRuleNamesByTarget" {
        let target = text("TargetArn");
        let names: Vec<&String> = rules
            .iter()
            .filter(|(_, rule)| rule.targets.values().any(|arn| *arn == target))
            .map(|(name, _)| name)
            .collect();
        return Ok(json!({ "RuleNames": names }));
    }
    let absent = || refused(StatusCode::BAD_REQUEST, "ResourceNotFoundException");
    let rule = rules.get_mut(&name).ok_or_else(absent)?;
    let member = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    Ok(match action {
        "DescribeRule" => {
            json!({ "Name": name, "Arn": arn(&name), "EventPattern": rule.pattern, "State": rule.state })
        }
        "DeleteRule" if !rule.targets.is_empty() => {
            return Err(refused(StatusCode::BAD_REQUEST, "ValidationException"));
        }
        "DeleteRule" => {
            rules.remove(&name);
            Json::Null
        }
        "PutTargets" => {
            let new = list("Targets");
            rule.targets.extend(
                new.iter()
                    .map(|target| (member(target, "Id"), member(target, "Arn"))),
            );
            json!({ "FailedEntryCount": 0, "FailedEntries": [] })
        }
        "ListTargetsByRule" => {
            let targets: Vec<Json> = rule
                .targets
                .iter()
                .map(|(id, arn)| json!({ "Id": id, "Arn": arn }))
                .collect();
            json!({ "Targets": targets })
        }
        "RemoveTargets" => {
            let gone = list("Ids");
            rule.targets.retain(|id, _| !gone.contains(&json!(id)));
            json!({ "FailedEntryCount": 0, "FailedEntries": [] })
        }
        "ListTagsForResource" => {
            let tags: Vec<Json> = rule
                .tags
                .iter()
                .map(|(key, value)| json!({ "Key": key, "Value": value }))
                .collect();
            json!({ "Tags": tags })
        }
        "TagResource" => {
            let new = list("Tags");
            rule.tags
                .extend(new.iter().map(|tag| (member(tag, "Key"), member(tag, "Value"))));
            json!({})
        }
        "UntagResource" => {
            let gone = list("TagKeys");
            rule.tags.retain(|key, _| !gone.contains(&json!(key)));
            json!({})
        }
        _ => return Err(refused(StatusCode::BAD_REQUEST, "InvalidAction")),
    })
}

fn arn(name: &str) -> String {
    format!("arn:aws:events:eu-central-1:123456789012:rule/{name}")
}
