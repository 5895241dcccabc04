//! The events that tell a controller of instances about to go: five rules, and the policy of the queue that they fill. Pure.

use crate::policy::{Document, Statement};
use serde_json::{Value as Json, json};

/// One of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What the rule's name ends with.
    pub suffix: &'static str,
    /// What the rule is for.
    pub description: &'static str,
    source: &'static str,
    detail_type: &'static str,
}

/// The five rules, in the order of their names' ends.
pub const EVENTS: [Event; 5] = [
    Event {
        suffix: "health",
        description: "Instances that AWS will retire, reboot or repair",
        source: "aws.health",
        detail_type: "AWS Health Event",
    },
    Event {
        suffix: "rebalance",
        description: "Spot instances that are likely to be interrupted",
        source: "aws.ec2",
        detail_type: "EC2 Instance Rebalance Recommendation",
    },
    Event {
        suffix: "reservation",
        description: "Instances in a capacity reservation that takes its capacity back",
        source: "aws.ec2",
        detail_type: "EC2 Capacity Reservation Instance Interruption Warning",
    },
    Event {
        suffix: "spot",
        description: "Spot instances that will be interrupted in two minutes",
        source: "aws.ec2",
        detail_type: "EC2 Spot Instance Interruption Warning",
    },
    Event {
        suffix: "state",
        description: "Instances that are being stopped or terminated",
        source: "aws.ec2",
        detail_type: "EC2 Instance State-change Notification",
    },
];

/// The longest name of a rule.
const LONGEST: usize = 64;
/// The longest end of a rule's name, with its dash.
const LONGEST_SUFFIX: usize = "-reservation".len();
/// The longest prefix from which all rules can be named.
pub const LONGEST_PREFIX: usize = LONGEST - LONGEST_SUFFIX;

impl Event {
    /// The rule's name.
    pub fn rule(&self, prefix: &str) -> String {
        format!("{prefix}-{}", self.suffix)
    }

    /// The pattern of its events.
    pub fn pattern(&self) -> Json {
        json!({ "source": [self.source], "detail-type": [self.detail_type] })
    }
}

/// Who may use the queue: EventBridge puts the account's events into it, and nobody reaches it without TLS.
///
/// The account's own rules alone: any account could point a rule of its own at a queue that takes events from EventBridge as such.
///
/// # Errors
/// The text of the expectation if the ARN is not one of a queue.
pub fn queue_policy(queue_arn: &str) -> Result<Document, String> {
    let ["arn", partition, "sqs", region, account, name] = queue_arn.splitn(6, ':').collect::<Vec<_>>()[..]
    else {
        return Err(format!(
            "{queue_arn:?} is no ARN of a queue: expected arn:aws:sqs:REGION:ACCOUNT:NAME"
        ));
    };
    if [partition, region, account, name].contains(&"") {
        return Err(format!(
            "{queue_arn:?} is no ARN of a queue: a part of it is empty"
        ));
    }
    let queue = || vec![queue_arn.to_owned()];
    let rules = format!("arn:{partition}:events:{region}:{account}:rule/*");
    Ok(Document::new(vec![
        Statement::allow("Events", &["sqs:SendMessage"], queue())
            .to("Service", &["events.amazonaws.com"])
            .when("ArnLike", "aws:SourceArn", &[&rules]),
        Statement::allow("Queues", &["sqs:SendMessage"], queue())
            .to("Service", &["sqs.amazonaws.com"])
            .when("StringEquals", "aws:SourceAccount", &[account]),
        Statement::deny("OnlyWithTls", &["sqs:*"], queue())
            .to("AWS", &["*"])
            .when("Bool", "aws:SecureTransport", &["false"]),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_names_that_fit() {
        let longest = "p".repeat(LONGEST_PREFIX);
        let names: Vec<String> = EVENTS.iter().map(|event| event.rule(&longest)).collect();
        assert!(names.iter().all(|name| name.len() <= LONGEST), "{names:?}");
        assert!(names.is_sorted());
        assert_eq!(
            EVENTS[3].pattern(),
            json!({ "source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] })
        );
    }

    #[test]
    fn the_policy_is_of_the_queues_own_partition_and_account() {
        let text = queue_policy("arn:aws-cn:sqs:cn-north-1:123456789012:q")
            .unwrap()
            .to_json();
        for part in [
            "\"arn:aws-cn:events:cn-north-1:123456789012:rule/*\"",
            "\"Effect\":\"Deny\",\"Principal\":{\"AWS\":[\"*\"]}",
            "\"Service\":[\"events.amazonaws.com\"]",
            "\"Service\":[\"sqs.amazonaws.com\"]",
            "\"aws:SecureTransport\":[\"false\"]",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        for wrong in ["", "arn:aws:sns:r:1:q", "arn:aws:sqs:r::q", "https://sqs/q"] {
            assert!(queue_policy(wrong).is_err(), "{wrong}");
        }
    }
}
