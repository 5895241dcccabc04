//! A Kubernetes control plane from its real programs.
//!
//! The path: `pki` makes keys and certificates, `flags` says with which arguments each program runs (pure), `start` brings
//! them up in order and waits for each, `bootstrap` adds what EKS has and plain Kubernetes has not.

pub(crate) mod bootstrap;
pub(crate) mod client;
pub(crate) mod flags;
pub(crate) mod kubeconfig;
pub(crate) mod pki;
pub(crate) mod start;

/// The range of services' addresses, the one EKS takes for a VPC in 10/8.
pub(crate) const SERVICE_RANGE: &str = "172.20.0.0/16";

/// The audience of tokens for the API server, as on EKS.
pub(crate) const API_AUDIENCE: &str = "https://kubernetes.default.svc";
