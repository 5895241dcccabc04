//! Keys and certificates of one cluster, made anew for each: another cluster has another CA.
//!
//! Output: PEM files in the cluster's `pki` folder, keys readable by their owner only.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_RSA_SHA256, RsaKeySize, SanType,
};

use crate::error::{Error, Result};
use crate::layout::ClusterLayout;

/// Who a client certificate stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    /// The file's name without extension.
    pub(crate) file: &'static str,
    user: &'static str,
    group: Option<&'static str>,
}

/// The administrator.
pub(crate) const ADMIN: Identity = masters("admin", "joiner-sandbox-admin");
/// The API server, when it talks to kubelets.
pub(crate) const KUBELET_CLIENT: Identity = masters("kubelet-client", "kube-apiserver-kubelet-client");
/// The controller manager; in `system:masters` since it runs its controllers under its own name, not under one service
/// account each (which would cost a client and its caches for every one).
pub(crate) const CONTROLLER_MANAGER: Identity =
    masters("controller-manager", "system:kube-controller-manager");
/// The scheduler.
pub(crate) const SCHEDULER: Identity = Identity {
    file: "scheduler",
    user: "system:kube-scheduler",
    group: None,
};
/// kwok, which plays every kubelet but one.
pub(crate) const KWOK: Identity = masters("kwok", "joiner-sandbox-kwok");

const fn masters(file: &'static str, user: &'static str) -> Identity {
    Identity {
        file,
        user,
        group: Some("system:masters"),
    }
}

/// Makes all files of a cluster.
pub(crate) fn create(layout: &ClusterLayout) -> Result<()> {
    let folder = layout.pki("");
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let authority = Authority::new().map_err(failed)?;
    write(&layout.pki("ca.crt"), &authority.certificate)?;

    for identity in [ADMIN, KUBELET_CLIENT, CONTROLLER_MANAGER, SCHEDULER, KWOK] {
        let (certificate, key) = authority.client(identity).map_err(failed)?;
        write(&layout.pki(&format!("{}.crt", identity.file)), &certificate)?;
        write(&layout.pki(&format!("{}.key", identity.file)), &key)?;
    }
    let names = [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ];
    for (file, names) in [("apiserver", &names[..]), ("kubelet", &["localhost"][..])] {
        let (certificate, key) = authority.server(file, names).map_err(failed)?;
        write(&layout.pki(&format!("{file}.crt")), &certificate)?;
        write(&layout.pki(&format!("{file}.key")), &key)?;
    }
    // RSA, as EKS signs service account tokens (RS256).
    let signing = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).map_err(failed)?;
    write(&layout.pki("service-account.key"), &signing.serialize_pem())
}

fn failed(error: rcgen::Error) -> Error {
    Error::Refused(format!("cannot make the cluster's certificates: {error}"))
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    fn new() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "joiner-sandbox-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate,
        })
    }

    fn client(&self, identity: Identity) -> Result<(String, String), rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, identity.user);
        if let Some(group) = identity.group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn server(&self, user: &str, names: &[&str]) -> Result<(String, String), rcgen::Error> {
        let mut params =
            CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
        params
            .subject_alt_names
            .push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        params
            .subject_alt_names
            .push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::new(172, 20, 0, 1))));
        params.distinguished_name.push(DnType::CommonName, user);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<(String, String), rcgen::Error> {
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
        ];
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?.pem(), key.serialize_pem()))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let write = || {
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    #[test]
    fn all_files_are_made_and_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path()).cluster("a");
        create(&layout).unwrap();
        let other = Layout::new(folder.path()).cluster("b");
        create(&other).unwrap();
        for file in [
            "ca.crt",
            "admin.key",
            "apiserver.crt",
            "kubelet.key",
            "service-account.key",
        ] {
            let mode = fs::metadata(layout.pki(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{file}");
            assert_ne!(
                fs::read(layout.pki(file)).unwrap(),
                fs::read(other.pki(file)).unwrap(),
                "{file}"
            );
        }
    }
}
