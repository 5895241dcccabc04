//! Gauges about the cluster, computed from the index at each scrape.

mod pods;
mod rows;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use joiner_core::disrupt::allowances;
use joiner_core::resources::{ResourceName, Resources};
use joiner_core::snapshot::{DisruptionReason, Node, Snapshot};
use joiner_core::well_known;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use crate::observe::{Index, map};
use rows::{Rows, amount, resource_label};

/// Reads the index when scraped.
#[derive(Debug)]
pub(crate) struct State {
    index: Arc<Index>,
    /// Whether metrics about single pods and nodes are wanted.
    single_objects: bool,
}

impl State {
    pub(crate) fn new(index: Arc<Index>, disable_cluster_state_observability: bool) -> State {
        State {
            index,
            single_objects: !disable_cluster_state_observability,
        }
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let snapshot = self.index.snapshot(Timestamp::now());
        let synced = if self.index.unsynced().is_empty() {
            1.0
        } else {
            0.0
        };
        let mut rows = Rows::default();
        rows.add(
            "cluster_state_synced",
            "Whether every watch has delivered its full list",
            vec![],
            synced,
        );
        let count = self.index.node_count();
        rows.add(
            "cluster_state_node_count",
            "Current count of nodes",
            vec![],
            count as f64,
        );
        self.pools(&snapshot, &mut rows);
        budgets(&snapshot, Timestamp::now(), &mut rows);
        utilization(&snapshot, &mut rows);
        if self.single_objects {
            for node in snapshot.nodes.iter().filter(|node| node.object.is_some()) {
                of_node(node, &mut rows);
            }
            pods::rows(&self.index, &snapshot, &mut rows);
        }
        rows.encode(&mut encoder)
    }
}

impl State {
    fn pools(&self, snapshot: &Snapshot, rows: &mut Rows) {
        let mut usage: BTreeMap<&str, Resources> = BTreeMap::new();
        for node in &snapshot.nodes {
            if let Some(pool) = node.pool() {
                usage.entry(pool).or_default().add(&node.usage());
            }
        }
        for entry in self.index.pool_entries() {
            let pool = &entry.pool;
            let row = |name: &ResourceName| {
                vec![
                    ("resource_type", resource_label(name)),
                    ("nodepool", pool.name.to_string()),
                ]
            };
            for (name, value) in usage.get(&*pool.name).into_iter().flat_map(Resources::iter) {
                let help = "The amount of resources that have been provisioned for a nodepool";
                rows.add("nodepools_usage", help, row(&name), amount(&name, value));
            }
            let limits = entry
                .object
                .spec
                .limits
                .as_ref()
                .map(map::limits)
                .unwrap_or_default();
            for (name, value) in limits.iter() {
                let help = "Limits that restrict the resources of a nodepool";
                rows.add("nodepools_limit", help, row(name), amount(name, value));
            }
        }
    }
}

/// What the budgets of each pool allow, and what they are used up by.
fn budgets(snapshot: &Snapshot, now: Timestamp, rows: &mut Rows) {
    for reason in [
        DisruptionReason::Underutilized,
        DisruptionReason::Empty,
        DisruptionReason::Drifted,
    ] {
        for (pool, allowance) in allowances(snapshot, reason, now) {
            let labels = || {
                vec![
                    ("nodepool", pool.to_string()),
                    ("reason", reason.as_str().to_owned()),
                ]
            };
            // A pool without a budget that holds may lose all its nodes at once.
            let allowed = allowance.allowed.min(allowance.nodes);
            rows.add(
                "nodepools_allowed_disruptions",
                "The number of nodes for a given NodePool that can be concurrently disrupting at a point in time",
                labels(),
                f64::from(allowed),
            );
            rows.add(
                "nodepools_nodes_consuming_budgets",
                "The number of nodes of a NodePool that are being disrupted or not ready",
                labels(),
                f64::from(allowance.disrupting),
            );
        }
    }
}

/// How much of what our nodes have is asked for by pods, in per cent.
fn utilization(snapshot: &Snapshot, rows: &mut Rows) {
    let ours = || {
        snapshot
            .nodes
            .iter()
            .filter(|node| node.claim.is_some() && node.object.is_some())
    };
    let used: Resources = ours()
        .map(Node::used)
        .fold(Resources::new(), |all, used| all.plus(&used));
    let have: Resources = ours()
        .map(Node::allocatable)
        .fold(Resources::new(), |all, have| all.plus(&have));
    for name in [ResourceName::Cpu, ResourceName::Memory] {
        let total = have.get(&name);
        if total > 0 {
            let percent = used.get(&name) as f64 * 100.0 / total as f64;
            let help = "Utilization of allocatable resources by pod requests";
            rows.add(
                "cluster_utilization_percent",
                help,
                vec![("resource_type", resource_label(&name))],
                percent,
            );
        }
    }
}

fn of_node(node: &Node, rows: &mut Rows) {
    let allocatable = node.allocatable();
    let overhead = node.capacity().minus(&allocatable).at_least_zero();
    let daemons: Resources = node
        .pods
        .iter()
        .filter(|pod| pod.owner == joiner_core::snapshot::Owner::DaemonSet)
        .map(|pod| &pod.requests)
        .sum();
    for (name, help, amounts) in [
        (
            "nodes_allocatable",
            "Resources of a node that pods can use",
            &allocatable,
        ),
        (
            "nodes_total_pod_requests",
            "Resources that the pods of a node ask for",
            &node.used(),
        ),
        (
            "nodes_total_daemon_requests",
            "Resources that the daemon pods of a node ask for",
            &daemons,
        ),
        (
            "nodes_system_overhead",
            "Resources that a node keeps back from pods",
            &overhead,
        ),
    ] {
        for (resource, value) in amounts.iter() {
            let mut labels = node_labels(node);
            labels.push(("resource_type", resource_label(&resource)));
            rows.add(name, help, labels, amount(&resource, value));
        }
    }
    if let Some(object) = &node.object {
        let age = Timestamp::now().duration_since(object.created).as_secs_f64();
        rows.add(
            "nodes_current_lifetime_seconds",
            "Age of a node in seconds",
            node_labels(node),
            age,
        );
    }
}

fn node_labels(node: &Node) -> Vec<(&'static str, String)> {
    let label = |key: &str| {
        node.labels()
            .and_then(|labels| labels.get(key))
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    vec![
        ("node_name", node.name().to_string()),
        ("nodepool", label(well_known::NODE_POOL)),
        ("zone", label(well_known::ZONE)),
        ("region", label(well_known::REGION)),
        ("arch", label(well_known::ARCH)),
        ("os", label(well_known::OS)),
        ("capacity_type", label(well_known::CAPACITY_TYPE)),
        ("instance_type", label(well_known::INSTANCE_TYPE)),
        ("managed", node.claim.is_some().to_string()),
    ]
}
