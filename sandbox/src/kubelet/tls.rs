//! TLS for the kubelet's server: it shows the cluster's certificate and lets in only whoever has one of the cluster's CA,
//! which is the API server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::serve::Listener;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::layout::ClusterLayout;

type Accepted = (TlsStream<TcpStream>, SocketAddr);

/// Accepts TLS connections; handshakes run beside each other.
pub(super) struct TlsListener {
    accepted: mpsc::Receiver<Accepted>,
    address: SocketAddr,
}

impl TlsListener {
    /// Listens with the cluster's files.
    pub(super) async fn bind(layout: &ClusterLayout, port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .context("the kubelet's port is taken")?;
        let address = listener.local_addr()?;
        let acceptor = TlsAcceptor::from(Arc::new(config(layout)?));
        let (tell, accepted) = mpsc::channel(16);
        tokio::spawn(accept(listener, acceptor, tell));
        Ok(Self { accepted, address })
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, tell: mpsc::Sender<Accepted>) {
    loop {
        let (stream, address) = tokio::select! {
            () = tell.closed() => return,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "the kubelet cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let (acceptor, tell) = (acceptor.clone(), tell.clone());
        tokio::spawn(async move {
            let handshake = tokio::time::timeout(Duration::from_secs(10), acceptor.accept(stream));
            if let Ok(Ok(stream)) = handshake.await {
                let _ = tell.send((stream, address)).await;
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> Accepted {
        match self.accepted.recv().await {
            Some(accepted) => accepted,
            // The accepting task lives as long as this receiver.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
    }
}

fn config(layout: &ClusterLayout) -> anyhow::Result<ServerConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(layout.pki("ca.crt"))? {
        roots.add(certificate?)?;
    }
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build()?;
    let chain = CertificateDer::pem_file_iter(layout.pki("kubelet.crt"))?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(layout.pki("kubelet.key"))?;
    Ok(ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?)
}
