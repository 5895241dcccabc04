//! The node agent: the stand-in for machines that boot, and for the cloud controller that removes their nodes.
//!
//! The path: `feed` (what changed in the emulator) -> `machines` (what is to be done, pure) -> boot: wait, read the user
//! data as the AMI family would (`user_data`, pure), work out what the kubelet would report (`capacity`, pure), create the
//! Node (`node`, pure object) -> kwok makes it ready.

mod capacity;
mod facts;
mod feed;
mod machines;
mod node;
mod user_data;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::model::Cluster;
use crate::supervisor::Emulator;

use facts::Facts;
use feed::Instance;
use machines::{Action, Machines};

/// The agent of one cluster.
#[derive(Debug)]
pub(crate) struct NodeAgent {
    shared: Arc<Shared>,
}

struct Shared {
    emulator: Emulator,
    facts: Facts,
    cluster: Cluster,
    boot_time: Duration,
    nodes: Api<Node>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared")
            .field("cluster", &self.cluster.name)
            .finish_non_exhaustive()
    }
}

impl NodeAgent {
    /// An agent that gives each of the cluster's instances a node `boot_time` after its launch.
    pub(crate) fn new(emulator: Emulator, cluster: &Cluster, boot_time: Duration, client: Client) -> Self {
        let facts = Facts::new(emulator.clone());
        let shared = Shared {
            emulator,
            facts,
            cluster: cluster.clone(),
            boot_time,
            nodes: Api::all(client),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Follows the emulator's instances until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            () = self.follow() => Ok(()),
        }
    }

    async fn follow(&self) {
        let mut machines = Machines::default();
        let mut boots: BTreeMap<String, AbortHandle> = BTreeMap::new();
        let mut seen = 0;
        loop {
            let changes = match feed::changes(&self.shared.emulator, seen).await {
                Ok(changes) => changes,
                Err(error) => {
                    tracing::warn!(%error, "the node agent cannot follow the emulator's instances");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    continue;
                }
            };
            seen = changes.seq;
            for instance in changes.instances {
                match machines.take(&instance, &self.shared.cluster.name) {
                    Action::Nothing => {}
                    Action::Boot => {
                        let task = tokio::spawn(self.shared.clone().boot(instance.clone()));
                        boots.insert(instance.id, task.abort_handle());
                    }
                    Action::Remove => {
                        if let Some(boot) = boots.remove(&instance.id) {
                            boot.abort();
                        }
                        tokio::spawn(self.shared.clone().remove(instance));
                    }
                }
            }
        }
    }
}

impl Shared {
    async fn boot(self: Arc<Self>, instance: Instance) {
        let facts = self.facts.of(&instance.type_);
        let wait = machines::remaining(self.boot_time, &instance.launch_time, Timestamp::now());
        let ((), limits) = tokio::join!(tokio::time::sleep(wait), facts);
        let bootstrap = match user_data::read(&instance.ami_family, &instance.user_data) {
            Ok(bootstrap) => bootstrap,
            Err(reason) => {
                tracing::warn!(instance = %instance.id, %reason, "the machine never joins: its user data does not start a node");
                return;
            }
        };
        if let Err(reason) = bootstrap.check(&self.cluster) {
            tracing::warn!(instance = %instance.id, %reason, "the machine never joins: its user data is for another cluster");
            return;
        }
        let node = node::object(&instance, &bootstrap, limits, &self.cluster.aws.region);
        self.create(&instance, &node).await;
    }

    async fn create(&self, instance: &Instance, node: &Node) {
        for _ in 0..50 {
            match self.nodes.create(&PostParams::default(), node).await {
                Ok(_) => {
                    tracing::info!(instance = %instance.id, node = ?node.metadata.name, "the machine has joined");
                    return;
                }
                Err(kube::Error::Api(answer)) if answer.code == 409 => return,
                Err(kube::Error::Api(answer)) if (400..500).contains(&answer.code) => {
                    tracing::warn!(instance = %instance.id, error = %answer.message, "the API server refuses the machine's node");
                    return;
                }
                Err(error) => {
                    tracing::warn!(instance = %instance.id, %error, "the machine cannot reach the API server yet");
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        }
    }

    /// Deletes the node of an instance that is gone, unless another machine has taken its name.
    async fn remove(self: Arc<Self>, instance: Instance) {
        let name = &instance.private_dns_name;
        for _ in 0..10 {
            let found = match self.nodes.get_opt(name).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::debug!(%error, "the API server does not answer");
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    continue;
                }
            };
            let provider_id = found.and_then(|node| node.spec).and_then(|spec| spec.provider_id);
            if !provider_id.is_some_and(|id| id.ends_with(&instance.id)) {
                return;
            }
            match self.nodes.delete(name, &DeleteParams::default()).await {
                Ok(_) => {
                    tracing::info!(instance = %instance.id, node = %name, "the machine is gone; its node is deleted");
                    return;
                }
                Err(error) => tracing::debug!(%error, "the node cannot be deleted yet"),
            }
        }
    }
}
