//! What a sandbox tells about itself: the shapes of `sandbox.json`, of the supervisor's answers and of `status -o json`.
//!
//! Field names are camelCase on the wire. Nothing here does anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::process::identity::ProcessId;

/// The record that a running supervisor keeps in its folder. One written by another version is read, too: what it lacks has
/// its default, for `down` must find the processes of any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The version of the binary that started it.
    #[serde(default)]
    pub version: String,
    /// The supervisor's process.
    pub supervisor: ProcessId,
    /// The supervisor's socket.
    #[serde(default)]
    pub socket: PathBuf,
    /// The emulator's URL, such as `http://127.0.0.1:41234`.
    #[serde(default)]
    pub aws_endpoint: String,
    /// The account's region.
    #[serde(default)]
    pub region: String,
    /// Milliseconds between an instance's launch and its node.
    #[serde(default)]
    pub boot_time_ms: u64,
    /// Where it takes the programs of `joiner/<name>` images from.
    #[serde(default)]
    pub binaries: PathBuf,
    /// The processes it started, by part; what `down` ends should the supervisor die first.
    #[serde(default)]
    pub children: BTreeMap<String, ProcessId>,
}

/// How a sandbox is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The sandbox's folder.
    pub dir: PathBuf,
    /// The emulator's URL; empty when nothing runs.
    pub aws_endpoint: String,
    /// The kubeconfig with all clusters.
    pub kubeconfig: PathBuf,
    /// The clusters' names, in order.
    pub clusters: Vec<String>,
    /// Every part, the supervisor first.
    pub parts: Vec<PartStatus>,
}

impl Status {
    /// The parts that failed.
    pub fn failed(&self) -> impl Iterator<Item = &PartStatus> {
        self.parts.iter().filter(|part| part.state == PartState::Failed)
    }
}

/// How one part is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartStatus {
    /// `supervisor`, `emulator`, or `<cluster>/<part>`.
    pub name: String,
    /// Its state.
    pub state: PartState,
    /// Its process; a part inside the supervisor has the supervisor's.
    pub pid: Option<i32>,
    /// The port it listens on, on 127.0.0.1.
    pub port: Option<u16>,
    /// Seconds since its process started.
    pub uptime_seconds: Option<u64>,
    /// Resident memory in bytes; `None` for a part inside the supervisor.
    pub memory_bytes: Option<u64>,
    /// Its log.
    pub log: PathBuf,
    /// How it failed, with its last log lines; empty while it runs.
    pub message: String,
}

/// The states of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartState {
    /// It was started and does not answer yet.
    Starting,
    /// It runs.
    Running,
    /// It ended by itself.
    Failed,
    /// It was ended.
    Stopped,
}

/// What a new cluster is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// Its name: a label.
    pub name: String,
    /// The port of its API server; a free one when absent.
    #[serde(default)]
    pub port: Option<u16>,
}

/// A running cluster, with what `aws_eks_cluster` tells about one and the administrator's credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// The uid of its `kube-system` namespace: another cluster has another.
    pub uid: String,
    /// Kubernetes minor version as EKS writes it: `1.37`.
    pub version: String,
    /// The API server's URL.
    pub endpoint: String,
    /// Base64 of the CA certificate's PEM, as EKS gives it.
    pub certificate_authority: String,
    /// The CA certificate as PEM.
    pub ca_certificate: String,
    /// The administrator's certificate as PEM.
    pub client_certificate: String,
    /// The administrator's key as PEM.
    pub client_key: String,
    /// The issuer of service account tokens.
    pub oidc_issuer: String,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    /// What the emulator made for it.
    pub aws: Registration,
}

/// The emulator's answer to the registration of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Registration {
    /// The EKS cluster's ARN.
    pub arn: String,
    /// The VPC.
    pub vpc_id: String,
    /// One private subnet a zone.
    pub subnet_ids: Vec<String>,
    /// The cluster security group.
    pub security_group_id: String,
    /// The IAM OIDC provider of the issuer.
    pub oidc_provider_arn: String,
    /// The name of the nodes' role.
    pub node_role_name: String,
    /// The ARN of the nodes' role.
    pub node_role_arn: String,
    /// The account.
    pub account_id: String,
    /// The region.
    pub region: String,
}

/// What a request to the supervisor failed with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// The text for the user.
    pub(crate) error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_another_version_still_names_its_processes() {
        let text = r#"{ "supervisor": { "pid": 7, "started": 9 }, "somethingNew": 1 }"#;
        let record: Record = serde_json::from_str(text).unwrap();
        assert_eq!(record.supervisor, ProcessId { pid: 7, started: 9 });
        assert!(record.children.is_empty());
    }
}
