//! Budgets: how many nodes of a pool may be disrupted now.

use std::collections::BTreeMap;
use std::str::FromStr;

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::conditions::INSTANCE_TERMINATING;
use crate::snapshot::{BudgetNodes, BudgetWindow, DisruptionReason, Node, Phase, Pool, Snapshot};
use crate::text::Text;

/// What a pool's budgets allow for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Nodes that count: ours, initialised, with an instance.
    pub nodes: u32,
    /// How many may be disrupted at a time; `u32::MAX` where no budget holds.
    pub allowed: u32,
    /// How many already are, or are not ready.
    pub disrupting: u32,
}

impl Allowance {
    /// How many more may go.
    pub fn left(&self) -> u32 {
        self.allowed.saturating_sub(self.disrupting)
    }
}

/// A budget's schedule that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "budget schedule {schedule:?} is not a cron expression of five fields or @hourly, @daily, @weekly, @monthly, @yearly: {why}"
)]
pub struct InvalidSchedule {
    schedule: Text,
    why: String,
}

/// The allowance of every pool for `reason`. An invalid schedule allows nothing.
pub fn allowances(
    snapshot: &Snapshot,
    reason: DisruptionReason,
    now: Timestamp,
) -> BTreeMap<Text, Allowance> {
    let of = |pool: &Pool| {
        let counted = || {
            snapshot
                .nodes
                .iter()
                .filter(|node| node.pool() == Some(&pool.name) && counts(node))
        };
        let nodes = u32::try_from(counted().count()).unwrap_or(u32::MAX);
        let disrupting =
            u32::try_from(counted().filter(|node| is_disrupting(node)).count()).unwrap_or(u32::MAX);
        Allowance {
            nodes,
            allowed: allowed(pool, nodes, reason, now),
            disrupting,
        }
    };
    snapshot
        .pools
        .iter()
        .map(|pool| (pool.name.clone(), of(pool)))
        .collect()
}

/// Whether `schedule` is one that budgets understand.
///
/// # Errors
/// Why it is not.
pub fn check_schedule(schedule: &str) -> Result<(), InvalidSchedule> {
    parse(schedule).map(drop)
}

/// Over which part of the time a schedule's windows are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Never: no date fits the schedule.
    Never,
    /// At times.
    Sometimes,
    /// Always: each window lasts until the next one opens.
    Always,
}

/// How much of the time a window of a budget is open, judged by the 400 times that it opens from `from` on. A schedule that cannot be read
/// is open always, since it blocks its pool.
pub fn coverage(window: &BudgetWindow, from: Timestamp) -> Coverage {
    coverage_together(&[window], from)
}

/// The same of several windows: always, where whenever one closes another is open.
pub fn coverage_together(windows: &[&BudgetWindow], from: Timestamp) -> Coverage {
    const LOOK: usize = 400;
    let mut open = Vec::new();
    // What comes after the last look at one of them is not known.
    let mut end = Timestamp::MAX;
    for window in windows {
        let Ok(cron) = parse(&window.schedule) else {
            return Coverage::Always;
        };
        let mut at = from.to_zoned(TimeZone::UTC);
        for _ in 0..LOOK {
            let Ok(next) = cron.find_next_occurrence(&at, false) else {
                break;
            };
            open.push((next.timestamp(), window.duration));
            at = next;
        }
        if at.timestamp() > from {
            end = end.min(at.timestamp());
        }
    }
    open.sort();
    let mut closes = match open.as_slice() {
        [] => return Coverage::Never,
        [_] => return Coverage::Sometimes,
        [(start, _), ..] => *start,
    };
    for (start, duration) in open {
        if start > end {
            break;
        }
        if start > closes {
            return Coverage::Sometimes;
        }
        closes = closes.max(start.checked_add(duration).unwrap_or(Timestamp::MAX));
    }
    Coverage::Always
}

fn counts(node: &Node) -> bool {
    node.phase() == Phase::Initialized
        && node
            .claim
            .as_ref()
            .is_some_and(|claim| !claim.conditions.is_true(INSTANCE_TERMINATING))
}

fn is_disrupting(node: &Node) -> bool {
    node.is_going() || node.object.as_ref().is_none_or(|object| !object.ready)
}

fn allowed(pool: &Pool, nodes: u32, reason: DisruptionReason, now: Timestamp) -> u32 {
    let budgets = &pool.disruption.budgets;
    // A budget that nobody can read blocks all of its pool, whatever its reasons.
    if budgets
        .iter()
        .filter_map(|budget| budget.window.as_ref())
        .any(|window| parse(&window.schedule).is_err())
    {
        return 0;
    }
    budgets
        .iter()
        .filter(|budget| budget.reasons.is_empty() || budget.reasons.contains(&reason))
        .filter(|budget| budget.window.as_ref().is_none_or(|window| is_open(window, now)))
        .map(|budget| match budget.nodes {
            BudgetNodes::Count(count) => count,
            BudgetNodes::Percent(percent) => {
                let hundredths = u64::from(nodes) * u64::from(percent);
                u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
            }
        })
        .min()
        .unwrap_or(u32::MAX)
}

/// Whether the schedule was hit within the window's duration before `now`.
fn is_open(window: &BudgetWindow, now: Timestamp) -> bool {
    let Ok(cron) = parse(&window.schedule) else {
        return true;
    };
    let Ok(start) = now.checked_sub(window.duration) else {
        return true;
    };
    let start = start.to_zoned(TimeZone::UTC);
    cron.find_next_occurrence(&start, false)
        .is_ok_and(|hit| hit.timestamp() <= now)
}

/// When a window of the pool's budgets opens or closes next after `after`; none where its budgets do not depend on the time.
pub(super) fn next_change(pool: &Pool, after: Timestamp) -> Option<Timestamp> {
    let windows = pool
        .disruption
        .budgets
        .iter()
        .filter_map(|budget| budget.window.as_ref());
    let of = |window: &BudgetWindow| {
        let cron = parse(&window.schedule).ok()?;
        let hit = |from: Timestamp| {
            let from = from.to_zoned(TimeZone::UTC);
            Some(cron.find_next_occurrence(&from, false).ok()?.timestamp())
        };
        let opens = hit(after);
        // The hit whose window closes first of those that are open.
        let closes = after
            .checked_sub(window.duration)
            .ok()
            .and_then(hit)
            .and_then(|hit| hit.checked_add(window.duration).ok());
        [opens, closes].into_iter().flatten().min()
    };
    windows.filter_map(of).min()
}

fn parse(schedule: &str) -> Result<Cron, InvalidSchedule> {
    let invalid = |why: String| InvalidSchedule {
        schedule: schedule.into(),
        why,
    };
    let fields = match schedule {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        other => other,
    };
    let count = fields.split_whitespace().count();
    if count != 5 {
        return Err(invalid(format!("it has {count} fields")));
    }
    Cron::from_str(fields).map_err(|error| invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Coverage, check_schedule, coverage, coverage_together, is_open};
    use crate::snapshot::BudgetWindow;
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn coverage_tells_how_much_of_the_time_windows_are_open() {
        let from: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for (schedule, hours, want) in [
            ("@daily", 24, Coverage::Always),
            ("@daily", 23, Coverage::Sometimes),
            ("@hourly", 1, Coverage::Always),
            ("0 9 * * 1-5", 24, Coverage::Sometimes),
            ("0 9 * * 1-5", 72, Coverage::Always),
            ("0 0 30 2 *", 1, Coverage::Never),
            ("0 0 29 2 *", 1, Coverage::Sometimes),
        ] {
            let window = BudgetWindow {
                schedule: schedule.into(),
                duration: SignedDuration::from_hours(hours),
            };
            assert_eq!(coverage(&window, from), want, "{schedule} {hours} h");
        }
    }

    #[test]
    fn windows_that_take_turns_are_open_always() {
        let from: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let window = |(schedule, hours): &(&str, i64)| BudgetWindow {
            schedule: (*schedule).into(),
            duration: SignedDuration::from_hours(*hours),
        };
        for (windows, want) in [
            ([("0 0 * * *", 12), ("0 12 * * *", 12)], Coverage::Always),
            ([("0 0 * * *", 12), ("0 12 * * *", 11)], Coverage::Sometimes),
            ([("0 0 * * 1-5", 24), ("0 0 * * 6", 48)], Coverage::Always),
            ([("0 0 * * 1-5", 24), ("0 0 * * 6", 24)], Coverage::Sometimes),
            ([("0 0 30 2 *", 1), ("0 0 31 2 *", 1)], Coverage::Never),
            ([("0 0 30 2 *", 1), ("@daily", 24)], Coverage::Always),
        ] {
            let both: Vec<BudgetWindow> = windows.iter().map(window).collect();
            let both: Vec<&BudgetWindow> = both.iter().collect();
            assert_eq!(coverage_together(&both, from), want, "{windows:?}");
        }
    }

    #[test]
    fn a_window_is_open_for_its_duration_after_each_hit() {
        let nights = |hours| BudgetWindow {
            schedule: "0 22 * * 1-5".into(),
            duration: SignedDuration::from_hours(hours),
        };
        // 2026-11-30 is a Monday.
        for (time, hours, want) in [
            ("2026-11-30T21:59:59Z", 8, false),
            ("2026-11-30T22:00:00Z", 8, true),
            ("2026-12-01T05:59:59Z", 8, true),
            ("2026-12-01T06:00:01Z", 8, false),
            ("2026-11-29T22:30:00Z", 8, false),
            ("2026-11-29T21:30:00Z", 48, true),
        ] {
            let now: Timestamp = time.parse().unwrap();
            assert_eq!(is_open(&nights(hours), now), want, "{time}, {hours} h");
        }
    }

    #[test]
    fn schedules_are_five_fields_or_a_name() {
        for (schedule, valid) in [
            ("* * * * *", true),
            ("0 9 * * mon-fri", true),
            ("*/15 0,12 1-7 jan *", true),
            ("@daily", true),
            ("@midnight", true),
            ("@weekly", true),
            ("@every 5m", false),
            ("* * * *", false),
            ("* * * * * *", false),
            ("60 * * * *", false),
            ("", false),
        ] {
            assert_eq!(check_schedule(schedule).is_ok(), valid, "{schedule:?}");
        }
    }
}
