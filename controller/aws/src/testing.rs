//! Values that unit tests start from.

use crate::node_class::{Image, Metadata, NodeClass, Subnet};
use joiner_api::{AmiFamily, KubeletConfiguration, Switch, TokenState};
use joiner_core::requirements::{Requirement, Requirements};

/// An AL2023 class with subnets in two zones and an image for each architecture.
pub(crate) fn node_class() -> NodeClass {
    let subnet = |id: &str, zone: &str, zone_id: &str| Subnet {
        id: id.to_owned(),
        zone: zone.to_owned(),
        zone_id: zone_id.to_owned(),
    };
    let image = |id: &str, arch: &str| Image {
        id: id.to_owned(),
        name: format!("amazon-eks-node-al2023-{arch}"),
        requirements: Requirements::from_iter([Requirement::is("kubernetes.io/arch", arch)]),
    };
    NodeClass {
        name: "default".to_owned(),
        uid: "5e9c4cd0-0000-0000-0000-000000000001".to_owned(),
        family: AmiFamily::AL2023,
        alias_version: "latest".to_owned(),
        subnets: vec![
            subnet("subnet-a", "us-west-2a", "usw2-az2"),
            subnet("subnet-b1", "us-west-2b", "usw2-az1"),
            subnet("subnet-b2", "us-west-2b", "usw2-az1"),
        ],
        security_groups: vec!["sg-1".to_owned()],
        images: vec![image("ami-amd64", "amd64"), image("ami-arm64", "arm64")],
        instance_profile: "dev_1234".to_owned(),
        block_devices: Vec::new(),
        instance_store: None,
        kubelet: KubeletConfiguration::default(),
        metadata: Metadata {
            endpoint: Switch::Enabled,
            ipv6: Switch::Disabled,
            hop_limit: 1,
            tokens: TokenState::Required,
        },
        network_interfaces: Vec::new(),
        connection_tracking: None,
        nested_virtualization: None,
        detailed_monitoring: false,
        public_ip: None,
        ip_prefixes: None,
        user_data: None,
        tags: [("team".to_owned(), "a".to_owned())].into(),
        context: None,
        reservations: Vec::new(),
        placement_group: None,
    }
}
