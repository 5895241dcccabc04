//! TLS with one client: go-plugin makes a certificate for each run and both sides pin the other's.
//!
//! The client's is self-signed, on P-521 and marked as an authority, so usual chain checks refuse it. It is compared byte for
//! byte instead; that the client holds its key is still checked by the handshake's signature.

use std::sync::Arc;

use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P256_SHA256,
};
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
    #[error("the server's certificate could not be made")]
    ServerCertificate(#[source] rcgen::Error),
    #[error("TLS could not be configured")]
    Configuration(#[source] Error),
}

/// Makes a key and a certificate and accepts the client with this certificate alone.
pub(crate) fn identity(client_certificate_pem: &str) -> Result<Identity, TlsError> {
    let client = CertificateDer::from_pem_slice(client_certificate_pem.as_bytes())
        .map_err(TlsError::ClientCertificate)?;
    let (certificate, key) = own_certificate().map_err(TlsError::ServerCertificate)?;
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

fn own_certificate() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    let certificate = params.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok((certificate.der().clone(), key))
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
