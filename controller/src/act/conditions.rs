//! Conditions as the API writes them.

use jiff::Timestamp;
use joiner_core::conditions::{Conditions, Wanted};
use serde_json::{Value, json};

/// The conditions that stand when `wanted` has been applied at `now` and `dropped` are no more, as a list for a status. Times
/// are written in whole seconds, as Kubernetes keeps no more.
pub(super) fn applied(
    standing: &Conditions,
    wanted: &[Wanted],
    dropped: &[&str],
    generation: i64,
    now: Timestamp,
) -> Value {
    let mut conditions = standing.clone();
    for one in wanted {
        conditions.apply(one, now);
    }
    let row = |(kind, it): (&joiner_core::text::Text, &joiner_core::conditions::Condition)| {
        let second = Timestamp::from_second(it.since.as_second()).unwrap_or(it.since);
        json!({
            "type": &**kind,
            "status": it.status.as_str(),
            "reason": reason(&it.reason, kind),
            "message": &*it.message,
            "lastTransitionTime": second.to_string(),
            "observedGeneration": generation,
        })
    };
    conditions
        .iter()
        .filter(|(kind, _)| !dropped.contains(&&***kind))
        .map(row)
        .collect()
}

/// The API wants a reason; where there is none, the type is it.
fn reason<'a>(reason: &'a str, kind: &'a str) -> &'a str {
    if reason.is_empty() { kind } else { reason }
}
