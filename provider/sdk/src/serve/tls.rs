//! TLS with one client: go-plugin makes a certificate for each run and both sides pin the other's.
//!
//! The client's is self-signed, on P-521 and marked as an authority, so usual chain checks refuse it. It is compared byte for
//! byte instead; that the client holds its key is still checked by the handshake's signature.

use std::sync::Arc;

use rand::TryRngCore;
use rand::rngs::OsRng;
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName as Name, Error, ServerConfig, SignatureScheme,
};

/// A server's side of TLS, and the certificate that the handshake line shows.
pub(crate) struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) certificate: CertificateDer<'static>,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("PLUGIN_CLIENT_CERT holds no PEM certificate")]
    ClientCertificate(#[source] rustls::pki_types::pem::Error),
    #[error("the system gives no randomness")]
    Randomness(#[source] rand::rand_core::OsError),
    #[error("the server's certificate could not be made")]
    ServerCertificate(#[source] rcgen::Error),
    #[error("TLS could not be configured")]
    Configuration(#[source] Error),
}

/// Makes a key and a certificate and accepts the client with this certificate alone.
pub(crate) fn identity(client_certificate_pem: &str) -> Result<Identity, TlsError> {
    let client = CertificateDer::from_pem_slice(client_certificate_pem.as_bytes())
        .map_err(TlsError::ClientCertificate)?;
    let (certificate, key) = own_certificate()?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(Pinned {
        client,
        provider: Arc::clone(&provider),
    });
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Configuration)?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.clone()], key)
        .map_err(TlsError::Configuration)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Identity {
        config: Arc::new(config),
        certificate,
    })
}

/// The fixed part of a PKCS #8 document that holds an Ed25519 key: the 32 bytes of the key follow (RFC 8410).
const ED25519_PKCS8_HEAD: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A key and its self-signed certificate. The key is Ed25519 from the system's randomness, since neither making it nor
/// signing with it needs the TLS library's own, which takes some 75 ms to start ([`warm_up`]) and would hold up the
/// handshake line.
fn own_certificate() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), TlsError> {
    let mut pkcs8 = ED25519_PKCS8_HEAD.to_vec();
    let mut seed = [0; 32];
    OsRng.try_fill_bytes(&mut seed).map_err(TlsError::Randomness)?;
    pkcs8.extend_from_slice(&seed);
    let der = PrivatePkcs8KeyDer::from(pkcs8);
    let certificate = self_signed(&der).map_err(TlsError::ServerCertificate)?;
    Ok((certificate, PrivateKeyDer::Pkcs8(der)))
}

fn self_signed(key: &PrivatePkcs8KeyDer<'_>) -> Result<CertificateDer<'static>, rcgen::Error> {
    let key = KeyPair::try_from(key)?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    Ok(params.self_signed(&key)?.der().clone())
}

/// Starts the TLS library's randomness in a thread of its own, while the client reads the handshake line and connects.
pub(crate) fn warm_up() {
    tokio::task::spawn_blocking(|| {
        // If it fails, so will the first handshake, which says so.
        let _later = aws_lc_rs::default_provider().secure_random.fill(&mut [0; 1]);
    });
}

/// Accepts one certificate.
#[derive(Debug)]
struct Pinned {
    client: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[Name] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if end_entity.as_ref() == self.client.as_ref() {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(
                CertificateError::ApplicationVerificationFailure,
            ))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
