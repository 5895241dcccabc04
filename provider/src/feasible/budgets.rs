//! Budgets that never let a node go, and those that never hold.

use super::finding::{Finding, element, spec};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use joiner_api::rules::JsonPath;
use joiner_core::disrupt::{Coverage, coverage, coverage_together};
use joiner_core::snapshot::{Budget, BudgetNodes, BudgetWindow, DisruptionReason, Pool};

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
    check_together(
        &pool.disruption.budgets[..written.min(pool.disruption.budgets.len())],
        &list,
        found,
    );
}

/// Budgets that take turns, so that one of them is always open and allows nothing.
fn check_together(budgets: &[Budget], list: &JsonPath, found: &mut Vec<Finding>) {
    let reasons = [
        DisruptionReason::Drifted,
        DisruptionReason::Underutilized,
        DisruptionReason::Empty,
    ];
    for reason in reasons {
        let holds = |budget: &Budget| budget.reasons.is_empty() || budget.reasons.contains(&reason);
        let closing: Vec<(usize, &BudgetWindow)> = budgets
            .iter()
            .enumerate()
            .filter(|(_, budget)| allows_none(budget) && holds(budget))
            .filter_map(|(index, budget)| Some((index, budget.window.as_ref()?)))
            .collect();
        let is_always =
            |windows: &[&BudgetWindow]| coverage_together(windows, reference()) == Coverage::Always;
        let windows: Vec<&BudgetWindow> = closing.iter().map(|(_, window)| *window).collect();
        // One that never opens by itself is told already.
        if windows.iter().any(|window| is_always(&[window])) || !is_always(&windows) {
            continue;
        }
        let [others @ .., (last, _)] = closing.as_slice() else {
            continue;
        };
        let others: Vec<String> = others
            .iter()
            .map(|(index, _)| format!("disruption.budgets[{index}]"))
            .collect();
        found.push(Finding::doubtful(
            element(list, *last, "nodes"),
            "The budgets never open together",
            format!(
                "The budget allows no node to be disrupted, and together with {} it holds at all times, so nodes are never disrupted as {}. Leave \
                 a time without any of them, or allow more than 0 nodes.",
                others.join(" and "),
                reason.as_str()
            ),
        ));
        // The others of these reasons would say the same of the same budgets.
        return;
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
