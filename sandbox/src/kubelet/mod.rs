//! stub
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use crate::layout::ClusterLayout;
use crate::model::Cluster;
use crate::supervisor::Supervisor;
pub(crate) struct Kubelet {}
impl Kubelet {
    pub(crate) fn new(_s: &Arc<Supervisor>, _c: &Cluster, _l: &ClusterLayout, _p: u16, _k: kube::Client) -> Self { Self {} }
    pub(crate) async fn register(&self) -> anyhow::Result<()> { Ok(()) }
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> { stop.cancelled().await; Ok(()) }
}
