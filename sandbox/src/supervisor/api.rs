//! What clients may ask over the Unix socket. The socket lies in a folder of the user's own; whoever may open it may do
//! everything.
//!
//! | request | answer |
//! |---|---|
//! | `GET /status` | [`Status`] |
//! | `GET /clusters` | a list of [`Cluster`] |
//! | `POST /clusters` [`ClusterSpec`] | [`Cluster`], when it is ready |
//! | `DELETE /clusters/{name}` | true when there was one |
//! | `POST /shutdown` | `null`, and everything ends |

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};

use super::run::Supervisor;
use crate::error::{Error, chain};
use crate::model::{Cluster, ClusterSpec, PartState, PartStatus, Refusal, Status};
use crate::process::identity::ProcessId;

/// The routes.
pub(super) fn router(supervisor: Arc<Supervisor>) -> Router {
    Router::new()
        .route("/status", get(status))
        .route("/clusters", get(list).post(create))
        .route("/clusters/{name}", delete(remove))
        .route("/shutdown", post(shut_down))
        .with_state(supervisor)
}

struct Refused(Error);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (
            StatusCode::CONFLICT,
            Json(Refusal {
                error: chain(&self.0),
            }),
        )
            .into_response()
    }
}

async fn status(State(supervisor): State<Arc<Supervisor>>) -> Json<Status> {
    let mut parts = vec![own_status(&supervisor)];
    parts.extend(supervisor.parts.statuses());
    Json(Status {
        dir: supervisor.layout.dir().to_path_buf(),
        aws_endpoint: supervisor.emulator.url(),
        kubeconfig: supervisor.layout.kubeconfig(),
        clusters: supervisor
            .clusters
            .list()
            .into_iter()
            .map(|cluster| cluster.name)
            .collect(),
        parts,
    })
}

fn own_status(supervisor: &Supervisor) -> PartStatus {
    let own = ProcessId::own();
    PartStatus {
        name: "supervisor".into(),
        state: PartState::Running,
        pid: own.map(|own| own.pid),
        port: None,
        uptime_seconds: own.and_then(ProcessId::uptime).map(|time| time.as_secs()),
        memory_bytes: own.and_then(ProcessId::memory),
        log: supervisor.layout.log("supervisor"),
        message: String::new(),
    }
}

async fn list(State(supervisor): State<Arc<Supervisor>>) -> Json<Vec<Cluster>> {
    Json(supervisor.clusters.list())
}

async fn create(
    State(supervisor): State<Arc<Supervisor>>,
    Json(spec): Json<ClusterSpec>,
) -> Result<Json<Cluster>, Refused> {
    // A task of its own: a client that gives up waiting must not leave half a cluster.
    let work = tokio::spawn(async move { supervisor.clusters.create(&supervisor, &spec).await });
    work.await.map_err(panicked)?.map(Json).map_err(Refused)
}

async fn remove(
    State(supervisor): State<Arc<Supervisor>>,
    Path(name): Path<String>,
) -> Result<Json<bool>, Refused> {
    let work = tokio::spawn(async move { supervisor.clusters.delete(&supervisor, &name).await });
    work.await.map_err(panicked)?.map(Json).map_err(Refused)
}

async fn shut_down(State(supervisor): State<Arc<Supervisor>>) -> Json<()> {
    supervisor.stop.cancel();
    Json(())
}

fn panicked(error: tokio::task::JoinError) -> Refused {
    Refused(Error::Refused(format!(
        "the supervisor failed in this request: {error}"
    )))
}
