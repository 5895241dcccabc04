//! Kubernetes clients of the sandbox's own parts.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// A client as the user in a kubeconfig file.
pub(crate) async fn from_file(path: &Path) -> anyhow::Result<Client> {
    let kubeconfig =
        Kubeconfig::read_from(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.connect_timeout = Some(Duration::from_secs(2));
    // The API server is on this machine: a refused request is an answer, not a reason to wait.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// Asks a path of the API server for its text; `None` when there is no answer or a refusal.
pub(crate) async fn text(client: &Client, path: &str) -> Option<String> {
    let request = http::Request::get(path).body(Vec::new()).ok()?;
    tokio::time::timeout(Duration::from_secs(2), client.request_text(request))
        .await
        .ok()?
        .ok()
}
