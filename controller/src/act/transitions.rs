//! Events of conditions that change, in the words of the status controller that Karpenter uses.

use joiner_core::text::Text;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{Event, Object};

/// One event for each condition whose status differs between `before` and `after`. One that was not there counts as `Unknown`,
/// which is what Karpenter first writes.
pub(super) fn of(about: &Object, before: &[Condition], after: &[Condition]) -> Vec<Event> {
    let stood = |kind: &str| {
        let found = before.iter().find(|it| it.type_ == kind);
        found.map_or("Unknown", |it| it.status.as_str())
    };
    after
        .iter()
        .filter(|it| it.status != stood(&it.type_))
        .map(|it| {
            let mut message = format!(
                "Status condition transitioned, Type: {}, Status: {} -> {}, Reason: {}",
                it.type_,
                stood(&it.type_),
                it.status,
                it.reason
            );
            if !it.message.is_empty() {
                message.push_str(", Message: ");
                message.push_str(&it.message);
            }
            Event::normal(about.clone(), Text::from(it.type_.as_str()), message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    fn condition(kind: &str, status: &str, message: &str) -> Condition {
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: format!("{kind}Reason"),
            message: message.to_owned(),
            last_transition_time: Time(jiff::Timestamp::UNIX_EPOCH),
            observed_generation: None,
        }
    }

    #[test]
    fn what_changes_is_told_with_its_reason() {
        let about = Object::class("a", "u");
        let before = [condition("A", "True", ""), condition("B", "False", "old")];
        let after = [
            condition("A", "True", "other words"),
            condition("B", "True", ""),
            condition("C", "False", "none matches"),
            condition("D", "Unknown", ""),
        ];
        let told: Vec<String> = of(&about, &before, &after)
            .into_iter()
            .map(|it| it.message)
            .collect();
        assert_eq!(
            told,
            [
                "Status condition transitioned, Type: B, Status: False -> True, Reason: BReason",
                "Status condition transitioned, Type: C, Status: Unknown -> False, Reason: CReason, Message: none matches",
            ]
        );
    }
}
