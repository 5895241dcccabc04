//! Ten DaemonSets: most run everywhere, one on one architecture, one on the nodes of one pool, one where no taint is.

use serde_json::{Value, json};

use super::{cpu, memory};
use crate::objects::{ARCH, OwnedBy, daemon_set, running};

/// Name, cores in thousandths, memory in MiB, where it runs.
const DAEMONS: [(&str, u64, u64, Place); 10] = [
    ("aws-node", 50, 128, Place::Everywhere),
    ("kube-proxy", 100, 64, Place::Everywhere),
    ("ebs-csi-node", 30, 120, Place::Everywhere),
    ("node-exporter", 50, 64, Place::Everywhere),
    ("fluent-bit", 100, 200, Place::Everywhere),
    ("node-local-dns", 25, 32, Place::Everywhere),
    ("security-agent", 100, 256, Place::Everywhere),
    ("profiler", 50, 128, Place::Amd64),
    ("disk-prober", 20, 32, Place::Data),
    ("tracing-agent", 50, 128, Place::Untainted),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Everywhere,
    Amd64,
    Data,
    Untainted,
}

pub(super) fn all() -> Vec<Value> {
    DAEMONS
        .iter()
        .map(|(name, milli, mib, place)| daemon_set("kube-system", name, spec(*milli, *mib, *place)))
        .collect()
}

/// The daemon pods that run on a node: their objects, and what they take together.
pub(super) fn on_node(node: &str, arch: &str, dedicated: Option<&str>) -> (Vec<Value>, u64, u64) {
    let there = DAEMONS.iter().filter(|(_, _, _, place)| match place {
        Place::Everywhere => true,
        Place::Amd64 => arch == "amd64",
        Place::Data => dedicated == Some("data"),
        Place::Untainted => dedicated.is_none(),
    });
    let (mut pods, mut cores, mut mibs) = (Vec::new(), 0, 0);
    for (name, milli, mib, place) in there {
        let owner = OwnedBy {
            kind: "DaemonSet",
            name,
        };
        pods.push(running(
            "kube-system",
            &format!("{name}-{node}"),
            &json!({"app": name}),
            owner,
            spec(*milli, *mib, *place),
            node,
        ));
        (cores, mibs) = (cores + milli, mibs + mib);
    }
    (pods, cores, mibs)
}

fn spec(milli: u64, mib: u64, place: Place) -> Value {
    let mut spec = json!({
        "priorityClassName": "system-node-critical", "priority": 2_000_001_000,
        "containers": [{
            "name": "main", "image": "registry.example/daemon:1",
            "resources": {"requests": {"cpu": cpu(milli), "memory": memory(mib)}},
        }],
    });
    if place != Place::Untainted {
        spec["tolerations"] = json!([{"operator": "Exists"}]);
    }
    match place {
        Place::Amd64 => spec["nodeSelector"] = json!({ARCH: "amd64"}),
        Place::Data => spec["nodeSelector"] = json!({"dedicated": "data"}),
        Place::Everywhere | Place::Untainted => {}
    }
    spec
}
