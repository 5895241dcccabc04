//! With which arguments each program of the control plane runs. Pure.
//!
//! Tuned for a machine of two cores: no leader election, no request limits (a burst of pods must not wait in the
//! sandbox), no fsync (the state lives no longer than the sandbox), no ports that nobody reads.

use std::path::{Path, PathBuf};

use crate::layout::ClusterLayout;

use super::{API_AUDIENCE, SERVICE_RANGE, pki};

/// The ports of one cluster, all on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) etcd_peer: u16,
    pub(crate) api: u16,
    pub(crate) kubelet: u16,
}

impl Ports {
    /// The API server's URL, which is the issuer of service account tokens as well.
    pub(crate) fn endpoint(self) -> String {
        format!("https://127.0.0.1:{}", self.api)
    }
}

/// Requests a second that clients may make; far above what they need.
const RATE: &str = "--kube-api-qps=5000";
const BURST: &str = "--kube-api-burst=10000";

/// Controllers that have nothing to do here: no cloud volumes, no traffic to services, no certificate requests.
const IDLE_CONTROLLERS: [&str; 12] = [
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "certificatesigningrequest-signing-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-expander-controller",
    "node-ipam-controller",
    "horizontal-pod-autoscaler-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "ttl-controller",
];

/// etcd's arguments.
pub(crate) fn etcd(layout: &ClusterLayout, ports: Ports) -> Vec<String> {
    let client = format!("http://127.0.0.1:{}", ports.etcd);
    let peer = format!("http://127.0.0.1:{}", ports.etcd_peer);
    vec![
        format!("--data-dir={}", layout.dir().join("etcd").display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        // A single member elects itself after the timeout; the default of one second is a third of the whole start.
        "--heartbeat-interval=10".into(),
        "--election-timeout=100".into(),
        "--unsafe-no-fsync".into(),
        "--quota-backend-bytes=4294967296".into(),
        "--log-level=warn".into(),
    ]
}

/// kube-apiserver's arguments.
pub(crate) fn api_server(layout: &ClusterLayout, ports: Ports, webhook: &Path) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", layout.pki(name).display());
    let endpoint = ports.endpoint();
    vec![
        "--bind-address=127.0.0.1".into(),
        format!("--secure-port={}", ports.api),
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
        file("tls-cert-file", "apiserver.crt"),
        file("tls-private-key-file", "apiserver.key"),
        file("client-ca-file", "ca.crt"),
        format!("--service-account-issuer={endpoint}"),
        format!("--service-account-jwks-uri={endpoint}/openid/v1/jwks"),
        file("service-account-key-file", "service-account.key"),
        file("service-account-signing-key-file", "service-account.key"),
        "--service-account-extend-token-expiration=false".into(),
        format!("--api-audiences={API_AUDIENCE}"),
        "--authorization-mode=RBAC".into(),
        format!("--authentication-token-webhook-config-file={}", webhook.display()),
        "--authentication-token-webhook-version=v1".into(),
        "--authentication-token-webhook-cache-ttl=30s".into(),
        file("kubelet-certificate-authority", "ca.crt"),
        file(
            "kubelet-client-certificate",
            &format!("{}.crt", pki::KUBELET_CLIENT.file),
        ),
        file("kubelet-client-key", &format!("{}.key", pki::KUBELET_CLIENT.file)),
        "--kubelet-preferred-address-types=InternalIP".into(),
        format!("--service-cluster-ip-range={SERVICE_RANGE}"),
        "--allow-privileged=true".into(),
        "--endpoint-reconciler-type=none".into(),
        "--enable-priority-and-fairness=false".into(),
        "--max-requests-inflight=0".into(),
        "--max-mutating-requests-inflight=0".into(),
        "--profiling=false".into(),
    ]
}

/// kube-controller-manager's arguments.
pub(crate) fn controller_manager(layout: &ClusterLayout) -> Vec<String> {
    let controllers: Vec<String> = IDLE_CONTROLLERS.iter().map(|name| format!("-{name}")).collect();
    vec![
        format!(
            "--kubeconfig={}",
            kubeconfig(layout, pki::CONTROLLER_MANAGER).display()
        ),
        format!(
            "--service-account-private-key-file={}",
            layout.pki("service-account.key").display()
        ),
        format!("--root-ca-file={}", layout.pki("ca.crt").display()),
        format!("--controllers=*,{}", controllers.join(",")),
        "--use-service-account-credentials=false".into(),
        "--leader-elect=false".into(),
        "--secure-port=0".into(),
        "--concurrent-deployment-syncs=10".into(),
        "--concurrent-replicaset-syncs=20".into(),
        "--profiling=false".into(),
        RATE.into(),
        BURST.into(),
    ]
}

/// kube-scheduler's arguments.
pub(crate) fn scheduler(layout: &ClusterLayout) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig(layout, pki::SCHEDULER).display()),
        "--leader-elect=false".into(),
        "--secure-port=0".into(),
        "--profiling=false".into(),
        RATE.into(),
        BURST.into(),
    ]
}

/// kwok's arguments; `config` holds its options and stages.
pub(crate) fn kwok(layout: &ClusterLayout, config: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig(layout, pki::KWOK).display()),
        format!("--config={}", config.display()),
        format!("--manage-nodes-with-annotation-selector={FAKE_NODE_KEY}={FAKE_NODE_VALUE}"),
        // Pods on simulated nodes get addresses from the range that EKS suggests beside a VPC's own.
        "--cidr=100.64.0.0/10".into(),
        "--node-lease-duration-seconds=40".into(),
    ]
}

/// The annotation of a node that kwok manages.
pub(crate) const FAKE_NODE_KEY: &str = "kwok.x-k8s.io/node";
/// Its value.
pub(crate) const FAKE_NODE_VALUE: &str = "fake";

/// The kubeconfig of one of the control plane's programs.
pub(crate) fn kubeconfig(layout: &ClusterLayout, identity: pki::Identity) -> PathBuf {
    layout.pki(&format!("{}.kubeconfig", identity.file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    #[test]
    fn everything_listens_on_loopback_only() {
        let layout = Layout::new("/s").cluster("c");
        let ports = Ports {
            etcd: 1,
            etcd_peer: 2,
            api: 3,
            kubelet: 4,
        };
        let all: Vec<String> = [
            etcd(&layout, ports),
            api_server(&layout, ports, Path::new("/w")),
            controller_manager(&layout),
            scheduler(&layout),
            kwok(&layout, Path::new("/k")),
        ]
        .concat();
        for flag in &all {
            assert!(!flag.contains("0.0.0.0"), "{flag}");
            if flag.contains("-urls=") || flag.contains("bind-address") {
                assert!(flag.contains("127.0.0.1"), "{flag}");
            }
        }
        assert!(all.contains(&"--authorization-mode=RBAC".to_owned()));
        assert!(all.contains(&"--service-account-issuer=https://127.0.0.1:3".to_owned()));
    }
}
