//! User data, read as the machine's AMI family reads it. Pure.
//!
//! Output: [`Bootstrap`], what the machine's kubelet is started with.

mod bottlerocket;
mod mime;
mod nodeadm;

use std::collections::BTreeMap;

use crate::model::Cluster;

/// What a machine's kubelet is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bootstrap {
    pub(super) cluster: String,
    pub(super) endpoint: String,
    /// Base64 of the CA's PEM.
    pub(super) authority: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) max_pods: Option<u32>,
    pub(super) pods_per_core: Option<u32>,
    /// Resource -> quantity, over the family's defaults.
    pub(super) kube_reserved: BTreeMap<String, String>,
    pub(super) system_reserved: BTreeMap<String, String>,
    /// Signal (`memory.available`) -> quantity or percentage.
    pub(super) eviction_hard: BTreeMap<String, String>,
}

/// A taint of the node's registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) effect: String,
}

/// Reads user data. An unknown family (a custom image) is read by what the data looks like.
pub(super) fn read(family: &str, text: &str) -> Result<Bootstrap, String> {
    if text.trim().is_empty() {
        return Err("there is none".to_owned());
    }
    match family {
        "AL2023" => nodeadm::read(text),
        "Bottlerocket" => bottlerocket::read(text),
        _ if text.contains("node.eks.aws") => nodeadm::read(text),
        _ if text.contains("settings.kubernetes") => bottlerocket::read(text),
        other => Err(format!(
            "the sandbox boots AL2023 and Bottlerocket images; this one is {other:?}, and its user data is neither's"
        )),
    }
}

impl Bootstrap {
    /// A machine joins only the cluster whose endpoint and CA it was given.
    pub(super) fn check(&self, cluster: &Cluster) -> Result<(), String> {
        for (what, have, want) in [
            ("cluster name", self.cluster.as_str(), cluster.name.as_str()),
            (
                "API server endpoint",
                self.endpoint.trim_end_matches('/'),
                cluster.endpoint.as_str(),
            ),
            (
                "certificate authority",
                self.authority.trim(),
                cluster.certificate_authority.as_str(),
            ),
        ] {
            if have != want {
                return Err(format!("its {what} is {have:?}, the cluster's is {want:?}"));
            }
        }
        Ok(())
    }
}

/// Reads `value:Effect` or `Effect` of the taint `key`.
fn taint(key: &str, text: &str) -> Taint {
    let (value, effect) = text.rsplit_once(':').unwrap_or(("", text));
    Taint {
        key: key.to_owned(),
        value: value.to_owned(),
        effect: effect.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_decides_and_custom_images_are_looked_at() {
        assert!(read("AL2023", "").unwrap_err().contains("none"));
        assert!(
            read("Windows2022", "<powershell>")
                .unwrap_err()
                .contains("Windows2022")
        );
        let toml = "[settings.kubernetes]\ncluster-name = \"c\"\n";
        assert_eq!(read("Custom", toml).unwrap().cluster, "c");
    }

    #[test]
    fn a_wrong_cluster_is_named() {
        let cluster: Cluster = serde_json::from_value(serde_json::json!({
            "name": "c", "uid": "", "version": "", "endpoint": "https://127.0.0.1:1", "certificateAuthority": "Q0E=",
            "caCertificate": "", "clientCertificate": "", "clientKey": "", "oidcIssuer": "", "kubeconfig": "", "aws": {},
        }))
        .unwrap();
        let mut bootstrap = Bootstrap {
            cluster: "c".into(),
            endpoint: "https://127.0.0.1:1/".into(),
            authority: "Q0E=".into(),
            ..Bootstrap::default()
        };
        assert_eq!(bootstrap.check(&cluster), Ok(()));
        bootstrap.endpoint = "https://127.0.0.1:2".into();
        assert!(bootstrap.check(&cluster).unwrap_err().contains("endpoint"));
    }
}
