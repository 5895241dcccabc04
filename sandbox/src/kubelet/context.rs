//! What every pod's task needs to know about its node.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Pod;
use kube::Client;

use super::address::Addresses;
use super::events::Events;
use super::node::Machine;
use crate::layout::ClusterLayout;
use crate::model::Cluster;
use crate::process::spawn::Spawner;
use crate::supervisor::{Emulator, Supervisor};

/// The node's surroundings.
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) spawner: Spawner,
    pub(super) events: Events,
    pub(super) addresses: Addresses,
    pub(super) machine: Machine,
    pub(super) allocatable: BTreeMap<String, String>,
    /// Where `joiner-<name>` lies.
    pub(super) binaries: PathBuf,
    pub(super) pods: PathBuf,
    pub(super) ca: PathBuf,
    pub(super) endpoint: String,
    pub(super) aws_endpoint: String,
    pub(super) emulator: Emulator,
    /// Name of the cluster.
    pub(super) cluster: String,
    pub(super) region: String,
}

impl fmt::Debug for Context {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Context")
            .field("pods", &self.pods)
            .finish_non_exhaustive()
    }
}

impl Context {
    pub(super) fn new(
        supervisor: &Supervisor,
        cluster: &Cluster,
        layout: &ClusterLayout,
        region: &str,
        client: Client,
    ) -> Self {
        let machine = Machine::here();
        Self {
            events: Events::new(client.clone()),
            client,
            spawner: supervisor.parts.spawner().clone(),
            addresses: Addresses::new(port_of(&cluster.endpoint)),
            machine,
            allocatable: machine.allocatable(),
            binaries: supervisor.settings.binaries.clone(),
            pods: layout.pods(),
            ca: layout.pki("ca.crt"),
            endpoint: cluster.endpoint.clone(),
            aws_endpoint: supervisor.emulator.url(),
            emulator: supervisor.emulator.clone(),
            cluster: cluster.name.clone(),
            region: region.to_owned(),
        }
    }

    /// A pod's folder: `<namespace>_<name>_<uid>`, as kubelets name log folders.
    pub(super) fn folder(&self, pod: &Pod) -> PathBuf {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let meta = &pod.metadata;
        self.pods.join(format!(
            "{}_{}_{}",
            text(&meta.namespace),
            text(&meta.name),
            text(&meta.uid)
        ))
    }

    /// The environment that every process gets before its pod's own: where it is, and the sandbox's stand-in for a network.
    pub(super) fn environment(&self, pod: &Pod, ip: &str, folder: &Path) -> BTreeMap<String, String> {
        let port = port_of(&self.endpoint).to_string();
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", folder.display().to_string()),
            ("HOSTNAME", pod.metadata.name.clone().unwrap_or_default()),
            ("KUBERNETES_SERVICE_HOST", "127.0.0.1".to_owned()),
            ("KUBERNETES_SERVICE_PORT", port),
            ("BIND_ADDRESS", ip.to_owned()),
            ("AWS_ENDPOINT_URL", self.aws_endpoint.clone()),
            ("AWS_REGION", self.region.clone()),
            // There is no metadata service here; without this a client waits for it before it says so.
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

fn port_of(endpoint: &str) -> u16 {
    endpoint
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .unwrap_or(443)
}
