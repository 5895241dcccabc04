//! Checks of a configuration.

use super::OWNER_TAG;
use super::schema::InterruptionQueue;
use crate::roles::check_tags;
use joiner_aws::interruption::LONGEST_PREFIX;
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &InterruptionQueue) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    if let Some(name) = config.name.as_str() {
        check_name(name, &mut found);
        if name.len() > LONGEST_PREFIX && config.rule_name_prefix.is_null() {
            found.error_at(
                "name",
                "Too long for the rules' names",
                format!(
                    "The names of the rules begin with the queue's, and {name:?} has {} characters where {LONGEST_PREFIX} leave room for the \
                     rest. Choose a shorter name, or set rule_name_prefix.",
                    name.len()
                ),
            );
        }
    }
    if let Some(prefix) = config.rule_name_prefix.as_str()
        && !(prefix.len() <= LONGEST_PREFIX && prefix.chars().all(|char| is_inner(char) || char == '.'))
    {
        found.error_at(
            "rule_name_prefix",
            "Not a prefix of rule names",
            format!(
                "{prefix:?}: expected at most {LONGEST_PREFIX} letters, digits, dots, dashes and underscores, since names of rules have 64."
            ),
        );
    }
    check_tags(&config.tags, OWNER_TAG, &mut found);
    found.into_result(())
}

fn check_name(name: &str, found: &mut Diagnostics) {
    let problem = if name.ends_with(".fifo") {
        "EventBridge fills it without order, and the controller wants none: a FIFO queue does not fit. Leave .fifo out"
    } else if name.len() > 80 || !name.chars().all(is_inner) {
        "a queue's name has 1 to 80 letters, digits, dashes and underscores, and no others. Choose such a name"
    } else {
        return;
    };
    found.error_at("name", "Not a queue's name", format!("{name:?}: {problem}."));
}

fn is_inner(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-_".contains(char)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tfplugin::Field;

    #[test]
    fn wrong_attributes_are_named() {
        let fine = || InterruptionQueue {
            name: "q".into(),
            ..InterruptionQueue::default()
        };
        let long = "q".repeat(53);
        for (config, path) in [
            (
                InterruptionQueue {
                    name: "a b".into(),
                    ..fine()
                },
                "name",
            ),
            (
                InterruptionQueue {
                    name: "q.fifo".into(),
                    ..fine()
                },
                "name",
            ),
            (
                InterruptionQueue {
                    name: long.as_str().into(),
                    ..fine()
                },
                "name",
            ),
            (
                InterruptionQueue {
                    rule_name_prefix: "a/b".into(),
                    ..fine()
                },
                "rule_name_prefix",
            ),
            (
                InterruptionQueue {
                    tags: Field::Known(BTreeMap::from([(OWNER_TAG.into(), "x".into())])),
                    ..fine()
                },
                "tags[\"joiner.dev/interruption-queue\"]",
            ),
        ] {
            assert_eq!(validate(&config).expect_err(path).paths(), [path]);
        }
        assert!(validate(&fine()).is_ok());
        let other_prefix = InterruptionQueue {
            name: long.as_str().into(),
            rule_name_prefix: "p".into(),
            ..fine()
        };
        assert!(validate(&other_prefix).is_ok());
    }
}
