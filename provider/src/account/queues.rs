//! SQS: queues, their attributes and tags.

use super::{Account, Answer, refused};
use axum::http::StatusCode;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A queue, under its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Queue {
    pub attributes: BTreeMap<String, String>,
    pub tags: BTreeMap<String, String>,
}

pub(super) fn answer(account: &Account, action: &str, input: &Json) -> Answer<Json> {
    let mut queues = account.queues();
    let url = input["QueueUrl"].as_str().unwrap_or_default();
    let name = match input["QueueName"].as_str() {
        Some(name) => name,
        None => url.rsplit('/').next().unwrap_or_default(),
    };
    if action == "CreateQueue" {
        let mut attributes = texts(&input["Attributes"]);
        attributes.insert(
            "QueueArn".to_owned(),
            format!("arn:aws:sqs:eu-central-1:123456789012:{name}"),
        );
        let queue = Queue {
            attributes,
            tags: texts(&input["tags"]),
        };
        queues.insert(name.to_owned(), queue);
        return Ok(json!({ "QueueUrl": url_of(name) }));
    }
    let queue = queues
        .get_mut(name)
        .ok_or_else(|| refused(StatusCode::BAD_REQUEST, "QueueDoesNotExist"))?;
    Ok(match action {
        "GetQueueUrl" => json!({ "QueueUrl": url_of(name) }),
        "GetQueueAttributes" => json!({ "Attributes": queue.attributes }),
        "SetQueueAttributes" => {
            queue.attributes.extend(texts(&input["Attributes"]));
            json!({})
        }
        "ListQueueTags" => json!({ "Tags": queue.tags }),
        "TagQueue" => {
            queue.tags.extend(texts(&input["Tags"]));
            json!({})
        }
        "UntagQueue" => {
            let gone = input["TagKeys"].as_array().cloned().unwrap_or_default();
            queue.tags.retain(|key, _| !gone.contains(&json!(key)));
            json!({})
        }
        "DeleteQueue" => {
            queues.remove(name);
            json!({})
        }
        _ => return Err(refused(StatusCode::BAD_REQUEST, "InvalidAction")),
    })
}

fn url_of(name: &str) -> String {
    format!("https://sqs.eu-central-1.amazonaws.com/123456789012/{name}")
}

fn texts(value: &Json) -> BTreeMap<String, String> {
    let members = value.as_object().into_iter().flatten();
    members
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
