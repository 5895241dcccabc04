//! The system nodes: their objects and their heartbeat. The objects are pure; the machine's facts are an argument.
//!
//! They stand for the node group that a real cluster has for its own components: two, in different zones, so that replicas
//! keep apart as they do there; tainted `CriticalAddonsOnly`, so that workloads need nodes from the controller. One kubelet
//! plays both.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::tools::KUBERNETES_VERSION;

/// A system node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemNode {
    /// Its name.
    pub(crate) name: &'static str,
    /// The letter of its zone.
    zone: char,
}

/// All of them.
pub(crate) const NODES: [SystemNode; 2] = [
    SystemNode {
        name: "system-a",
        zone: 'a',
    },
    SystemNode {
        name: "system-b",
        zone: 'b',
    },
];
/// The nodes' address.
pub(super) const HOST_IP: &str = "127.0.0.1";
/// Memory that is not for pods: the control plane's own, in MiB.
const RESERVED_MIB: u64 = 512;

/// What the machine has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    pub(super) cpus: usize,
    pub(super) memory_mib: u64,
}

impl Machine {
    /// This machine. A process has no cgroup here, so the numbers only bound what is scheduled.
    pub(super) fn here() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib = total.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        Self {
            cpus,
            memory_mib: kib.unwrap_or(2 << 20) / 1024,
        }
    }

    /// A node's allocatable. At least four cores and 4 GiB, so that a small machine, too, takes controllers that ask
    /// for one core each, as the chart's defaults may.
    pub(super) fn allocatable(self) -> BTreeMap<String, String> {
        let memory = self.memory_mib.saturating_sub(RESERVED_MIB).max(4096);
        BTreeMap::from([
            ("cpu".to_owned(), self.cpus.max(4).to_string()),
            ("memory".to_owned(), format!("{memory}Mi")),
            ("ephemeral-storage".to_owned(), "20Gi".to_owned()),
            ("pods".to_owned(), "110".to_owned()),
        ])
    }
}

/// A node's object, ready from the start: its kubelet is this program.
pub(super) fn object(
    node: SystemNode,
    machine: Machine,
    region: &str,
    kubelet_port: u16,
    now: Timestamp,
) -> Value {
    let SystemNode { name, zone } = node;
    let allocatable = machine.allocatable();
    let arch = arch();
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/arch": arch,
                "kubernetes.io/os": "linux",
                "beta.kubernetes.io/arch": arch,
                "beta.kubernetes.io/os": "linux",
                "topology.kubernetes.io/region": region,
                "topology.kubernetes.io/zone": format!("{region}{zone}"),
                "joiner.dev/sandbox-system": "true",
            },
        },
        "spec": {
            "providerID": format!("joiner-sandbox://{name}"),
            "taints": [{ "key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule" }],
        },
        "status": {
            "capacity": allocatable,
            "allocatable": allocatable,
            "addresses": [
                { "type": "InternalIP", "address": HOST_IP },
                { "type": "Hostname", "address": name },
            ],
            "daemonEndpoints": { "kubeletEndpoint": { "Port": kubelet_port } },
            "conditions": conditions(now),
            "nodeInfo": {
                "architecture": arch,
                "operatingSystem": "linux",
                "kubeletVersion": KUBERNETES_VERSION,
                "kubeProxyVersion": KUBERNETES_VERSION,
                "containerRuntimeVersion": concat!("joiner://", env!("CARGO_PKG_VERSION")),
                "osImage": "Joiner sandbox",
                "kernelVersion": "",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
            },
        },
    })
}

/// The conditions of a healthy node.
pub(crate) fn conditions(now: Timestamp) -> Value {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        })
    };
    json!([
        condition(
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available"
        ),
        condition(
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure"
        ),
        condition(
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available"
        ),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ])
}

/// A node's lease at `now`.
pub(super) fn lease(node: SystemNode, now: Timestamp) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": node.name, "namespace": "kube-node-lease" },
        "spec": {
            "holderIdentity": node.name,
            "leaseDurationSeconds": 40,
            "renewTime": format!("{now:.6}"),
        },
    })
}

fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "amd64",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_a_node() {
        let machine = Machine {
            cpus: 2,
            memory_mib: 8192,
        };
        let object = object(NODES[1], machine, "us-west-2", 10_250, Timestamp::UNIX_EPOCH);
        let node: k8s_openapi::api::core::v1::Node = serde_json::from_value(object).unwrap();
        let labels = node.metadata.labels.unwrap();
        assert_eq!(labels["topology.kubernetes.io/zone"], "us-west-2b");
        let status = node.status.unwrap();
        assert_eq!(status.allocatable.unwrap()["memory"].0, "7680Mi");
        assert_eq!(
            status.daemon_endpoints.unwrap().kubelet_endpoint.unwrap().port,
            10_250
        );
        assert_eq!(node.spec.unwrap().taints.unwrap()[0].key, "CriticalAddonsOnly");
    }

    #[test]
    fn the_lease_is_a_lease() {
        let lease: k8s_openapi::api::coordination::v1::Lease =
            serde_json::from_value(lease(NODES[0], Timestamp::UNIX_EPOCH)).unwrap();
        assert!(lease.spec.unwrap().renew_time.is_some());
    }
}
