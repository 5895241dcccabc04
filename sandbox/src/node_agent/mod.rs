//! stub
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use crate::model::Cluster;
use crate::supervisor::Emulator;
pub(crate) struct NodeAgent {}
impl NodeAgent {
    pub(crate) fn new(_e: Emulator, _c: &Cluster, _b: Duration, _k: kube::Client) -> Self { Self {} }
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> { stop.cancelled().await; Ok(()) }
}
