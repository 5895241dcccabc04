//! Accepted connections, plain or with TLS, as a stream for the gRPC server.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{self, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;

use super::listen::Socket;

/// A client that has not finished the TLS handshake by then is dropped.
const TLS_HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Bytes in both directions.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// How many connections are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open(Arc<AtomicUsize>);

impl Open {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn enter(&self) -> Guard {
        self.0.fetch_add(1, Ordering::SeqCst);
        Guard(self.clone())
    }
}

struct Guard(Open);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    _open: Guard,
}

/// Accepts connections until `end`, each TLS handshake in a task of its own.
pub(crate) fn accept(
    socket: Socket,
    tls: Option<TlsAcceptor>,
    open: Open,
    end: CancellationToken,
) -> ReceiverStream<io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        loop {
            let stream = tokio::select! {
                stream = next(&socket) => stream,
                () = end.cancelled() => break,
            };
            match stream {
                Ok(stream) => {
                    let (sender, tls, guard) = (sender.clone(), tls.clone(), open.enter());
                    tokio::spawn(async move {
                        match secure(stream, tls).await {
                            Ok(stream) => {
                                let _gone = sender.send(Ok(Connection { stream, _open: guard })).await;
                            }
                            Err(error) => tracing::warn!(%error, "a client was refused"),
                        }
                    });
                }
                Err(error) => tracing::warn!(%error, "a connection was not accepted"),
            }
        }
    });
    ReceiverStream::new(receiver)
}

async fn next(socket: &Socket) -> io::Result<Box<dyn Stream>> {
    match socket {
        #[cfg(unix)]
        Socket::Unix(socket) => Ok(Box::new(socket.accept().await?.0)),
        Socket::Tcp(socket) => {
            let (stream, _) = socket.accept().await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream))
        }
    }
}

async fn secure(stream: Box<dyn Stream>, tls: Option<TlsAcceptor>) -> io::Result<Box<dyn Stream>> {
    match tls {
        None => Ok(stream),
        Some(tls) => Ok(Box::new(
            tokio::time::timeout(TLS_HANDSHAKE_LIMIT, tls.accept(stream)).await??,
        )),
    }
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
