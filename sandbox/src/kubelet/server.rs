//! The kubelet's HTTPS server, which the API server asks for logs.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as UrlPath, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::logs::{self, Wanted};
use super::tls::TlsListener;
use crate::layout::ClusterLayout;

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The server.
pub(super) struct Server {
    listener: TlsListener,
    pods: PathBuf,
}

impl Server {
    /// Opens the port.
    pub(super) async fn bind(layout: &ClusterLayout, port: u16) -> anyhow::Result<Self> {
        Ok(Self {
            listener: TlsListener::bind(layout, port).await?,
            pods: layout.pods(),
        })
    }

    /// Answers until `stop`.
    pub(super) async fn serve(self, stop: CancellationToken) -> anyhow::Result<()> {
        let routes = Router::new()
            .route("/healthz", get(async || "ok"))
            .route(
                "/containerLogs/{namespace}/{pod}/{container}",
                get(container_logs),
            )
            .fallback(async || {
                (
                    StatusCode::NOT_IMPLEMENTED,
                    "the sandbox's system node answers logs only: its pods are processes, not containers",
                )
            })
            .with_state(self.pods);
        let served = axum::serve(self.listener, routes);
        tokio::select! {
            result = served.into_future() => result?,
            () = stop.cancelled() => {}
        }
        // The other parts of the kubelet end in their own time.
        std::future::pending().await
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Parameters {
    follow: Option<bool>,
    previous: Option<bool>,
    timestamps: Option<bool>,
    tail_lines: Option<usize>,
    since_seconds: Option<i64>,
    since_time: Option<Timestamp>,
    limit_bytes: Option<usize>,
}

impl Parameters {
    fn wanted(&self, now: Timestamp) -> Wanted {
        let since = self
            .since_seconds
            .and_then(|seconds| now.checked_sub(SignedDuration::from_secs(seconds)).ok());
        Wanted {
            tail: self.tail_lines,
            since: self.since_time.or(since),
            timestamps: self.timestamps == Some(true),
            limit: self.limit_bytes,
        }
    }
}

async fn container_logs(
    State(pods): State<PathBuf>,
    UrlPath((namespace, pod, container)): UrlPath<(String, String, String)>,
    Query(parameters): Query<Parameters>,
) -> Response {
    let back = u32::from(parameters.previous == Some(true));
    let Some(log) = find(&pods, &namespace, &pod, &container, back) else {
        let which = if back == 1 {
            "previous terminated container"
        } else {
            "container"
        };
        let text = format!("{which} {container:?} in pod {pod:?} not found");
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    let text = tokio::fs::read_to_string(&log).await.unwrap_or_default();
    let wanted = parameters.wanted(Timestamp::now());
    let first = logs::select(&text, wanted);
    if parameters.follow != Some(true) {
        return first.into_response();
    }
    let follow = Follow {
        log,
        at: text.len(),
        timestamps: wanted.timestamps,
        first: Some(first),
    };
    Body::from_stream(stream::unfold(follow, Follow::next)).into_response()
}

/// The log of a container's newest run, or of the one `back` before it.
fn find(pods: &Path, namespace: &str, pod: &str, container: &str, back: u32) -> Option<PathBuf> {
    let prefix = format!("{namespace}_{pod}_");
    let folders = std::fs::read_dir(pods).ok()?.flatten();
    let folder = folders
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .max_by_key(|entry| entry.metadata().and_then(|metadata| metadata.modified()).ok())?;
    let newest = newest_run(&folder.path(), container)?;
    let log = logs::path(&folder.path(), container, newest.checked_sub(back)?);
    log.is_file().then_some(log)
}

fn newest_run(pod: &Path, container: &str) -> Option<u32> {
    let runs = std::fs::read_dir(pod.join("logs").join(container))
        .ok()?
        .flatten();
    runs.filter_map(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .strip_suffix(".log")?
            .parse()
            .ok()
    })
    .max()
}

/// A log that is being followed; it ends with its run: when the pod is gone, or a newer run has begun.
struct Follow {
    log: PathBuf,
    at: usize,
    timestamps: bool,
    first: Option<String>,
}

impl Follow {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if let Some(first) = self.first.take().filter(|text| !text.is_empty()) {
            return Some((Ok(first.into()), self));
        }
        loop {
            let text = tokio::fs::read_to_string(&self.log).await.ok()?;
            let added = text.get(self.at..).unwrap_or_default();
            // Only whole lines: the rest comes with the next look.
            let end = added.rfind('\n').map_or(0, |end| end + 1);
            if end > 0 {
                let wanted = Wanted {
                    timestamps: self.timestamps,
                    ..Wanted::default()
                };
                let chunk = logs::select(&added[..end], wanted);
                self.at += end;
                return Some((Ok(chunk.into()), self));
            }
            if self.is_over() {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn is_over(&self) -> bool {
        let number = self
            .log
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse::<u32>().ok())
            .unwrap_or(0);
        self.log.with_file_name(format!("{}.log", number + 1)).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_and_the_previous_run_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let pod = folder.path().join("ns_p_uid");
        for run in 0..3 {
            let log = logs::path(&pod, "c", run);
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            std::fs::write(&log, "").unwrap();
        }
        let at = |back| find(folder.path(), "ns", "p", "c", back);
        assert_eq!(at(0), Some(logs::path(&pod, "c", 2)));
        assert_eq!(at(1), Some(logs::path(&pod, "c", 1)));
        assert_eq!(find(folder.path(), "ns", "other", "c", 0), None);
    }
}
