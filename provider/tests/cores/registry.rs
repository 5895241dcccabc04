//! An OCI registry on loopback: it serves charts to those who know the password.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::extract::{Path as Place, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// User and password of the registry.
pub(crate) const LOGIN: (&str, &str) = ("robot", "r3g1stry-s3cret");

#[derive(Default)]
struct Store {
    /// By digest: media type and content.
    blobs: BTreeMap<String, (&'static str, Vec<u8>)>,
    /// By tag: the manifest's digest.
    tags: BTreeMap<String, String>,
}

impl Store {
    fn add(&mut self, media_type: &'static str, content: Vec<u8>) -> (String, usize) {
        let (digest, size) = (
            format!("sha256:{}", hex::encode(Sha256::digest(&content))),
            content.len(),
        );
        self.blobs.insert(digest.clone(), (media_type, content));
        (digest, size)
    }
}

/// Serves the packaged `charts` (folder and version), all of one name, as `oci://ADDRESS/charts/NAME`; answers the address.
pub(crate) async fn serve(helm: &Path, charts: &[(&Path, &str)]) -> Result<String> {
    let mut store = Store::default();
    for &(chart, version) in charts {
        let out = tempfile::tempdir()?;
        let status = Command::new(helm)
            .args(["package", "--version", version, "--destination"])
            .args([out.path(), chart])
            .output()?;
        ensure!(
            status.status.success(),
            "{}",
            String::from_utf8_lossy(&status.stderr)
        );
        let archive = std::fs::read_dir(out.path())?
            .next()
            .context("an archive")??
            .path();
        let name = chart.file_name().context("a name")?.to_string_lossy();
        let config = json!({ "apiVersion": "v2", "name": name, "version": version }).to_string();
        let (config, config_size) = store.add(CONFIG, config.into_bytes());
        let (layer, layer_size) = store.add(CONTENT, std::fs::read(archive)?);
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": { "mediaType": CONFIG, "digest": config, "size": config_size },
            "layers": [{ "mediaType": CONTENT, "digest": layer, "size": layer_size }],
        });
        let (digest, _) = store.add(MANIFEST, manifest.to_string().into_bytes());
        store.tags.insert((*version).to_owned(), digest);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let routes = Router::new()
        .route(
            "/v2/",
            get(|headers: HeaderMap| async move { refusal(&headers).unwrap_or_default() }),
        )
        .route("/v2/charts/{name}/tags/list", get(tags))
        .route("/v2/charts/{name}/manifests/{reference}", get(content))
        .route("/v2/charts/{name}/blobs/{reference}", get(content))
        .with_state(Arc::new(store));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(address)
}

/// The answer to one who does not know the password.
fn refusal(headers: &HeaderMap) -> Option<Response> {
    let wanted = format!("Basic {}", STANDARD.encode(format!("{}:{}", LOGIN.0, LOGIN.1)));
    match headers.get(header::AUTHORIZATION) {
        Some(found) if found.as_bytes() == wanted.as_bytes() => None,
        _ => {
            let said = json!({ "errors": [{ "code": "UNAUTHORIZED", "message": "log in" }] }).to_string();
            let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"charts\"")];
            Some((StatusCode::UNAUTHORIZED, challenge, said).into_response())
        }
    }
}

async fn tags(State(store): State<Arc<Store>>, Place(name): Place<String>, headers: HeaderMap) -> Response {
    if let Some(refused) = refusal(&headers) {
        return refused;
    }
    let tags: Vec<&String> = store.tags.keys().collect();
    axum::Json(json!({ "name": format!("charts/{name}"), "tags": tags })).into_response()
}

async fn content(
    State(store): State<Arc<Store>>,
    Place((_, reference)): Place<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Some(refused) = refusal(&headers) {
        return refused;
    }
    let digest = store.tags.get(&reference).unwrap_or(&reference);
    match store.blobs.get(digest) {
        Some((media_type, content)) => (
            [
                (header::CONTENT_TYPE.as_str(), *media_type),
                ("Docker-Content-Digest", digest.as_str()),
            ],
            content.clone(),
        )
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
