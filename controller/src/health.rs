//! The two small servers: `/metrics` on one port, `/healthz` and `/readyz` on the other.
//!
//! Ready means that every watch has delivered its first full list and the API server served our kinds; a replica that waits
//! for the lease is ready, too, as it can take over at once.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::metrics::Metrics;
use crate::observe::Index;

/// What the servers tell about.
#[derive(Clone)]
pub(crate) struct Told {
    pub index: Arc<Index>,
    pub metrics: Arc<Metrics>,
}

/// Serves health and metrics until the process ends. Both ports are bound before this returns, so a busy port ends the start.
///
/// # Errors
/// A port cannot be bound.
pub(crate) async fn serve(health: SocketAddr, metrics: SocketAddr, told: Told) -> anyhow::Result<()> {
    let probes = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .with_state(told.clone());
    let scrape = Router::new().route("/metrics", get(text)).with_state(told);
    for (name, variable, address, router) in [
        ("health", "HEALTH_PROBE_PORT", health, probes),
        ("metrics", "METRICS_PORT", metrics, scrape),
    ] {
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("the {name} server cannot listen on {address}: set {variable} to a free port or BIND_ADDRESS to another address")
        })?;
        tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(server = name, error = %error, "server ended");
            }
        });
    }
    Ok(())
}

async fn ready(State(told): State<Told>) -> (StatusCode, String) {
    let missing = told.index.unsynced();
    if missing.is_empty() {
        (StatusCode::OK, "ok".to_owned())
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("waiting for the first list of {}", missing.join(", ")),
        )
    }
}

async fn text(State(told): State<Told>) -> axum::response::Response {
    match told.metrics.render() {
        Ok(body) => (
            [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
            body,
        )
            .into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
