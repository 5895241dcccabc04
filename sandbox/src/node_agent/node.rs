//! The Node that a booted machine registers. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, NodeAddress, NodeSpec, NodeStatus, NodeSystemInfo, Taint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ObjectMeta;

use super::capacity::{self, Machine, Network, Resources};
use super::feed::Instance;
use super::user_data::Bootstrap;
use crate::control_plane::flags::{FAKE_NODE_KEY, FAKE_NODE_VALUE};
use crate::tools::KUBERNETES_VERSION;

/// The volume that a launch template without devices gets, in GiB.
const DEFAULT_VOLUME: u64 = 20;

/// Builds the node of an instance.
pub(super) fn object(
    instance: &Instance,
    bootstrap: &Bootstrap,
    network: Option<Network>,
    region: &str,
) -> Node {
    let machine = Machine {
        vcpu: instance.vcpu,
        memory_mib: instance.memory_mib,
        volume_gib: instance.root_volume_gib.unwrap_or(DEFAULT_VOLUME),
        network,
    };
    let (capacity, allocatable) = capacity::report(machine, bootstrap);
    let address = |kind: &str, address: &str| NodeAddress {
        type_: kind.to_owned(),
        address: address.to_owned(),
    };
    let name = &instance.private_dns_name;
    Node {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            labels: Some(labels(instance, bootstrap, region)),
            annotations: Some(BTreeMap::from([(
                FAKE_NODE_KEY.to_owned(),
                FAKE_NODE_VALUE.to_owned(),
            )])),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec {
            provider_id: Some(format!("aws:///{}/{}", instance.zone, instance.id)),
            taints: Some(taints(bootstrap)),
            ..NodeSpec::default()
        }),
        status: Some(NodeStatus {
            capacity: Some(quantities(capacity)),
            allocatable: Some(quantities(allocatable)),
            addresses: Some(vec![
                address("InternalIP", &instance.private_ip),
                address("InternalDNS", name),
                address("Hostname", name),
            ]),
            node_info: Some(NodeSystemInfo {
                architecture: arch(instance).to_owned(),
                operating_system: "linux".to_owned(),
                kubelet_version: KUBERNETES_VERSION.to_owned(),
                container_runtime_version: "containerd://2.1.4".to_owned(),
                kernel_version: "6.12.0".to_owned(),
                os_image: instance.image_name.clone(),
                ..NodeSystemInfo::default()
            }),
            ..NodeStatus::default()
        }),
    }
}

fn labels(instance: &Instance, bootstrap: &Bootstrap, region: &str) -> BTreeMap<String, String> {
    let arch = arch(instance);
    let mut labels = bootstrap.labels.clone();
    for (key, value) in [
        ("kubernetes.io/arch", arch),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/hostname", &instance.private_dns_name),
        ("beta.kubernetes.io/arch", arch),
        ("beta.kubernetes.io/os", "linux"),
        ("beta.kubernetes.io/instance-type", &instance.type_),
        ("node.kubernetes.io/instance-type", &instance.type_),
        ("topology.kubernetes.io/region", region),
        ("topology.kubernetes.io/zone", &instance.zone),
        ("topology.k8s.aws/zone-id", &instance.zone_id),
        ("failure-domain.beta.kubernetes.io/region", region),
        ("failure-domain.beta.kubernetes.io/zone", &instance.zone),
    ] {
        labels.insert(key.to_owned(), value.to_owned());
    }
    labels
}

fn taints(bootstrap: &Bootstrap) -> Vec<Taint> {
    let taint = |taint: &super::user_data::Taint| Taint {
        key: taint.key.clone(),
        value: Some(taint.value.clone()).filter(|value| !value.is_empty()),
        effect: taint.effect.clone(),
        time_added: None,
    };
    bootstrap.taints.iter().map(taint).collect()
}

fn quantities(resources: Resources) -> BTreeMap<String, Quantity> {
    resources
        .into_iter()
        .map(|(name, text)| (name, Quantity(text)))
        .collect()
}

/// Kubernetes' name of the architecture.
fn arch(instance: &Instance) -> &'static str {
    if instance.arch == "arm64" {
        "arm64"
    } else {
        "amd64"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node_agent::user_data;

    #[test]
    fn a_node_has_what_its_machine_and_user_data_say() {
        let instance = Instance {
            id: "i-1".into(),
            type_: "m6g.large".into(),
            arch: "arm64".into(),
            zone: "us-west-2b".into(),
            zone_id: "usw2-az2".into(),
            private_ip: "10.0.1.5".into(),
            private_dns_name: "ip-10-0-1-5.us-west-2.compute.internal".into(),
            vcpu: 2,
            memory_mib: 8192,
            ..Instance::default()
        };
        let bootstrap = Bootstrap {
            labels: BTreeMap::from([("team".to_owned(), "a".to_owned())]),
            taints: vec![user_data::Taint {
                key: "k".into(),
                value: String::new(),
                effect: "NoExecute".into(),
            }],
            max_pods: Some(17),
            ..Bootstrap::default()
        };
        let node = object(&instance, &bootstrap, None, "us-west-2");
        let labels = node.metadata.labels.unwrap();
        for (key, want) in [
            ("team", "a"),
            ("kubernetes.io/arch", "arm64"),
            ("node.kubernetes.io/instance-type", "m6g.large"),
            ("topology.kubernetes.io/zone", "us-west-2b"),
            ("topology.k8s.aws/zone-id", "usw2-az2"),
        ] {
            assert_eq!(labels[key], want, "{key}");
        }
        let spec = node.spec.unwrap();
        assert_eq!(spec.provider_id.as_deref(), Some("aws:///us-west-2b/i-1"));
        assert_eq!(spec.taints.unwrap()[0].value, None);
        assert_eq!(node.status.unwrap().capacity.unwrap()["pods"].0, "17");
    }
}
