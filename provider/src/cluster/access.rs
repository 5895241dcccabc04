//! The ways to reach a cluster, as plain data.

use super::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How one cluster is reached. Every leaf is known: unknown settings never get this far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Access {
    /// By host and credentials: the provider's `kubernetes = { host, ... }`.
    Direct(Box<Direct>),
    /// By a kubeconfig file: the provider's `kubernetes = { config_path, config_context }`.
    Kubeconfig { path: PathBuf, context: Option<String> },
    /// By an EKS cluster's name: the provider's `eks = { cluster_name, ... }`.
    Eks(EksAccess),
}

/// Host and credentials of an API server.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Direct {
    /// URL of the API server; `https://` is put before a bare host name.
    pub host: String,
    /// CA bundle, PEM, or base64 of PEM as `aws_eks_cluster` gives it.
    pub cluster_ca_certificate: Option<String>,
    /// Bearer token.
    pub token: Option<Secret>,
    /// Client certificate, PEM or base64 of PEM.
    pub client_certificate: Option<String>,
    /// Client key, PEM or base64 of PEM.
    pub client_key: Option<Secret>,
    /// Name to check in the server's certificate instead of the host.
    pub tls_server_name: Option<String>,
    /// Do not check the server's certificate.
    pub insecure: bool,
    /// Credential plugin.
    pub exec: Option<Exec>,
}

/// A client-go credential plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exec {
    /// API version of ExecCredential, for example `client.authentication.k8s.io/v1`.
    pub api_version: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables besides the provider's own.
    pub env: BTreeMap<String, String>,
}

/// An EKS cluster, found by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EksAccess {
    /// The cluster's name.
    pub cluster_name: String,
    /// Region of the cluster; the provider's `aws.region` or the standard chain when absent.
    pub region: Option<String>,
    /// Role to assume before describing the cluster and minting tokens.
    pub role_arn: Option<String>,
    /// Profile of the shared configuration files.
    pub profile: Option<String>,
}

impl Access {
    /// What an error message calls this cluster; holds no secret.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Direct(direct) => direct.host.clone(),
            Self::Kubeconfig { path, context: None } => path.display().to_string(),
            Self::Kubeconfig {
                path,
                context: Some(context),
            } => format!("{} (context {context})", path.display()),
            Self::Eks(eks) => format!("EKS cluster {}", eks.cluster_name),
        }
    }
}
