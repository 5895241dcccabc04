//! Why not, in words: the text of events and of answers to people.

mod advice;
mod pools;
mod rows;
mod words;

pub use advice::{Advice, Alone, advice, alone};
pub use pools::{Check, PoolChecks, pools};
pub use rows::{Row, rows};
pub use words::{limit_needed, toleration};

mod detail;
mod pod;

use std::fmt;

pub use detail::{Detail, detail};
pub use pod::{Explanation, NodeFinding, Outcome, pod};

use crate::schedule::{Misfit, Nearest, Refusal};

/// The message of a FailedScheduling event.
pub fn refusal(refusal: &Refusal) -> String {
    if let [first, rest @ ..] = &refusal.pod[..] {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" ({} more reasons)", rest.len())
        };
        return format!("Failed to schedule pod: {first}{more}");
    }
    if refusal.pools.is_empty() {
        return "Failed to schedule pod: there is no NodePool; create one".to_owned();
    }
    let pools: Vec<String> = refusal
        .pools
        .iter()
        .map(|(pool, misfit)| format!("NodePool \"{pool}\": {misfit}"))
        .collect();
    format!("Failed to schedule pod: {}", pools.join("; "))
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Unsupported { what } => write!(f, "it asks for what is not supported: {what}"),
            Misfit::NotReady { reason } => write!(f, "it is not ready: {reason}"),
            Misfit::Deleting => write!(f, "it is being deleted"),
            Misfit::Contradiction { said, .. } => write!(f, "it contradicts itself: {said}"),
            Misfit::Static { replicas } => {
                write!(f, "it is static, with {replicas} nodes whatever pods want")
            }
            Misfit::Taint { taint } => write!(f, "the pod does not tolerate its taint {taint}"),
            Misfit::Label { conflict } => write!(f, "labels do not go together: {conflict}"),
            Misfit::NoTypes => write!(
                f,
                "it has no instance types; look at the status of its node class"
            ),
            Misfit::Types {
                total,
                incompatible,
                label,
                offered,
                too_small,
                nearest,
                unavailable,
            } => {
                write!(f, "none of {total} instance types will do: ")?;
                let mut parts = Vec::new();
                if *incompatible > 0 {
                    let most = label.as_ref().map(|label| match &offered[..] {
                        [] => format!(", most by {label}"),
                        some => format!(", most by {label} (there is {})", some.join(", ")),
                    });
                    let most = most.unwrap_or_default();
                    parts.push(format!("{incompatible} do not match the requirements{most}"));
                }
                if *too_small > 0 {
                    let nearest = nearest
                        .as_ref()
                        .map(|nearest| format!(" (nearest: {nearest})"))
                        .unwrap_or_default();
                    parts.push(format!("{too_small} are too small{nearest}"));
                }
                if *unavailable > 0 {
                    parts.push(format!(
                        "{unavailable} are not on sale now in the zones and capacity types asked for"
                    ));
                }
                f.write_str(&parts.join(", "))
            }
            Misfit::Limit {
                resource,
                limit,
                used,
                needed,
            } => {
                let text = |amount: i64| resource.display(amount);
                let (limit, used, needed) = (text(*limit), text(*used), text(*needed));
                write!(
                    f,
                    "its limit of {resource} {limit} would be exceeded: {used} are in use or on their way and the \
                     smallest node for this pod needs {needed}"
                )
            }
            Misfit::MinValues { key, found, wanted } => write!(
                f,
                "minValues wants {wanted} different values of {key}, the instance types that fit have {found}"
            ),
            Misfit::Topology { rule } => write!(f, "{rule}"),
            Misfit::Port { port } => {
                write!(
                    f,
                    "a daemon on each of its nodes takes host port {}/{}",
                    port.port, port.protocol
                )
            }
        }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instance_type)?;
        for (index, row) in self.shortfalls.iter().enumerate() {
            if row.available < 0 {
                let lead = if index == 0 { " lacks" } else { ", lacks" };
                let missing = row.resource.display(row.available.saturating_neg());
                write!(f, "{lead} {} {missing} for its daemons alone", row.resource)?;
                continue;
            }
            let lead = if index == 0 { " has" } else { "," };
            let (available, wanted) = (
                row.resource.display(row.available),
                row.resource.display(row.wanted),
            );
            write!(f, "{lead} {} {available} of {wanted}", row.resource)?;
        }
        Ok(())
    }
}
