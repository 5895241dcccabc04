//! What is told about a pod.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use joiner_core::explain::{Advice, Alone, PoolChecks, advice, alone, pools, rows};
use joiner_core::schedule::{NewClaim, Refusal, Schedule};
use joiner_core::snapshot::{Pod, PodKey};
use joiner_map::answer::Reason;
use serde::Serialize;

use super::find;
use crate::simulate::{Picture, decide};

/// Why a pod has a node, or has none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explanation {
    /// Namespace and name.
    pod: String,
    /// What it asks for.
    requests: std::collections::BTreeMap<String, String>,
    /// Where it stands, or would.
    verdict: Verdict,
    /// Why it has no place; empty where it has one.
    reasons: Vec<Reason>,
    /// Every pool, constraint by constraint.
    node_pools: Vec<PoolRow>,
    /// Single changes that would help, the smallest first; each was tried.
    advice: Vec<AdviceRow>,
}

/// Where a pod stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
enum Verdict {
    /// It is on a node.
    Bound { node: String },
    /// It would be put on a node that is there.
    ExistingNode { node: String },
    /// A node would be bought for it.
    #[serde(rename_all = "camelCase")]
    NewNode {
        node_pool: String,
        instance_types: Vec<String>,
        price: f64,
        with: usize,
    },
    /// It would have no place.
    NoPlace {
        /// Whether it would have one if no other pod waited.
        alone: bool,
    },
    /// Nobody decides on it.
    NotDecided { why: String },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PoolRow {
    node_pool: String,
    constraints: Vec<CheckRow>,
}

#[derive(Debug, Serialize)]
struct CheckRow {
    constraint: String,
    met: bool,
    detail: String,
}

#[derive(Debug, Serialize)]
struct AdviceRow {
    change: String,
    field: String,
}

pub(super) fn explain(picture: &Picture, key: &PodKey) -> Result<Explanation> {
    let snapshot = &picture.parts.snapshot;
    let pod = find(picture, key)?;
    let gates = picture.parts.gated.iter().find(|(gated, _)| gated == key);
    let going = snapshot
        .nodes
        .iter()
        .find(|node| node.pods.iter().any(|there| there.key == *key));
    let (verdict, refusal) = match (gates, going) {
        (Some((_, gates)), _) => (
            Verdict::NotDecided {
                why: format!(
                    "it waits until its scheduling gates are taken away: {}",
                    gates.join(", ")
                ),
            },
            None,
        ),
        (None, Some(node)) if !node.is_going() => (
            Verdict::Bound {
                node: node.name().to_string(),
            },
            None,
        ),
        (None, None) if !pod.is_provisionable() => (
            Verdict::NotDecided {
                why: "it is being deleted, or it belongs to a DaemonSet, or a preemption makes room for it"
                    .to_owned(),
            },
            None,
        ),
        _ => {
            let (schedule, _) = decide(snapshot, &picture.catalogue, picture.now, Duration::ZERO);
            decided(picture, pod, &schedule)
        }
    };
    let reasons = refusal
        .as_ref()
        .map(|refusal| rows(pod, refusal))
        .unwrap_or_default();
    let helping = match &refusal {
        Some(refusal) => advice(snapshot, &picture.catalogue, pod, refusal, picture.now),
        None => Vec::new(),
    };
    Ok(Explanation {
        pod: key.to_string(),
        requests: joiner_map::answer::amounts(&pod.requests),
        verdict,
        reasons: reasons.into_iter().map(Reason::from).collect(),
        node_pools: pools(pod, &snapshot.pools, &picture.catalogue)
            .into_iter()
            .map(pool_row)
            .collect(),
        advice: helping.into_iter().map(advice_row).collect(),
    })
}

fn decided(picture: &Picture, pod: &Pod, schedule: &Schedule) -> (Verdict, Option<Refusal>) {
    if let Some((node, _)) = schedule.existing.iter().find(|(_, pods)| pods.contains(&pod.key)) {
        return (
            Verdict::ExistingNode {
                node: node.to_string(),
            },
            None,
        );
    }
    if let Some(claim) = schedule
        .new_claims
        .iter()
        .find(|claim| claim.pods.contains(&pod.key))
    {
        return (new_node(claim), None);
    }
    let refusal = schedule
        .unschedulable
        .get(&pod.key)
        .map(|it| Refusal::clone(it))
        .unwrap_or_default();
    match alone(&picture.parts.snapshot, &picture.catalogue, pod, picture.now) {
        Alone::Placed => (Verdict::NoPlace { alone: true }, Some(refusal)),
        Alone::Refused(alone) => (Verdict::NoPlace { alone: false }, Some(*alone)),
    }
}

fn new_node(claim: &NewClaim) -> Verdict {
    Verdict::NewNode {
        node_pool: claim.pool.to_string(),
        instance_types: claim.instance_types.iter().map(ToString::to_string).collect(),
        price: joiner_map::answer::dollars(claim.price),
        with: claim.pods.len().saturating_sub(1),
    }
}

fn pool_row(pool: PoolChecks) -> PoolRow {
    let checks = pool.checks.into_iter().map(|check| CheckRow {
        constraint: check.what,
        met: check.met,
        detail: check.detail,
    });
    PoolRow {
        node_pool: pool.pool.to_string(),
        constraints: checks.collect(),
    }
}

fn advice_row(advice: Advice) -> AdviceRow {
    AdviceRow {
        change: advice.change,
        field: advice.field,
    }
}

impl Explanation {
    /// For people.
    pub(super) fn text(&self) -> String {
        let requests: Vec<String> = self
            .requests
            .iter()
            .map(|(name, amount)| format!("{name} {amount}"))
            .collect();
        let mut text = format!(
            "Pod {} asks for {}\n{}",
            self.pod,
            requests.join(", "),
            self.verdict.text()
        );
        for reason in &self.reasons {
            let pool = match reason.node_pool.as_str() {
                "" => String::new(),
                pool => format!("NodePool {pool}: "),
            };
            let _ = write!(text, "\n  {pool}{}", reason.reason);
        }
        for pool in &self.node_pools {
            let _ = write!(text, "\n\nNodePool {}", pool.node_pool);
            for check in &pool.constraints {
                let mark = if check.met { "yes" } else { "NO " };
                let _ = write!(text, "\n  {mark} {}: {}", check.constraint, check.detail);
            }
        }
        if matches!(self.verdict, Verdict::NoPlace { .. }) {
            text.push_str("\n\nWhat would help");
            if self.advice.is_empty() {
                text.push_str("\n  no single change that was tried would");
            }
            for (index, advice) in self.advice.iter().enumerate() {
                let _ = write!(text, "\n  {}. {} ({})", index + 1, advice.change, advice.field);
            }
        }
        text
    }
}

impl Verdict {
    fn text(&self) -> String {
        match self {
            Verdict::Bound { node } => format!("It is on the node {node}."),
            Verdict::ExistingNode { node } => format!("It fits on the node {node}, which is there."),
            Verdict::NewNode {
                node_pool,
                instance_types,
                price,
                with,
            } => {
                let first = instance_types.first().map(String::as_str).unwrap_or_default();
                let more = instance_types.len().saturating_sub(1);
                format!(
                    "A node of NodePool {node_pool} would be bought for it and {with} other pods: {first} or one of {more} \
                     other types, from ${price:.4} an hour."
                )
            }
            Verdict::NoPlace { alone: true } => {
                "It gets no node, though it would if no other pod waited: others take what it needs."
                    .to_owned()
            }
            Verdict::NoPlace { alone: false } => "It gets no node.".to_owned(),
            Verdict::NotDecided { why } => format!("Nobody decides on it: {why}."),
        }
    }
}
