//! A small HTTP/1.1 client for the two servers of our own: the emulator's admin routes (TCP on loopback) and the
//! supervisor (a Unix socket). One connection a request.

use std::path::Path;
use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// Nobody listens.
    #[error("cannot connect to {target}")]
    Connect {
        target: String,
        #[source]
        cause: std::io::Error,
    },
    /// The connection broke, or the request could not be made.
    #[error("no answer from {target}: {reason}")]
    Broken { target: String, reason: String },
}

/// What to ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(&'a str, String)],
    pub(crate) body: Option<Vec<u8>>,
    /// The longest wait for the whole answer; `None` waits for as long as it takes.
    pub(crate) patience: Option<Duration>,
}

/// Asks `host:port`.
pub(crate) async fn tcp(authority: &str, ask: Ask<'_>) -> Result<Answer, NoAnswer> {
    let connect = async {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    within(ask.patience, authority, async {
        let stream = connect.await.map_err(|cause| NoAnswer::Connect {
            target: authority.to_owned(),
            cause,
        })?;
        exchange(stream, authority, &ask).await
    })
    .await
}

/// Asks a Unix socket.
pub(crate) async fn unix(socket: &Path, ask: Ask<'_>) -> Result<Answer, NoAnswer> {
    let target = socket.display().to_string();
    within(ask.patience, &target, async {
        let stream = UnixStream::connect(socket)
            .await
            .map_err(|cause| NoAnswer::Connect {
                target: target.clone(),
                cause,
            })?;
        exchange(stream, "localhost", &ask).await
    })
    .await
}

async fn within<T>(
    patience: Option<Duration>,
    target: &str,
    work: impl Future<Output = Result<T, NoAnswer>>,
) -> Result<T, NoAnswer> {
    match patience {
        None => work.await,
        Some(patience) => tokio::time::timeout(patience, work).await.unwrap_or_else(|_| {
            Err(NoAnswer::Broken {
                target: target.to_owned(),
                reason: format!("nothing within {patience:?}"),
            })
        }),
    }
}

async fn exchange<S>(stream: S, host: &str, ask: &Ask<'_>) -> Result<Answer, NoAnswer>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |reason: String| NoAnswer::Broken {
        target: host.to_owned(),
        reason,
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(error.to_string()))?;
    let driver = tokio::spawn(connection);
    let has = |wanted: &str| {
        ask.headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let mut request = Request::builder().method(ask.method.clone()).uri(ask.path);
    if !has("host") {
        request = request.header(header::HOST, host);
    }
    for (name, value) in ask.headers {
        request = request.header(*name, value);
    }
    if ask.body.is_some() && !has("content-type") {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    let request = request
        .body(Full::new(Bytes::from(ask.body.clone().unwrap_or_default())))
        .map_err(|error| broken(error.to_string()))?;
    let response = sender
        .send_request(request)
        .await
        .map_err(|error| broken(error.to_string()))?;
    let status = response.status();
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| broken(error.to_string()))?
        .to_bytes();
    driver.abort();
    Ok(Answer { status, body })
}
