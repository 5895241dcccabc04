//! The kubelet of the system nodes: pods whose image is `joiner/<name>` run as processes `joiner-<name>` on this machine.
//!
//! The path of a pod: `watch` (which pods are here) -> `worker` (one task a pod: volumes, address, then containers, status,
//! end) -> `container` (one task a container: start, probes, restarts). Pure parts: `image`, `environment`, `fields`,
//! `expand`, `mounts`, `volumes::content`, `irsa`, `backoff`, `probe::Tracker`, `status`. `server` answers `kubectl logs`.
//!
//! Not a container: a process sees this machine's files and network. Each pod has its own loopback address, and paths of
//! mounts are translated (`mounts`).

mod address;
mod backoff;
mod command;
mod container;
mod context;
mod environment;
mod events;
mod expand;
mod fields;
mod image;
mod irsa;
mod logs;
mod mounts;
pub(crate) mod node;
mod pod_identity;
mod prepare;
mod probe;
pub(crate) mod quantity;
mod server;
mod sources;
mod status;
mod tls;
mod token;
mod volumes;
mod watch;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::layout::ClusterLayout;
use crate::model::Cluster;
use crate::supervisor::Supervisor;

use context::Context;

/// The field manager of what it writes.
const WRITER: &str = "joiner-sandbox-kubelet";

/// The kubelet of one cluster's system nodes.
#[derive(Debug)]
pub(crate) struct Kubelet {
    context: Arc<Context>,
    layout: ClusterLayout,
    port: u16,
    region: String,
}

impl Kubelet {
    /// A kubelet that will listen on `port`.
    pub(crate) fn new(
        supervisor: &Supervisor,
        cluster: &Cluster,
        layout: &ClusterLayout,
        port: u16,
        client: Client,
    ) -> Self {
        let region = if cluster.aws.region.is_empty() {
            crate::REGION.to_owned()
        } else {
            cluster.aws.region.clone()
        };
        let context = Context::new(supervisor, cluster, layout, &region, client);
        Self {
            context: Arc::new(context),
            layout: layout.clone(),
            port,
            region,
        }
    }

    /// Makes the nodes' objects.
    pub(crate) async fn register(&self) -> anyhow::Result<()> {
        let nodes = Api::<Node>::all(self.context.client.clone());
        let params = PatchParams::apply(WRITER).force();
        for node in node::NODES {
            let now = Timestamp::now();
            let object = node::object(node, self.context.machine, &self.region, self.port, now);
            nodes
                .patch(node.name, &params, &Patch::Apply(&object))
                .await
                .context("cannot register a system node")?;
            nodes
                .patch_status(node.name, &params, &Patch::Apply(&object))
                .await
                .context("cannot report a system node")?;
        }
        self.renew().await
    }

    /// Runs pods until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let server = server::Server::bind(&self.layout, self.port).await?;
        let served = server.serve(stop.clone());
        let watched = node::NODES.map(|node| watch::run(self.context.clone(), node.name, stop.clone()));
        tokio::select! {
            result = futures::future::try_join_all(watched) => result.map(drop),
            result = served => result,
            () = self.heartbeat() => Ok(()),
        }
    }

    async fn heartbeat(&self) {
        let mut beats: u32 = 0;
        loop {
            tokio::time::sleep(Duration::from_secs(10)).await;
            beats += 1;
            let mut result = self.renew().await;
            if result.is_ok() && beats.is_multiple_of(30) {
                result = self.report().await;
            }
            if let Err(error) = result {
                tracing::warn!(error = %format!("{error:#}"), "the system nodes' heartbeat failed");
            }
        }
    }

    async fn renew(&self) -> anyhow::Result<()> {
        let leases = Api::<Lease>::namespaced(self.context.client.clone(), "kube-node-lease");
        let params = PatchParams::apply(WRITER).force();
        for node in node::NODES {
            let lease = node::lease(node, Timestamp::now());
            leases.patch(node.name, &params, &Patch::Apply(&lease)).await?;
        }
        Ok(())
    }

    async fn report(&self) -> anyhow::Result<()> {
        let status = json!({ "status": { "conditions": node::conditions(Timestamp::now()) } });
        let nodes = Api::<Node>::all(self.context.client.clone());
        for node in node::NODES {
            nodes
                .patch_status(node.name, &PatchParams::default(), &Patch::Strategic(&status))
                .await?;
        }
        Ok(())
    }
}
