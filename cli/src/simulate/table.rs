//! The answer as a person reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use joiner_core::text::Text;
use joiner_map::Answer;
use joiner_map::answer::{NewNode, Reason, Relaxed, StaticNodes, Unschedulable};

/// So many instance types of a node are named.
const SHOWN: usize = 3;

/// The whole answer.
pub(super) fn text(answer: &Answer) -> String {
    let mut parts = Vec::new();
    if !answer.new_nodes.is_empty() {
        parts.push(new_nodes(&answer.new_nodes));
    }
    if !answer.static_nodes.is_empty() {
        parts.push(static_nodes(&answer.static_nodes));
    }
    if !answer.existing_nodes.is_empty() {
        let mut table = table(["NODE", "MORE PODS"], 1);
        for node in &answer.existing_nodes {
            table.add_row([node.name.clone(), node.pods.len().to_string()]);
        }
        parts.push(printed(&table));
    }
    if !answer.unschedulable.is_empty() {
        parts.push(without(&answer.unschedulable));
    }
    if !answer.relaxed.is_empty() {
        parts.push(relaxed(&answer.relaxed));
    }
    parts.push(summary(answer));
    parts.join("\n\n")
}

fn new_nodes(nodes: &[NewNode]) -> String {
    let mut table = table(
        [
            "NEW NODE",
            "INSTANCE TYPES",
            "CAPACITY",
            "ZONES",
            "PODS",
            "CPU",
            "MEMORY",
            "PER HOUR",
        ],
        4,
    );
    for node in nodes {
        let requested = |name: &str| node.requests.get(name).cloned().unwrap_or_else(|| "0".to_owned());
        table.add_row([
            node.name.clone(),
            shortened(&node.instance_types),
            values(node, "karpenter.sh/capacity-type"),
            values(node, "topology.kubernetes.io/zone"),
            node.pods.len().to_string(),
            requested("cpu"),
            requested("memory"),
            format!("${:.4}", node.price),
        ]);
    }
    printed(&table)
}

/// What static pools lack.
fn static_nodes(pools: &[StaticNodes]) -> String {
    let mut table = table(
        [
            "STATIC POOL",
            "INSTANCE TYPES",
            "WANTED",
            "THERE",
            "TO MAKE",
            "EACH PER HOUR",
        ],
        2,
    );
    let mut reasons = String::new();
    for pool in pools {
        table.add_row([
            pool.node_pool.clone(),
            shortened(&pool.instance_types),
            pool.replicas.to_string(),
            pool.there.to_string(),
            pool.missing.to_string(),
            format!("${:.4}", pool.price),
        ]);
        if !pool.reason.is_empty() {
            let _ = write!(reasons, "\n  NodePool {}: {}", pool.node_pool, pool.reason);
        }
    }
    printed(&table) + &reasons
}

fn values(node: &NewNode, key: &str) -> String {
    let row = node
        .requirements
        .iter()
        .find(|row| row.key == key && row.operator == "In");
    row.map_or_else(|| "any".to_owned(), |row| row.values.join(","))
}

fn shortened(names: &[Text]) -> String {
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Pods without a node, alike ones together.
fn without(rows: &[Unschedulable]) -> String {
    let mut alike: Vec<(&[Reason], Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let key: String = row
            .reasons
            .iter()
            .map(|reason| format!("{}\n{}\n", reason.node_pool, reason.reason))
            .collect();
        let place = *places.entry(key).or_insert_with(|| {
            alike.push((&row.reasons, Vec::new()));
            alike.len() - 1
        });
        alike[place].1.push(&row.pod);
    }
    let mut text = "PODS WITHOUT A NODE".to_owned();
    for (reasons, pods) in alike {
        let shown = pods.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = match pods.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = write!(text, "\n{shown}{more}");
        for reason in reasons {
            let pool = match reason.node_pool.as_str() {
                "" => String::new(),
                pool => format!("NodePool {pool}: "),
            };
            let _ = write!(text, "\n  {pool}{}", reason.reason);
            if !reason.field.is_empty() {
                let _ = write!(text, "\n    see {}", reason.field);
            }
        }
    }
    text
}

fn relaxed(rows: &[Relaxed]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(&row.dropped).or_default() += 1;
    }
    let mut table = table(["WISHES NOT GRANTED", "PODS"], 1);
    for (dropped, count) in counts {
        table.add_row([dropped.to_owned(), count.to_string()]);
    }
    printed(&table)
}

fn summary(answer: &Answer) -> String {
    let on_new: usize = answer.new_nodes.iter().map(|node| node.pods.len()).sum();
    let on_old: usize = answer.existing_nodes.iter().map(|node| node.pods.len()).sum();
    let cost = &answer.hourly_cost;
    let mut text = format!(
        "{on_new} pods on {} new nodes, {on_old} on nodes that are there, {} without a node\n",
        answer.new_nodes.len(),
        answer.unschedulable.len()
    );
    let _ = write!(
        text,
        "per hour: ${:.4} for new nodes, ${:.4} for those that are there",
        cost.new, cost.existing
    );
    if cost.lower_bound > 0.0 {
        let gap = (cost.new / cost.lower_bound - 1.0).max(0.0) * 100.0;
        let _ = write!(
            text,
            "; no new nodes can cost less than ${:.4} (a gap of {gap:.1} %)",
            cost.lower_bound
        );
    }
    let _ = write!(text, "\ndecided in {} ms", answer.solve_millis);
    text
}

fn table<const N: usize>(head: [&str; N], right_from: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(head);
    for column in table.column_iter_mut().skip(right_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn printed(table: &Table) -> String {
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
