//! A tap on the line between a core and the provider: at a call that a test chose, the provider is killed.
//!
//! The provider runs as one that is debugged, which cores reach without TLS by `TF_REATTACH_PROVIDERS`; the tap stands between. It
//! knows of the protocol only the names of calls and the first field of their messages, the resource type.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use joiner_sandbox::process::identity::ProcessId;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use crate::{Cloud, processes};

/// Our source in the words of both cores.
const SOURCES: [&str; 2] = [
    "registry.opentofu.org/joiner-dev/joiner",
    "registry.terraform.io/joiner-dev/joiner",
];
/// What the paths of the provider's calls begin with.
const SERVICE: &str = "/tfplugin6.Provider/";

/// On which side of a call the provider dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The call has not reached it: nothing of it is done.
    Before,
    /// It has answered and nobody hears it: all of it is done.
    After,
}

/// The call at which the provider dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The call's name, such as `ApplyResourceChange`.
    pub call: &'static str,
    /// Which of the calls of this name for the resource type, from 1 on.
    pub nth: usize,
    /// Which side of it.
    pub side: Side,
}

/// A provider that a core reaches through the tap. It ends with the tap.
pub struct Tap {
    line: Arc<Line>,
    variable: String,
}

struct Line {
    resource: String,
    point: Option<Point>,
    provider: Mutex<Provider>,
    upstream: PathBuf,
    cut: CancellationToken,
}

struct Provider {
    child: Child,
    id: ProcessId,
    met: usize,
    dead: bool,
}

type Body = BoxBody<Bytes, BoxError>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Tap {
    /// Starts the provider under test and a tap before it, with the socket in `folder`. It dies at `point` of calls for `resource`, a
    /// resource type; without a point only [`Tap::kill`] ends it.
    ///
    /// # Errors
    /// When the provider does not start or says nothing of how to reach it.
    pub fn start(cloud: &Cloud, folder: &Path, resource: &str, point: Option<Point>) -> Result<Self> {
        let helm = cloud.tools.path("helm");
        let mut child = Command::new(cloud.binaries().join("terraform-provider-joiner"))
            .arg("-debug")
            .envs(cloud.environment())
            .env("PATH", path_with(helm.parent().unwrap_or(Path::new("/")))?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the provider does not start")?;
        let id = processes::of(child.id())
            .context("the provider ended at once")?
            .id;
        let stdout = child.stdout.take().context("the provider has no output")?;
        let upstream = socket_of(BufReader::new(stdout))?;
        let own = folder.join(format!("{}.sock", child.id()));
        let listener = UnixListener::bind(&own).with_context(|| own.display().to_string())?;
        let variable = reattach(child.id(), &own);
        let provider = Provider {
            child,
            id,
            met: 0,
            dead: false,
        };
        let line = Arc::new(Line {
            resource: resource.to_owned(),
            point,
            provider: Mutex::new(provider),
            upstream,
            cut: CancellationToken::new(),
        });
        tokio::spawn(listen(listener, Arc::clone(&line)));
        Ok(Self { line, variable })
    }

    /// The value of `TF_REATTACH_PROVIDERS` with which a core uses this provider.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// `kill -9` of the provider now.
    pub fn kill(&self) {
        self.line.kill();
    }

    /// Requires that the provider has died.
    ///
    /// # Errors
    /// When it has not: the point was not reached.
    pub fn has_killed(&self) -> Result<()> {
        let provider = self.line.provider();
        if provider.dead {
            return Ok(());
        }
        let (point, met) = (self.line.point, provider.met);
        bail!(
            "{point:?} was not reached: {met} such calls for {}",
            self.line.resource
        )
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.line.kill();
    }
}

impl Line {
    fn provider(&self) -> MutexGuard<'_, Provider> {
        self.provider.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the provider, and after it the line.
    fn kill(&self) {
        let mut provider = self.provider();
        if !provider.dead {
            provider.dead = true;
            provider.id.signal(Signal::SIGKILL);
            if let Err(error) = provider.child.wait() {
                eprintln!("the killed provider cannot be waited for: {error}");
            }
        }
        self.cut.cancel();
    }

    /// On which side of this call the provider is to die, if it is.
    fn side(&self, call: &str, message: &[u8]) -> Option<Side> {
        let point = self.point.filter(|point| point.call == call)?;
        if first_text(message) != Some(self.resource.as_bytes()) {
            return None;
        }
        let mut provider = self.provider();
        provider.met += 1;
        (provider.met == point.nth).then_some(point.side)
    }

    async fn forward(
        self: Arc<Self>,
        mut upstream: SendRequest<Body>,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, BoxError> {
        let (head, body) = request.into_parts();
        let Some(call) = head.uri.path().strip_prefix(SERVICE).map(str::to_owned) else {
            // Streams of the plugin library, which stay open.
            let request = Request::from_parts(head, body.map_err(Into::into).boxed());
            let response = upstream.send_request(request).await?;
            return Ok(response.map(|body| body.map_err(Into::into).boxed()));
        };
        let message = body.collect().await?.to_bytes();
        let side = self.side(&call, &message);
        if side == Some(Side::Before) {
            self.kill();
            return Err("the provider was killed before the call".into());
        }
        let body = Full::new(message).map_err(|never| match never {}).boxed();
        let (head, body) = upstream
            .send_request(Request::from_parts(head, body))
            .await?
            .into_parts();
        let answer = body.collect().await?;
        if side == Some(Side::After) {
            self.kill();
            return Err("the provider was killed after the call".into());
        }
        Ok(Response::from_parts(
            head,
            answer.map_err(|never| match never {}).boxed(),
        ))
    }
}

async fn listen(listener: UnixListener, line: Arc<Line>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = line.cut.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else { return };
        let line = Arc::clone(&line);
        tokio::spawn(async move {
            tokio::select! {
                served = serve(stream, Arc::clone(&line)) => if let Err(error) = served {
                    eprintln!("a connection to the provider ended: {error}");
                },
                () = line.cut.cancelled() => {}
            }
        });
    }
}

async fn serve(stream: UnixStream, line: Arc<Line>) -> Result<(), BoxError> {
    let upstream = UnixStream::connect(&line.upstream).await?;
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(upstream)).await?;
    let service = service_fn(move |request| Arc::clone(&line).forward(sender.clone(), request));
    let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        served = served => served?,
        ended = connection => ended?,
    }
    Ok(())
}

/// The first field of a gRPC message, when it is a short text: one byte of flags, four of length, then the message.
fn first_text(message: &[u8]) -> Option<&[u8]> {
    match message.get(5..)? {
        [0x0a, length @ 0..=0x7f, rest @ ..] => rest.get(..usize::from(*length)),
        _ => None,
    }
}

/// Reads what a debugged provider says until it names its socket.
fn socket_of(output: impl BufRead) -> Result<PathBuf> {
    for line in output.lines() {
        let line = line?;
        let Some(value) = line.trim().strip_prefix("TF_REATTACH_PROVIDERS='") else {
            continue;
        };
        let value: Value = serde_json::from_str(value.trim_end_matches('\''))?;
        let providers = value.as_object().context("no map of providers")?;
        let address = providers.values().next().context("no provider")?["Addr"]["String"].as_str();
        return Ok(address.context("no address")?.into());
    }
    bail!("the provider ended and did not say where it can be reached")
}

fn reattach(pid: u32, socket: &Path) -> String {
    let attach = json!({
        "Protocol": "grpc", "ProtocolVersion": 6, "Pid": pid, "Test": true,
        "Addr": { "Network": "unix", "String": socket },
    });
    let all: serde_json::Map<String, Value> = SOURCES
        .iter()
        .map(|source| ((*source).to_owned(), attach.clone()))
        .collect();
    Value::Object(all).to_string()
}

fn path_with(folder: &Path) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_tells_its_resource_type() {
        for (message, want) in [
            (&b"\0\0\0\0\x05\x0a\x01a\x12\0"[..], Some(&b"a"[..])),
            (b"\0\0\0\0\0", None),
            (b"\0\0\0\0\x02\x12\0", None),
            (b"\0\0", None),
        ] {
            assert_eq!(first_text(message), want, "{message:?}");
        }
    }

    #[test]
    fn a_provider_tells_its_socket() {
        let said =
            "Provider started.\n\n\tTF_REATTACH_PROVIDERS='{\"a/b/c\":{\"Addr\":{\"String\":\"/tmp/s\"}}}'\n";
        assert_eq!(socket_of(said.as_bytes()).unwrap(), PathBuf::from("/tmp/s"));
        assert!(socket_of(&b"nothing"[..]).is_err());
    }
}
