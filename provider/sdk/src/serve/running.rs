//! A provider being served: from the open socket to the end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tfplugin_proto::go_plugin::grpc_broker_server::GrpcBrokerServer;
use tfplugin_proto::go_plugin::grpc_controller_server::GrpcControllerServer;
use tfplugin_proto::go_plugin::grpc_stdio_server::GrpcStdioServer;
use tfplugin_proto::health::health_server::HealthServer;
use tfplugin_proto::tfplugin6::provider_server::ProviderServer;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use super::connection::{Open, accept};
use super::environment::Environment;
use super::handshake::{line, negotiate};
use super::listen::{Endpoint, Folder, listen};
use super::services::{Broker, Controller, Health, Stdio};
use super::signals::Signals;
use super::tls::{self, TlsError};
use crate::provider::Provider;
use crate::rpc::{Paths, Service};

/// The largest message in either direction.
const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// A client that asked for the end waits two seconds before it kills.
const GRACE: Duration = Duration::from_millis(1500);
/// How often a plugin without connections looks whether its parent is still there.
const PARENT_CHECK: Duration = Duration::from_secs(2);

/// Who uses the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A core that started it.
    Plugin,
    /// Whoever is told; nobody ends it but the one who started it.
    Debug,
}

/// Why a provider cannot serve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("no threads could be started")]
    Runtime(#[source] io::Error),
    #[error("no socket could be opened")]
    Listen(#[source] io::Error),
    #[error("TLS could not be set up")]
    Tls(#[source] TlsError),
    #[error("standard output cannot be written")]
    Announce(#[source] io::Error),
    #[error("the server failed")]
    Server(#[source] tonic::transport::Error),
}

/// A provider that serves.
pub(crate) struct Running {
    endpoint: Endpoint,
    line: String,
    end: CancellationToken,
    stop: Box<dyn Fn() + Send + Sync>,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
    open: Open,
    signals: Signals,
    mode: Mode,
    folder: Option<Folder>,
}

/// Opens the socket and serves. Must be called within a runtime.
pub(crate) fn start<P: Provider>(
    environment: Environment,
    provider: P,
    mode: Mode,
) -> Result<Running, ServeError> {
    let signals = Signals::listen().map_err(ServeError::Runtime)?;
    let identity = match (&environment.client_certificate, mode) {
        (Some(pem), Mode::Plugin) => {
            tls::warm_up();
            Some(tls::identity(pem).map_err(ServeError::Tls)?)
        }
        _ => None,
    };
    let listener = listen(&environment).map_err(ServeError::Listen)?;
    let (endpoint, folder) = (listener.endpoint, listener.folder);
    let certificate = identity.as_ref().map(|identity| identity.certificate.as_ref());
    let line = line(
        negotiate(environment.versions.as_deref()),
        &endpoint,
        certificate,
        environment.multiplex,
    );
    let (end, open) = (CancellationToken::new(), Open::default());
    let tls = identity.map(|identity| TlsAcceptor::from(identity.config));
    let incoming = accept(listener.socket, tls, open.clone(), end.clone());
    let service = Arc::new(Service::new(provider, Paths::ForCores));
    let router = Server::builder()
        .add_service(
            ProviderServer::from_arc(Arc::clone(&service))
                .max_decoding_message_size(MAX_MESSAGE_BYTES)
                .max_encoding_message_size(MAX_MESSAGE_BYTES),
        )
        .add_service(GrpcStdioServer::new(Stdio { end: end.clone() }))
        .add_service(GrpcBrokerServer::new(Broker { end: end.clone() }))
        .add_service(GrpcControllerServer::new(Controller { end: end.clone() }))
        .add_service(HealthServer::new(Health { end: end.clone() }));
    let server = tokio::spawn(router.serve_with_incoming_shutdown(incoming, end.clone().cancelled_owned()));
    Ok(Running {
        endpoint,
        line,
        end,
        stop: Box::new(move || service.stop()),
        server,
        open,
        signals,
        mode,
        folder,
    })
}

impl Running {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn handshake_line(&self) -> &str {
        &self.line
    }

    /// Serves until the client asks for the end, a signal does, or the client is gone; then gives calls in flight a moment.
    pub(crate) async fn until_end(self) -> Result<(), ServeError> {
        let (mut server, mut signals) = (self.server, self.signals);
        let early = tokio::select! {
            result = &mut server => Some(result),
            () = self.end.cancelled() => None,
            () = signals.end(self.mode) => None,
            () = orphaned(&self.open), if self.mode == Mode::Plugin => None,
        };
        self.end.cancel();
        (self.stop)();
        let result = match early {
            Some(result) => Some(result),
            None => tokio::time::timeout(GRACE, server).await.ok(),
        };
        drop(self.folder);
        match result {
            Some(Ok(served)) => served.map_err(ServeError::Server),
            Some(Err(_)) | None => Ok(()), // it did not end by itself; the process does
        }
    }
}

/// Returns when no connection is open and the process that started this one is gone: a killed core ends nobody.
async fn orphaned(open: &Open) {
    #[cfg(unix)]
    {
        let parent = nix::unistd::getppid();
        loop {
            tokio::time::sleep(PARENT_CHECK).await;
            if open.count() == 0 && nix::unistd::getppid() != parent {
                tracing::info!("the core is gone");
                return;
            }
        }
    }
    #[cfg(not(unix))]
    {
        let _ = open;
        std::future::pending().await
    }
}
