//! The token webhook of a cluster: what lets a caller in with an EKS token, as the control plane of EKS does.
//!
//! Such a token is `k8s-aws-v1.` and a presigned `GetCallerIdentity` URL. The webhook sends that request to the emulator
//! (only there, whatever host the URL names) with the cluster's name as `x-k8s-aws-id`, and maps the caller's ARN to a user
//! and groups.

mod token;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::emulator::Emulator;
use super::parts::Task;
use super::run::Supervisor;
use crate::aws;
use crate::error::{Error, Result};
use crate::http::{self as client, Ask};

#[derive(Debug, Clone)]
struct Webhook {
    cluster: String,
    emulator: Emulator,
}

/// Opens the webhook's port; answers its URL, too.
pub(super) async fn listen() -> Result<(TcpListener, String)> {
    let failed = |cause| Error::Start {
        program: "the token webhook".into(),
        cause,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    Ok((listener, format!("http://127.0.0.1:{port}/authenticate")))
}

/// Answers the API server's questions.
pub(super) fn serve(supervisor: &Arc<Supervisor>, cluster: &str, listener: TcpListener, log: &Path) -> Task {
    let webhook = Webhook {
        cluster: cluster.to_owned(),
        emulator: supervisor.emulator.clone(),
    };
    let port = listener.local_addr().ok().map(|address| address.port());
    supervisor.parts.run_inside(
        &format!("{cluster}/token-webhook"),
        port,
        log,
        |stop| async move {
            let routes = Router::new()
                .route("/authenticate", post(authenticate))
                .with_state(webhook);
            axum::serve(listener, routes)
                .with_graceful_shutdown(stop.cancelled_owned())
                .await?;
            Ok(())
        },
    )
}

async fn authenticate(State(webhook): State<Webhook>, Json(review): Json<Value>) -> Json<Value> {
    let token = review["spec"]["token"].as_str().unwrap_or_default();
    let status = match webhook.caller(token).await {
        Ok(Some(user)) => json!({ "authenticated": true, "user": user }),
        Ok(None) => json!({ "authenticated": false }),
        Err(reason) => {
            tracing::info!(cluster = %webhook.cluster, %reason, "an EKS token was refused");
            json!({ "authenticated": false, "error": reason })
        }
    };
    Json(json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status }))
}

impl Webhook {
    /// The user behind a token; `None` when it is not an EKS token at all.
    async fn caller(&self, token: &str) -> std::result::Result<Option<Value>, String> {
        let Some(request) = token::presigned(token)? else {
            return Ok(None);
        };
        let headers = [("host", request.host), ("x-k8s-aws-id", self.cluster.clone())];
        let ask = Ask {
            path: &request.path,
            headers: &headers,
            patience: Some(Duration::from_secs(5)),
            ..Ask::default()
        };
        let answer = client::tcp(&self.emulator.authority(), ask)
            .await
            .map_err(|error| error.to_string())?;
        if !answer.status.is_success() {
            return Err(format!("STS answered {}: {}", answer.status, answer.text()));
        }
        let text = answer.text();
        let arn = token::arn(&text).ok_or_else(|| format!("STS answered without an ARN: {text}"))?;
        token::user(&arn, self.entry(&token::principal(&arn)).await.as_ref()).map(Some)
    }

    /// The cluster's access entry for a principal, if there is one.
    async fn entry(&self, principal: &str) -> Option<token::Entry> {
        match self.find_entry(principal).await {
            Ok(entry) => entry,
            Err(error) => {
                tracing::warn!(%error, %principal, "EKS does not tell the access entries");
                None
            }
        }
    }

    async fn find_entry(&self, principal: &str) -> Result<Option<token::Entry>> {
        let entries = format!("/clusters/{}/access-entries", self.cluster);
        let list = aws::get(&self.emulator, "eks", &entries).await?;
        let Some(arn) = token::listed(&list, principal) else {
            return Ok(None);
        };
        let path = format!("{entries}/{}", percent(&arn));
        let entry = aws::get(&self.emulator, "eks", &path).await?;
        let policies = aws::get(&self.emulator, "eks", &format!("{path}/access-policies")).await?;
        Ok(Some(token::entry(&entry, &policies)))
    }
}

/// An ARN as one segment of a path.
fn percent(text: &str) -> String {
    text.replace('%', "%25").replace('/', "%2F").replace(':', "%3A")
}
