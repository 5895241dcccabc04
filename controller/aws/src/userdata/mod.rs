//! What an instance reads at its first boot to become a node of the cluster, in the words of its image family.
//!
//! Input: cluster, kubelet settings, taints, labels and the user's own part. Output: text, the same bytes for the same
//! input. Our settings win over the user's where both speak of the same thing.

mod bootstrap_script;
mod bottlerocket;
mod mime;
mod nodeadm;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use joiner_api::{AmiFamily, KubeletConfiguration};
use joiner_core::taints::Taint;
use std::collections::BTreeMap;
use std::net::IpAddr;

pub use bottlerocket::foreign_tables;
pub use nodeadm::{Form, form};

/// What EC2 accepts, in bytes before encoding.
pub const LIMIT: usize = 16_384;

/// The cluster that a node joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// URL of its API server.
    pub endpoint: String,
    /// PEM of its certificate authority, base64 encoded; empty: the image asks EKS.
    pub ca_bundle: String,
    /// CIDR of its services; empty while not known.
    pub service_cidr: String,
    /// Address of its DNS service; none: the image derives it.
    pub dns: Option<IpAddr>,
}

/// Everything that user data is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap<'a> {
    /// Where to join.
    pub cluster: &'a Cluster,
    /// Kubelet settings as in the node class.
    pub kubelet: &'a KubeletConfiguration,
    /// Most pods, used where the node class sets none.
    pub max_pods: i64,
    /// Taints to register with; the one of unregistered nodes is added.
    pub taints: &'a [Taint],
    /// Labels to register with; those that a node may not give itself are left out.
    pub labels: &'a BTreeMap<String, String>,
    /// Whether local disks become one striped volume for pods.
    pub striped_local_disks: bool,
    /// The user's part.
    pub custom: Option<&'a str>,
    /// Bottlerocket's version, for what depends on it; empty if not known.
    pub image_version: &'a str,
}

/// Rendered user data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserData(String);

impl UserData {
    /// The text as the instance reads it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The text as EC2's API takes it.
    pub fn base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

/// Why user data cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserDataError {
    /// It is longer than EC2 accepts.
    #[error(
        "user data has {length} bytes: expected at most {LIMIT}, which is EC2's limit; shorten spec.userData, for \
         example by fetching a script from S3"
    )]
    TooLong {
        /// Bytes before encoding.
        length: usize,
    },
    /// The CIDR of services is not known yet.
    #[error("the CIDR of the cluster's services is not known yet; it is read from EKS")]
    NoServiceCidr,
    /// The user's part cannot be read.
    #[error("spec.userData cannot be merged: {reason}")]
    Custom {
        /// What is wrong with it and what is expected.
        reason: String,
    },
    /// A kubelet setting that the family has no words for.
    #[error(
        "spec.kubelet has settings that {family} does not pass on: {}; remove them, or use AL2023",
        .settings.join(", ")
    )]
    Kubelet {
        /// The family.
        family: AmiFamily,
        /// The settings' names.
        settings: Vec<String>,
    },
    /// A family that we cannot serve yet.
    #[error("image family {family} is not supported yet; use AL2023, Bottlerocket, AL2 or Custom")]
    Family {
        /// The family.
        family: AmiFamily,
    },
}

/// Renders the user data of a family.
pub fn render(family: AmiFamily, bootstrap: &Bootstrap<'_>) -> Result<UserData, UserDataError> {
    if family != AmiFamily::AL2023 && family != AmiFamily::Custom && !bootstrap.kubelet.other.is_empty() {
        let settings = bootstrap.kubelet.other.keys().cloned().collect();
        return Err(UserDataError::Kubelet { family, settings });
    }
    let text = match family {
        AmiFamily::AL2023 => nodeadm::render(bootstrap)?,
        AmiFamily::Bottlerocket => bottlerocket::render(bootstrap)?,
        AmiFamily::AL2 => bootstrap_script::render(bootstrap)?,
        AmiFamily::Custom => bootstrap.custom.unwrap_or_default().to_owned(),
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
            return Err(UserDataError::Family { family });
        }
    };
    if text.len() > LIMIT {
        return Err(UserDataError::TooLong { length: text.len() });
    }
    Ok(UserData(text))
}

impl Bootstrap<'_> {
    /// The taints with the one that keeps pods away until the node is registered.
    fn all_taints(&self) -> Vec<Taint> {
        let unregistered = Taint::new(
            joiner_api::labels::UNREGISTERED_TAINT,
            "",
            joiner_core::taints::Effect::NoExecute,
        );
        let mut taints = self.taints.to_vec();
        if !taints.iter().any(|taint| taint.is_same(&unregistered)) {
            taints.push(unregistered);
        }
        taints
    }

    /// The labels that the admission of nodes lets through.
    fn allowed_labels(&self) -> BTreeMap<&str, &str> {
        self.labels
            .iter()
            .filter(|(key, _)| !is_forbidden(key))
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect()
    }

    /// `--node-labels="a=b,c=d"`, or nothing.
    fn labels_flag(&self) -> Option<String> {
        let labels = self.allowed_labels();
        let pairs: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        (!pairs.is_empty()).then(|| format!("--node-labels=\"{}\"", pairs.join(",")))
    }

    /// Most pods as set, else as given.
    fn pods(&self) -> i64 {
        self.kubelet.max_pods.map_or(self.max_pods, i64::from)
    }

    /// Addresses of the DNS service as set, else the cluster's.
    fn dns(&self) -> Vec<String> {
        if self.kubelet.cluster_dns.is_empty() {
            self.cluster.dns.iter().map(ToString::to_string).collect()
        } else {
            self.kubelet.cluster_dns.clone()
        }
    }
}

/// Labels under Kubernetes' own domains, which a kubelet may not set on its node.
fn is_forbidden(key: &str) -> bool {
    let domain = joiner_api::labels::domain(key);
    ["kubernetes.io", "k8s.io"].iter().any(|forbidden| {
        domain
            .strip_suffix(forbidden)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests;
