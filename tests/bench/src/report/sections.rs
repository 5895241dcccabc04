//! What the page says of the results, and its pictures.

use crate::cases::Group;
use crate::outcome::{Outcome, count, mean, median, most};
use crate::picture::{Line, Words, bars, lines};
use crate::tools::Tool;

const NONE: &str = "Not measured yet.\n";

/// One case with the outcome of each tool.
struct Row<'a> {
    case: &'a str,
    of: [Option<&'a Outcome>; 3],
}

impl<'a> Row<'a> {
    fn tool(&self, tool: Tool) -> Option<&'a Outcome> {
        self.of[tool as usize]
    }

    /// One of ours over the peer's, by `what`.
    fn ratio(&self, tool: Tool, what: fn(&Outcome) -> f64) -> Option<f64> {
        let (ours, peer) = (what(self.tool(tool)?), what(self.tool(Tool::Peer)?));
        (peer > 0.0).then(|| ours / peer)
    }
}

fn rows<'a>(outcomes: &'a [Outcome], groups: &[Group]) -> Vec<Row<'a>> {
    let mut all: Vec<Row<'a>> = Vec::new();
    for outcome in outcomes.iter().filter(|it| groups.contains(&it.group)) {
        let known = all.iter().position(|row| row.case == outcome.case);
        let index = known.unwrap_or_else(|| {
            all.push(Row {
                case: &outcome.case,
                of: [None; 3],
            });
            all.len() - 1
        });
        all[index].of[outcome.tool as usize] = Some(outcome);
    }
    all
}

/// The figures that people ask for first.
pub(super) fn summary(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    let big = rows(outcomes, &[Group::Upstream]);
    if let Some(row) = big
        .iter()
        .rev()
        .find(|row| row.ratio(Tool::Price, Outcome::pods_per_second).is_some())
    {
        let pods = row.tool(Tool::Peer).map_or(0, |it| it.pods);
        text += &format!("- Karpenter's own benchmark, {pods} pods: ");
        let parts: Vec<String> = [Tool::FirstFit, Tool::Price]
            .into_iter()
            .filter_map(|tool| {
                let speed = row.ratio(tool, Outcome::pods_per_second)?;
                let memory = row.ratio(tool, |it| it.peak_mib)?;
                Some(format!(
                    "{} decides {speed:.0} times as many pods a second in {memory:.2} of the memory",
                    tool.title()
                ))
            })
            .collect();
        text += &format!("{}.\n", parts.join("; "));
    }
    for (group, words) in [(Group::Spot, "spot allowed"), (Group::OnDemand, "on demand only")] {
        let rows = rows(outcomes, &[group]);
        let ratios: Vec<f64> = rows
            .iter()
            .filter_map(|row| row.ratio(Tool::Price, |it| it.price))
            .collect();
        if ratios.is_empty() {
            continue;
        }
        text += &format!(
            "- Realistic clusters, {words}: `price` pays {:.3} of what Karpenter pays in the mean, {:.3} at most; {}.\n",
            mean(&ratios),
            most(&ratios),
            gap_words(&rows),
        );
    }
    if text.is_empty() { NONE.into() } else { text }
}

fn gap_words(rows: &[Row<'_>]) -> String {
    let gaps: Vec<f64> = rows
        .iter()
        .filter_map(|row| gap(row.tool(Tool::Price)?, row))
        .collect();
    if gaps.is_empty() {
        return "no lower bound".into();
    }
    format!(
        "{:.3} of the lower bound in the median, {:.3} at most",
        median(&gaps),
        most(&gaps)
    )
}

/// A price over the lower bound, which `price` prints.
fn gap(outcome: &Outcome, row: &Row<'_>) -> Option<f64> {
    let bound = row.tool(Tool::Price)?.lower_bound.filter(|bound| *bound > 0.0)?;
    Some(outcome.price / bound)
}

const SPEED_HEAD: &str = "| case | tool | solving, ms (least to most) | pods/s | times | whole command, ms | processor, ms | memory, MiB | of the peer's | nodes | $/h |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

fn speed_table(rows: &[Row<'_>]) -> String {
    if rows.is_empty() {
        return NONE.into();
    }
    let mut text = String::from(SPEED_HEAD);
    for row in rows {
        for tool in Tool::ALL {
            let Some(it) = row.tool(tool) else { continue };
            let [middle, low, high] = it.solve_millis;
            text += &format!(
                "| {} | {} | {middle:.1} ({low:.1} to {high:.1}) | {:.0} | {} | {:.0} | {:.0} | {:.0} | {} | {} | {:.2} |\n",
                row.case,
                tool.title(),
                it.pods_per_second(),
                times(row.ratio(tool, Outcome::pods_per_second)),
                it.wall_millis,
                it.cpu_millis,
                it.peak_mib,
                part(row.ratio(tool, |it| it.peak_mib)),
                it.new_nodes,
                it.price,
            );
        }
    }
    text
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("{ratio:.0}×"))
}

fn part(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"))
}

pub(super) fn upstream(outcomes: &[Outcome]) -> String {
    speed_table(&rows(outcomes, &[Group::Upstream]))
}

pub(super) fn preferences(outcomes: &[Outcome]) -> String {
    speed_table(&rows(outcomes, &[Group::Preferences]))
}

pub(super) fn price(outcomes: &[Outcome]) -> String {
    let rows = rows(outcomes, &[Group::Spot, Group::OnDemand]);
    if rows.is_empty() {
        return NONE.into();
    }
    let mut text = String::from(
        "| case | tool | $/h | of the peer's | of the lower bound | nodes | spot nodes | of them with fewer than ten alternatives | though the catalogue has them | unplaced | solving, ms |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &rows {
        for tool in Tool::ALL {
            let Some(it) = row.tool(tool) else { continue };
            text += &format!(
                "| {} | {} | {:.3} | {} | {} | {} | {} | {} | {} | {} | {:.1} |\n",
                row.case,
                tool.title(),
                it.price,
                ratio3(row.ratio(tool, |it| it.price)),
                ratio3(gap(it, row)),
                it.new_nodes,
                it.spot_nodes,
                it.narrow_spot_nodes,
                it.needlessly_narrow.map_or("–".into(), |count| count.to_string()),
                it.unplaced,
                it.solve_millis[0],
            );
        }
    }
    text
}

fn ratio3(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"))
}

pub(super) fn growth(outcomes: &[Outcome]) -> String {
    let mut text = speed_table(&rows(outcomes, &[Group::Large, Group::Existing]));
    for tool in [Tool::FirstFit, Tool::Price] {
        let solve = |group: Group, pick: &dyn Fn(&Outcome) -> bool| {
            outcomes
                .iter()
                .find(|it| it.group == group && it.tool == tool && pick(it))
                .map(|it| it.solve_millis[0])
        };
        let pods = (
            solve(Group::Upstream, &|it| it.pods == 20_000),
            solve(Group::Upstream, &|it| it.pods == 10_000),
        );
        if let (Some(more), Some(less)) = pods {
            text += &format!(
                "\n{}: 20,000 pods take {:.2} times what 10,000 take.\n",
                tool.title(),
                more / less.max(0.001)
            );
        }
        let nodes = (
            solve(Group::Existing, &|it| it.existing == 2000),
            solve(Group::Existing, &|it| it.existing == 200),
        );
        if let (Some(more), Some(less)) = nodes {
            text += &format!(
                "\n{}: 2,000 nodes take {:.2} times what 200 take.\n",
                tool.title(),
                more / less.max(0.001)
            );
        }
    }
    text
}

pub(super) fn checked(outcomes: &[Outcome]) -> String {
    let mut text =
        String::from("| tool | answers | with violations | pods without a place |\n|---|--:|--:|--:|\n");
    for tool in Tool::ALL {
        let of: Vec<&Outcome> = outcomes.iter().filter(|it| it.tool == tool).collect();
        let bad = of
            .iter()
            .filter(|it| it.violations.is_some_and(|count| count > 0))
            .count();
        let unplaced: usize = of.iter().map(|it| it.unplaced).sum();
        text += &format!("| {} | {} | {bad} | {unplaced} |\n", tool.title(), of.len());
    }
    let first = outcomes
        .iter()
        .filter_map(|it| Some((it, it.first_violation.as_ref()?)));
    for (it, words) in first.take(12) {
        text += &format!("\n- {} on {}: {words}", it.tool.title(), it.case);
    }
    text + "\n"
}

/// The pictures by their file names.
pub(super) fn pictures(outcomes: &[Outcome]) -> Vec<(&'static str, String)> {
    let upstream = rows(outcomes, &[Group::Upstream]);
    let by_size = |what: fn(&Outcome) -> f64| -> Vec<Line> {
        let line = |tool: Tool| Line {
            name: tool.title().into(),
            points: upstream
                .iter()
                .filter_map(|row| row.tool(tool))
                .map(|it| (count(it.pods), what(it)))
                .collect(),
        };
        Tool::ALL
            .into_iter()
            .map(line)
            .filter(|line| !line.points.is_empty())
            .collect()
    };
    let words = |title, up| Words {
        title,
        across: "pods in one pass",
        up,
    };
    let prices = rows(outcomes, &[Group::Spot, Group::OnDemand]);
    let bar = |row: &Row<'_>| -> Option<(String, Vec<f64>)> {
        let values: Option<Vec<f64>> = Tool::ALL.iter().map(|tool| gap(row.tool(*tool)?, row)).collect();
        let group = row.tool(Tool::Price)?;
        let kind = if group.group == Group::Spot { "spot" } else { "o-d" };
        let seed = row.case.rsplit('-').next().unwrap_or("");
        Some((format!("{kind} {seed}"), values?))
    };
    let bar_rows: Vec<(String, Vec<f64>)> = prices.iter().filter_map(bar).collect();
    vec![
        (
            "pods-per-second.svg",
            lines(
                words("Karpenter's benchmark: pods decided a second", "pods a second"),
                &by_size(Outcome::pods_per_second),
            ),
        ),
        (
            "memory.svg",
            lines(
                words("Karpenter's benchmark: most memory held", "MiB"),
                &by_size(|it| it.peak_mib),
            ),
        ),
        (
            "command.svg",
            lines(
                words("Karpenter's benchmark: the whole command", "milliseconds"),
                &by_size(|it| it.wall_millis),
            ),
        ),
        (
            "price.svg",
            bars(
                Words {
                    title: "Realistic clusters: price over the lower bound",
                    across: "cluster (spot allowed, on demand only; by seed)",
                    up: "times the lower bound",
                },
                &Tool::ALL.map(Tool::title),
                &bar_rows,
                Some(1.0),
            ),
        ),
        (
            "price-by-size.svg",
            lines(
                words("Karpenter's benchmark: price of the new nodes", "dollars an hour"),
                &by_size(|it| it.price),
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{checked, growth, pictures, price, summary, upstream};
    use crate::cases::Group;
    use crate::outcome::Outcome;
    use crate::tools::Tool;

    fn outcome(group: Group, tool: Tool, millis: f64, price: f64) -> Outcome {
        Outcome {
            case: "case-1".into(),
            group,
            tool,
            pods: 1000,
            existing: 0,
            runs: 3,
            solve_millis: [millis, millis, millis],
            wall_millis: millis,
            cpu_millis: millis,
            peak_mib: millis,
            new_nodes: 7,
            price,
            lower_bound: (tool == Tool::Price).then_some(10.0),
            unplaced: 0,
            spot_nodes: 0,
            narrow_spot_nodes: 0,
            needlessly_narrow: Some(0),
            violations: Some(0),
            first_violation: None,
        }
    }

    #[test]
    fn ratios_are_of_ours_to_the_peer() {
        let outcomes = [
            outcome(Group::Upstream, Tool::Peer, 2000.0, 30.0),
            outcome(Group::Upstream, Tool::Price, 10.0, 11.0),
            outcome(Group::Spot, Tool::Peer, 2000.0, 20.0),
            outcome(Group::Spot, Tool::Price, 10.0, 11.0),
        ];
        let text = summary(&outcomes);
        assert!(
            text.contains("200 times as many pods a second in 0.01 of the memory"),
            "{text}"
        );
        assert!(text.contains("0.550 of what Karpenter pays"), "{text}");
        assert!(text.contains("1.100 of the lower bound"), "{text}");
        assert!(upstream(&outcomes).contains("| 200× |"));
    }

    #[test]
    fn nothing_measured_is_said_so() {
        for text in [summary(&[]), upstream(&[]), price(&[]), growth(&[])] {
            assert!(text.contains("Not measured yet"), "{text}");
        }
        assert!(checked(&[]).contains("| Karpenter | 0 | 0 | 0 |"));
        assert_eq!(pictures(&[]).len(), 5);
    }
}
