//! What a cluster gets beyond plain Kubernetes, and what is told about it: public issuer keys as on EKS, the cluster's uid,
//! the key set of its service account tokens.

use std::time::Duration;

use anyhow::Context;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;

use super::client;

const WRITER: &str = "joiner-sandbox";

/// Lets anybody read the issuer's keys, as EKS does by a public URL.
pub(crate) async fn apply(kube: &Client) -> anyhow::Result<()> {
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": { "name": "joiner-sandbox:public-issuer" },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "system:service-account-issuer-discovery",
        },
        "subjects": [
            { "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:unauthenticated" },
            { "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated" },
        ],
    });
    Api::<ClusterRoleBinding>::all(kube.clone())
        .patch(
            "joiner-sandbox:public-issuer",
            &PatchParams::apply(WRITER).force(),
            &Patch::Apply(&binding),
        )
        .await
        .context("cannot publish the issuer's keys")?;
    Ok(())
}

/// The uid of `kube-system`, by which clusters are told apart. The API server makes that namespace soon after its start.
pub(crate) async fn uid(kube: &Client) -> anyhow::Result<String> {
    let namespaces = Api::<Namespace>::all(kube.clone());
    for _ in 0..200 {
        let found = namespaces.get_opt("kube-system").await?;
        if let Some(uid) = found.and_then(|namespace| namespace.metadata.uid) {
            return Ok(uid);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    anyhow::bail!("the namespace kube-system did not appear within 5 s")
}

/// The key set of the cluster's service account tokens.
pub(crate) async fn key_set(kube: &Client) -> anyhow::Result<serde_json::Value> {
    let text = client::text(kube, "/openid/v1/jwks")
        .await
        .context("the API server does not tell its token keys")?;
    serde_json::from_str(&text).context("the API server's token keys are not JSON")
}
