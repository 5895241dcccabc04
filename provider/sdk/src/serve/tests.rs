//! A client as go-plugin is one: it pins the certificate of the handshake line and shows its own, on P-521.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tfplugin_proto::go_plugin::Empty;
use tfplugin_proto::go_plugin::grpc_controller_client::GrpcControllerClient;
use tfplugin_proto::go_plugin::grpc_stdio_client::GrpcStdioClient;
use tfplugin_proto::health::HealthCheckRequest;
use tfplugin_proto::health::health_client::HealthClient;
use tfplugin_proto::tfplugin6 as proto;
use tfplugin_proto::tfplugin6::provider_client::ProviderClient;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};

use super::environment::Environment;
use super::running::{Mode, Running, start};
use crate::model::Empty as NoModel;
use crate::{Configured, Context, Diagnostics, Offers, Provider, async_trait};

struct Nothing;

#[async_trait]
impl Provider for Nothing {
    type Model = NoModel;
    type Data = ();

    async fn configure(&self, _: &Context<()>, _: NoModel) -> Result<Configured<()>, Diagnostics> {
        Ok(Configured::ready(()))
    }

    fn offers(&self) -> Offers<()> {
        Offers::new()
    }
}

/// A certificate as go-plugin makes it: self-signed, an authority, on P-521.
fn client_certificate() -> (String, CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params
        .distinguished_name
        .push(DnType::OrganizationName, "HashiCorp");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    (certificate.pem(), certificate.der().clone(), der)
}

/// The network, address and certificate of a handshake line.
fn parse(line: &str) -> (String, String, Vec<u8>) {
    let parts: Vec<&str> = line.split('|').collect();
    let [core, version, network, address, wire, certificate] = parts.as_slice() else {
        panic!("not a line: {line}")
    };
    assert_eq!((*core, *version, *wire), ("1", "6", "grpc"));
    (
        (*network).to_owned(),
        (*address).to_owned(),
        STANDARD_NO_PAD.decode(certificate).unwrap(),
    )
}

async fn connect(line: &str, tls: Option<ClientConfig>) -> Result<Channel, tonic::transport::Error> {
    let (network, address, _) = parse(line);
    let connector = tls.map(|mut config| {
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsConnector::from(Arc::new(config))
    });
    let connect = tower::service_fn(move |_: Uri| {
        let (network, address, connector) = (network.clone(), address.clone(), connector.clone());
        async move {
            let stream: Box<dyn crate::serve::connection::Stream> = match network.as_str() {
                "unix" => Box::new(UnixStream::connect(address).await?),
                _ => Box::new(TcpStream::connect(address).await?),
            };
            let stream: Box<dyn crate::serve::connection::Stream> = match connector {
                Some(connector) => Box::new(
                    connector
                        .connect(ServerName::try_from("localhost").unwrap(), stream)
                        .await?,
                ),
                None => stream,
            };
            Ok::<_, std::io::Error>(TokioIo::new(stream))
        }
    });
    Endpoint::from_static("http://localhost")
        .connect_with_connector(connect)
        .await
}

fn pinned(line: &str, identity: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(parse(line).2)).unwrap();
    let builder =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
    match identity {
        Some((certificate, key)) => builder.with_client_auth_cert(vec![certificate], key).unwrap(),
        None => builder.with_no_client_auth(),
    }
}

fn environment(folder: &tempfile::TempDir, client: Option<String>) -> Environment {
    Environment {
        client_certificate: client,
        socket_folder: Some(folder.path().to_path_buf()),
        versions: Some("5,6".to_owned()),
        ..Environment::default()
    }
}

async fn schema_answers(channel: Channel) -> bool {
    let schema = ProviderClient::new(channel)
        .get_provider_schema(proto::get_provider_schema::Request {})
        .await;
    schema.is_ok_and(|schema| {
        schema
            .into_inner()
            .server_capabilities
            .is_some_and(|can| can.plan_destroy)
    })
}

fn serving(environment: Environment) -> Running {
    start(environment, Nothing, Mode::Plugin).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_the_client_it_was_told_of_and_refuses_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let (pem, certificate, key) = client_certificate();
    let running = serving(environment(&folder, Some(pem)));
    let line = running.handshake_line().to_owned();
    assert!(line.contains("|unix|"), "{line}");

    let known = connect(&line, Some(pinned(&line, Some((certificate, key)))))
        .await
        .unwrap();
    assert!(schema_answers(known.clone()).await);

    let without = connect(&line, Some(pinned(&line, None))).await;
    assert!(match without {
        Ok(channel) => !schema_answers(channel).await,
        Err(_) => true,
    });
    let (_, certificate, key) = client_certificate();
    let stranger = connect(&line, Some(pinned(&line, Some((certificate, key))))).await;
    assert!(match stranger {
        Ok(channel) => !schema_answers(channel).await,
        Err(_) => true,
    });
    let plain = connect(&line, None).await;
    assert!(match plain {
        Ok(channel) => !schema_answers(channel).await,
        Err(_) => true,
    });
    assert!(schema_answers(known).await, "the known client is served on");
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_without_tls_over_tcp_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let running = serving(Environment {
        tcp: true,
        ..environment(&folder, None)
    });
    let line = running.handshake_line().to_owned();
    assert!(
        line.contains("|tcp|127.0.0.1:") && line.ends_with("|grpc|"),
        "{line}"
    );
    assert!(schema_answers(connect(&line, None).await.unwrap()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_services_answer_and_shutdown_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let running = serving(environment(&folder, None));
    let line = running.handshake_line().to_owned();
    let channel = connect(&line, None).await.unwrap();

    let mut stdio = GrpcStdioClient::new(channel.clone())
        .stream_stdio(())
        .await
        .unwrap()
        .into_inner();
    let check = |service: &str| HealthCheckRequest {
        service: service.to_owned(),
    };
    let mut health = HealthClient::new(channel.clone());
    assert_eq!(
        health.check(check("plugin")).await.unwrap().into_inner().status,
        1
    );
    assert_eq!(
        health.check(check("other")).await.unwrap_err().code(),
        tonic::Code::NotFound
    );
    let unserved = ProviderClient::new(channel.clone())
        .plan_action(proto::plan_action::Request::default())
        .await;
    assert_eq!(unserved.unwrap_err().code(), tonic::Code::Unimplemented);

    let ending = tokio::spawn(running.until_end());
    GrpcControllerClient::new(channel.clone())
        .shutdown(Empty {})
        .await
        .unwrap();
    assert!(
        stdio.message().await.map_or(true, |message| message.is_none()),
        "the stream ends with the server"
    );
    drop((stdio, health, channel));
    tokio::time::timeout(Duration::from_secs(10), ending)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "the socket is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_client_certificate_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = start(
        environment(&folder, Some("no PEM".to_owned())),
        Nothing,
        Mode::Plugin,
    )
    .err()
    .unwrap();
    assert_eq!(error.to_string(), "TLS could not be set up");
}
