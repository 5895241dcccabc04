//! Clusters as companies run them: web, batch and data workloads, five pools, ten DaemonSets, 400 EC2 types, three
//! zones, and nodes that are there already.

mod daemons;
mod existing;
mod pools;
mod workloads;

use serde_json::{Value, json};

use super::{Set, ec2};
use crate::draw::Draw;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Pods that wait.
    pub pods: usize,
    /// Nodes that are there, with pods on them.
    pub nodes: usize,
    /// What may be bought.
    pub buying: Buying,
    /// Which of all such clusters.
    pub seed: u64,
}

/// What may be bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buying {
    /// Spot and on demand.
    Spot,
    /// On demand only.
    OnDemand,
}

/// The cluster of a plan.
pub fn cluster(plan: Plan) -> Set {
    let mut objects = pools::all(plan.buying);
    objects.extend(daemons::all());
    objects.extend(classes());
    let workloads = workloads::all(plan);
    objects.extend(existing::all(plan, &workloads));
    for workload in &workloads {
        objects.extend(workload.pending());
    }
    Set {
        objects,
        catalogue: ec2::types(plan.seed),
    }
}

/// Namespaces, the storage class, the node class.
fn classes() -> Vec<Value> {
    let space = |name: &str, team: &str| crate::objects::namespace(name, json!({"team": team}));
    vec![
        space("kube-system", "platform"),
        space("web", "shop"),
        space("batch", "science"),
        space("data", "platform"),
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "gp3"},
            "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
        }),
    ]
}

/// Cores in thousandths as Kubernetes writes them.
fn cpu(milli: u64) -> String {
    format!("{milli}m")
}

/// Memory in MiB as Kubernetes writes it.
fn memory(mib: u64) -> String {
    format!("{mib}Mi")
}

/// One of a list of (weight, value).
fn weighted<T: Copy>(draw: &mut Draw, table: &[(usize, T)]) -> T {
    let total: usize = table.iter().map(|(weight, _)| weight).sum();
    let mut left = draw.below(total);
    for (weight, value) in table {
        if left < *weight {
            return *value;
        }
        left -= weight;
    }
    table[0].1
}

#[cfg(test)]
mod tests {
    use super::{Buying, Plan, cluster};

    #[test]
    fn a_cluster_has_what_its_plan_says() {
        for (pods, nodes) in [(100, 0), (1000, 50)] {
            let set = cluster(Plan {
                pods,
                nodes,
                buying: Buying::Spot,
                seed: 3,
            });
            let waiting = set
                .objects
                .iter()
                .filter(|it| it["kind"] == "Pod" && it["status"]["phase"] == "Pending");
            assert_eq!(waiting.count(), pods);
            assert_eq!(set.count("Node"), nodes);
            assert_eq!((set.count("NodePool"), set.count("DaemonSet")), (5, 10));
        }
    }

    #[test]
    fn the_same_plan_gives_the_same_cluster() {
        let plan = Plan {
            pods: 60,
            nodes: 5,
            buying: Buying::OnDemand,
            seed: 9,
        };
        assert_eq!(cluster(plan).objects, cluster(plan).objects);
    }
}
