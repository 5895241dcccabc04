//! The answer of a round of scheduling, as it is printed: names instead of numbers, quantities as people write them.
//!
//! The JSON form is a contract; `docs/schemas/simulate-answer.json` describes it.

mod back;
mod names;

pub use names::Names;

use std::collections::BTreeMap;
use std::time::Duration;

use joiner_core::explain::{Row, rows};
use joiner_core::money::Price;
use joiner_core::requirements::{Operator, Requirements};
use joiner_core::resources::Resources;
use joiner_core::schedule::{Lack, NewClaim, Schedule};
use joiner_core::snapshot::{Pod, PodKey, Snapshot};
use joiner_core::text::Text;
use joiner_core::well_known;
use serde::{Deserialize, Serialize};

/// Which pods go where, and what it costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Nodes to buy.
    pub new_nodes: Vec<NewNode>,
    /// Nodes that are there and take pods.
    pub existing_nodes: Vec<ExistingNode>,
    /// Pods without a place.
    pub unschedulable: Vec<Unschedulable>,
    /// Wishes that were not granted.
    pub relaxed: Vec<Relaxed>,
    /// What it costs, in US dollars an hour.
    pub hourly_cost: HourlyCost,
    /// How long deciding took.
    pub solve_millis: f64,
    /// Static pools that have fewer nodes than they want; their nodes are not among the nodes to buy, for they are made
    /// whatever pods want.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_nodes: Vec<StaticNodes>,
}

/// A static pool that has fewer nodes than it wants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StaticNodes {
    /// The pool.
    pub node_pool: String,
    /// How many nodes it wants.
    pub replicas: u32,
    /// How many it has or has ordered.
    pub there: u32,
    /// How many will be made now.
    pub missing: u32,
    /// What they may become, cheapest first.
    pub instance_types: Names,
    /// The lowest price of one of them, in US dollars an hour.
    pub price: f64,
    /// Why fewer are made than lack; empty where all are.
    pub reason: String,
}

/// A node to buy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewNode {
    /// The pool's name and a number.
    pub name: String,
    /// The pool that pays for it.
    pub node_pool: String,
    /// What it may become, cheapest first.
    pub instance_types: Names,
    /// What its labels must be.
    pub requirements: Vec<RequirementRow>,
    /// Its taints.
    pub taints: Vec<TaintRow>,
    /// The labels that are decided.
    pub labels: BTreeMap<String, String>,
    /// What its pods and the daemons on it ask for.
    pub requests: BTreeMap<String, String>,
    /// Its pods.
    pub pods: Vec<String>,
    /// The lowest price at which it can be bought, in US dollars an hour.
    pub price: f64,
}

/// A condition on a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequirementRow {
    /// The label.
    pub key: String,
    /// As in manifests.
    pub operator: String,
    /// As in manifests.
    #[serde(default)]
    pub values: Names,
    /// How many different values the instance types offer at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<u32>,
}

/// A taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaintRow {
    /// Its key.
    pub key: String,
    /// Its value, where it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Its effect.
    pub effect: String,
}

/// A node that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingNode {
    /// Its name, or its claim's while it has not joined.
    pub name: String,
    /// The pods that it takes in addition.
    pub pods: Vec<String>,
}

/// A pod without a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unschedulable {
    /// Namespace and name.
    pub pod: String,
    /// Why, pool by pool.
    pub reasons: Vec<Reason>,
}

/// Why one pool cannot serve a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The pool; empty where the pod itself is at fault.
    pub node_pool: String,
    /// Why, in words.
    pub reason: String,
    /// The field at fault.
    pub field: String,
    /// What comes nearest.
    pub nearest: String,
}

/// A wish that was not granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relaxed {
    /// Namespace and name.
    pub pod: String,
    /// What was dropped.
    pub dropped: String,
}

/// Costs in US dollars an hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HourlyCost {
    /// Of the nodes to buy.
    pub new: f64,
    /// Of the nodes that are there, as far as their prices are known.
    pub existing: f64,
    /// No set of new nodes can cost less.
    pub lower_bound: f64,
}

/// The gates that keep a pod from being decided on.
pub type Gated = [(PodKey, Vec<Text>)];

impl Answer {
    /// The answer to a round that took `solve`. Pods behind gates are among those without a place.
    pub fn new(snapshot: &Snapshot, schedule: &Schedule, gated: &Gated, solve: Duration) -> Answer {
        let mut numbers: BTreeMap<&Text, usize> = BTreeMap::new();
        let mut number = |pool| {
            let number = numbers.entry(pool).or_default();
            *number += 1;
            *number
        };
        let mut lists = Lists::default();
        let new_nodes = schedule.new_claims.iter();
        let new_nodes = new_nodes
            .map(|claim| new_node(claim, number(&claim.pool), &mut lists))
            .collect();
        let existing = schedule.existing.iter().filter(|(_, pods)| !pods.is_empty());
        let micros: f64 = 1000.0;
        Answer {
            new_nodes,
            existing_nodes: existing
                .map(|(name, pods)| ExistingNode {
                    name: name.to_string(),
                    pods: names(pods),
                })
                .collect(),
            unschedulable: unschedulable(snapshot, schedule, gated),
            relaxed: schedule
                .relaxed
                .iter()
                .flat_map(|(pod, dropped)| {
                    dropped.iter().map(|dropped| Relaxed {
                        pod: pod.to_string(),
                        dropped: dropped.to_string(),
                    })
                })
                .collect(),
            hourly_cost: HourlyCost {
                new: dollars(schedule.price),
                existing: dollars(schedule.existing_price),
                lower_bound: dollars(schedule.lower_bound.unwrap_or(Price::ZERO)),
            },
            solve_millis: (solve.as_secs_f64() * 1e3 * micros).round() / micros,
            static_nodes: Vec::new(),
        }
    }

    /// The answer with what static pools lack.
    #[must_use]
    pub fn with_static_pools(mut self, lacks: &[Lack]) -> Answer {
        self.static_nodes = lacks.iter().map(static_nodes).collect();
        self
    }
}

fn static_nodes(lack: &Lack) -> StaticNodes {
    let claim = lack.claim.as_ref();
    StaticNodes {
        node_pool: lack.pool.to_string(),
        replicas: lack.replicas,
        there: lack.there,
        missing: lack.missing,
        instance_types: claim.map_or_else(Names::default, |it| it.instance_types.clone().into()),
        price: claim.map_or(0.0, |it| dollars(it.price)),
        reason: lack
            .held_back
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
    }
}

fn new_node(claim: &NewClaim, number: usize, lists: &mut Lists) -> NewNode {
    let mut pods: Vec<&PodKey> = claim.pods.iter().collect();
    pods.sort();
    NewNode {
        name: format!("{}-{number}", claim.pool),
        node_pool: claim.pool.to_string(),
        instance_types: Names::from(claim.instance_types.clone()),
        requirements: lists.rows(claim),
        taints: claim
            .taints
            .iter()
            .map(|taint| TaintRow {
                key: taint.key.to_string(),
                value: taint.value.to_string(),
                effect: taint.effect.as_str().to_owned(),
            })
            .collect(),
        labels: claim
            .labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        requests: amounts(&claim.requests),
        pods: pods.into_iter().map(PodKey::to_string).collect(),
        price: dollars(claim.price),
    }
}

/// Lists of instance types in the order in which requirements name them, by where the claims' own lists are.
#[derive(Default)]
struct Lists(BTreeMap<usize, Names>);

impl Lists {
    /// A claim's requirements, with its instance types in a list that it shares with others.
    fn rows(&mut self, claim: &NewClaim) -> Vec<RequirementRow> {
        let mut rows = requirement_rows(&claim.requirements);
        let own = rows
            .iter_mut()
            .find(|row| row.key == well_known::INSTANCE_TYPE && row.operator == Operator::In.as_str());
        if let Some(row) = own {
            let place = claim.instance_types.as_ptr().addr();
            let list = self.0.entry(place).or_insert_with(|| row.values.clone());
            if *list == row.values {
                row.values = list.clone();
            }
        }
        rows
    }
}

/// Requirements in the words of manifests.
pub fn requirement_rows(requirements: &Requirements) -> Vec<RequirementRow> {
    let mut rows = Vec::new();
    for requirement in requirements.iter() {
        for (index, (operator, values)) in requirement.terms().into_iter().enumerate() {
            // "Not in nothing" says nothing.
            if operator == Operator::NotIn && values.is_empty() {
                continue;
            }
            rows.push(RequirementRow {
                key: requirement.key().to_string(),
                operator: operator.as_str().to_owned(),
                values: values.into_iter().collect(),
                min_values: requirement.min_values().filter(|_| index == 0),
            });
        }
    }
    rows
}

/// Amounts in Kubernetes' canonical form.
pub fn amounts(resources: &Resources) -> BTreeMap<String, String> {
    resources
        .iter()
        .map(|(name, amount)| (name.as_str().to_owned(), name.display(amount)))
        .collect()
}

/// A price as a number of dollars.
pub fn dollars(price: Price) -> f64 {
    // Six decimals at most, so that the number prints as it is meant.
    let micros = u32::try_from(price.micros()).map(f64::from);
    micros.unwrap_or(price.micros() as f64) / 1e6
}

fn names(pods: &[PodKey]) -> Vec<String> {
    let mut sorted: Vec<&PodKey> = pods.iter().collect();
    sorted.sort();
    sorted.into_iter().map(PodKey::to_string).collect()
}

fn unschedulable(snapshot: &Snapshot, schedule: &Schedule, gated: &Gated) -> Vec<Unschedulable> {
    let wanted = |key: &PodKey| schedule.unschedulable.contains_key(key);
    let bound = snapshot.nodes.iter().flat_map(|node| &node.pods);
    let pods: BTreeMap<&PodKey, &Pod> = match schedule.unschedulable.is_empty() {
        true => BTreeMap::new(),
        false => snapshot
            .pending
            .iter()
            .chain(bound)
            .filter(|pod| wanted(&pod.key))
            .map(|pod| (&pod.key, &**pod))
            .collect(),
    };
    let mut all: BTreeMap<&PodKey, Vec<Reason>> = BTreeMap::new();
    for (key, refusal) in &schedule.unschedulable {
        if let Some(pod) = pods.get(key) {
            all.insert(key, rows(pod, refusal).into_iter().map(Reason::from).collect());
        }
    }
    for (key, gates) in gated {
        let reason = Reason {
            node_pool: String::new(),
            reason: format!(
                "it waits until its scheduling gates are taken away: {}",
                gates.join(", ")
            ),
            field: "spec.schedulingGates".to_owned(),
            nearest: String::new(),
        };
        all.insert(key, vec![reason]);
    }
    all.into_iter()
        .map(|(pod, reasons)| Unschedulable {
            pod: pod.to_string(),
            reasons,
        })
        .collect()
}

impl From<Row> for Reason {
    fn from(row: Row) -> Reason {
        Reason {
            node_pool: row.pool.to_string(),
            reason: row.reason,
            field: row.field,
            nearest: row.nearest,
        }
    }
}
