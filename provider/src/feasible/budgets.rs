//! Budgets that never let a node go, and those that never hold.

use super::finding::{Finding, element, spec};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use joiner_core::disrupt::{Coverage, coverage};
use joiner_core::snapshot::{Budget, BudgetNodes, Pool};

/// Looks at every budget.
pub(super) fn check(pool: &Pool, written: usize, found: &mut Vec<Finding>) {
    let list = spec(&["disruption", "budgets"]);
    for (index, budget) in pool.disruption.budgets.iter().enumerate().take(written) {
        let window = budget.window.as_ref();
        let held = window.map_or(Coverage::Always, |window| coverage(window, reference()));
        match (held, allows_none(budget)) {
            (Coverage::Never, _) => found.push(Finding::wrong(
                element(&list, index, "schedule"),
                "The budget never holds",
                format!(
                    "No date fits the schedule {:?}, so the budget has no effect. Correct day and month, or remove the budget.",
                    window.map_or("", |window| &*window.schedule)
                ),
            )),
            (Coverage::Always, true) => found.push(Finding::doubtful(
                element(&list, index, "nodes"),
                "The budget never opens",
                format!(
                    "It allows no node to be disrupted{}{}, so nodes are never consolidated and never replaced when they drift. Allow some at \
                     times: a shorter duration than the time between two hits of the schedule, or more than 0 nodes.",
                    for_reasons(budget),
                    match window {
                        Some(window) => format!(
                            ", and each window of {} lasts until the next one of {:?} opens",
                            window.duration, &*window.schedule
                        ),
                        None => ", at any time".to_owned(),
                    }
                ),
            )),
            _ => {}
        }
    }
}

fn allows_none(budget: &Budget) -> bool {
    matches!(budget.nodes, BudgetNodes::Count(0) | BudgetNodes::Percent(0))
}

fn for_reasons(budget: &Budget) -> String {
    if budget.reasons.is_empty() {
        return String::new();
    }
    let reasons: Vec<&str> = budget.reasons.iter().map(|reason| reason.as_str()).collect();
    format!(" as {}", reasons.join(" or "))
}

/// A day on which the look at schedules begins: the same answer whenever it is asked.
fn reference() -> Timestamp {
    date(2026, 1, 1)
        .to_zoned(TimeZone::UTC)
        .map_or(Timestamp::UNIX_EPOCH, |day| day.timestamp())
}
