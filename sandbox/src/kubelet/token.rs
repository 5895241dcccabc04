//! Service account tokens bound to a pod, written where the pod finds them and renewed before they end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio_util::sync::CancellationToken;

use crate::supervisor::write_whole;

/// A token that a pod wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// `None` is the API server's own audience.
    pub(super) audience: Option<String>,
    /// Its life in seconds.
    pub(super) expiration: i64,
    pub(super) file: PathBuf,
}

/// Gets a token, writes it, and answers when it is to be renewed: after four fifths of its life, as the kubelet does.
pub(super) async fn write(client: &Client, pod: &Pod, wanted: &Wanted) -> anyhow::Result<Duration> {
    let metadata = &pod.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or("default");
    let account = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.service_account_name.as_deref())
        .unwrap_or("default");
    let request = TokenRequest {
        spec: TokenRequestSpec {
            audiences: wanted.audience.iter().cloned().collect(),
            expiration_seconds: Some(wanted.expiration),
            bound_object_ref: Some(BoundObjectReference {
                api_version: Some("v1".into()),
                kind: Some("Pod".into()),
                name: metadata.name.clone(),
                uid: metadata.uid.clone(),
            }),
        },
        ..TokenRequest::default()
    };
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), namespace);
    let answer = accounts
        .create_token_request(account, &PostParams::default(), &request)
        .await
        .with_context(|| format!("no token for service account {namespace}/{account}"))?;
    let status = answer.status.context("the API server answered without a token")?;
    write_whole(&wanted.file, status.token.as_bytes())?;
    let life = status.expiration_timestamp.0.as_second() - Timestamp::now().as_second();
    Ok(Duration::from_secs(
        u64::try_from(life * 4 / 5).unwrap_or(0).max(10),
    ))
}

/// Keeps a token fresh until `stop`; `due` is when the first one is to be renewed.
pub(super) async fn keep(
    client: Client,
    pod: Pod,
    wanted: Wanted,
    mut due: Duration,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(due) => {}
        }
        due = match write(&client, &pod, &wanted).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(pod = ?pod.metadata.name, error = %format!("{error:#}"), "cannot renew a token");
                Duration::from_secs(5)
            }
        };
    }
}

/// The file of a projected token below a volume's folder.
pub(super) fn file(volume: &Path, path: &str) -> PathBuf {
    volume.join(path.trim_start_matches('/'))
}
