//! Looking at a cluster.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_api::NodeClaim;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client};

use crate::eventually;

/// All NodeClaims.
///
/// # Errors
/// When the API server does not answer.
pub async fn claims(client: &Client) -> Result<Vec<NodeClaim>> {
    Ok(Api::<NodeClaim>::all(client.clone())
        .list(&ListParams::default())
        .await?
        .items)
}

/// Waits until exactly `count` pods of `namespace` run.
///
/// # Errors
/// How many run when `patience` has run out.
pub async fn pods_run(client: &Client, namespace: &str, count: usize, patience: Duration) -> Result<()> {
    let api = Api::<Pod>::namespaced(client.clone(), namespace);
    eventually(&format!("{count} pods run in {namespace}"), patience, || async {
        let pods = api.list(&ListParams::default()).await?;
        let phase =
            |pod: &&Pod| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
        let running = pods.iter().filter(phase).count();
        ensure!(running == count, "{running} of {} run", pods.items.len());
        Ok(())
    })
    .await
}
