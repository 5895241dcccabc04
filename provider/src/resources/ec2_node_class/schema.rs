//! The attributes of `joiner_ec2_node_class`: those of an EC2NodeClass' spec, one to one, and what the resource itself needs.

use super::devices::BlockDeviceMapping;
use super::kubelet::{self, Kubelet};
use super::selectors::{
    AmiTerm, CapacityReservationTerm, PlacementGroupSelector, SecurityGroupTerm, SubnetTerm,
};
use crate::cluster::Kind;
use crate::forecast::{Outlook, Subject};
use crate::objects::{Common, Custom, with_meaning};
use joiner_api::{labels, rules};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::{Field, Model, Schema};

/// An EC2NodeClass (`karpenter.k8s.aws/v1`): how the controller starts instances in the AWS account.
///
/// The plan needs neither cluster nor account: the API's schema is compiled in and every rule of it is checked with the
/// attribute's path. A destroy waits until no node of the class is left and the controller has cleaned up its instance profile; so
/// the controller's release and role must outlive the class (refer to them, or use `depends_on`).
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Ec2NodeClass {
    #[tf(flatten)]
    pub common: Common,
    #[tf(flatten)]
    pub outlook: Outlook,
    /// Subnets that instances may start in: those that match any of the terms, 1 to 30.
    #[tf(required)]
    pub subnet_selector_terms: Field<Vec<SubnetTerm>>,
    /// Security groups of the instances: all that match any of the terms, 1 to 30.
    #[tf(required)]
    pub security_group_selector_terms: Field<Vec<SecurityGroupTerm>>,
    /// Images that instances may start from: those that match any of the terms, 1 to 30. An `alias` stands alone.
    #[tf(required)]
    pub ami_selector_terms: Field<Vec<AmiTerm>>,
    /// Capacity reservations that may be used: those that match any of the terms.
    pub capacity_reservation_selector_terms: Field<Vec<CapacityReservationTerm>>,
    /// The placement group that instances start in.
    pub placement_group_selector: Field<PlacementGroupSelector>,
    /// Form of the user data and default block devices: `AL2`, `AL2023`, `Bottlerocket`, `Windows2019`, `Windows2022`, `Windows2025`
    /// or `Custom`. Required without an `alias`; with one it is the alias' family or `Custom`.
    pub ami_family: Field<String>,
    /// User data in the form of the AMI family; the controller merges what nodes need to join.
    pub user_data: Field<String>,
    /// Name of the IAM role of the nodes; the controller makes an instance profile for it. Exactly one of `role` and
    /// `instance_profile` is required.
    pub role: Field<String>,
    /// Name of an existing instance profile of the nodes. Exactly one of `role` and `instance_profile` is required.
    pub instance_profile: Field<String>,
    /// Tags of instances, volumes, network interfaces and launch templates.
    pub tags: Field<BTreeMap<String, String>>,
    /// Settings of the nodes' kubelet.
    pub kubelet: Field<Kubelet>,
    /// Volumes of the instances, at most 50; at most one is the root volume.
    pub block_device_mappings: Field<Vec<BlockDeviceMapping>>,
    /// What is done with the instances' own disks: `RAID0` makes one array of them for pods.
    pub instance_store_policy: Field<String>,
    /// Network interfaces of the instances; one must be the primary one (device 0 of card 0, type `interface`).
    pub network_interfaces: Field<Vec<NetworkInterface>>,
    /// Whether instances get a public IP address; the subnet decides when left out.
    #[tf(json = "associatePublicIPAddress")]
    pub associate_public_ip_address: Field<bool>,
    /// How many IPv4 prefixes the primary network interface gets.
    pub ip_prefix_count: Field<i64>,
    /// Whether CloudWatch watches instances each minute.
    pub detailed_monitoring: Field<bool>,
    /// How instances offer their metadata.
    #[tf(default = super::defaults::metadata_options())]
    pub metadata_options: Field<MetadataOptions>,
    /// How long idle connections are tracked.
    pub connection_tracking: Field<ConnectionTracking>,
    /// Settings of the instances' processors.
    pub cpu_options: Field<CpuOptions>,
    /// The reserved field `Context` of EC2's CreateFleet.
    pub context: Field<String>,
}

/// A network interface of an instance.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct NetworkInterface {
    /// Index of the network card, from 0.
    #[tf(required)]
    pub network_card_index: Field<i64>,
    /// Index of the device on it, from 0.
    #[tf(required)]
    pub device_index: Field<i64>,
    /// `interface` or `efa-only`.
    #[tf(required)]
    pub interface_type: Field<String>,
}

/// How instances offer their metadata.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct MetadataOptions {
    /// Whether there is an endpoint at all: `enabled` or `disabled`.
    #[tf(default = "enabled")]
    pub http_endpoint: Field<String>,
    /// Whether it has an IPv6 address: `enabled` or `disabled`.
    #[tf(json = "httpProtocolIPv6", default = "disabled")]
    pub http_protocol_ipv6: Field<String>,
    /// How many hops an answer may travel, 1 to 64: 1 keeps it from pods without host network.
    #[tf(default = 1)]
    pub http_put_response_hop_limit: Field<i64>,
    /// Whether a session token is needed (IMDSv2): `required` or `optional`.
    #[tf(default = "required")]
    pub http_tokens: Field<String>,
}

/// How long idle connections are tracked; at least one of the three.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ConnectionTracking {
    /// Seconds for established TCP connections, 60 to 432000.
    pub tcp_established_timeout: Field<i64>,
    /// Seconds for UDP flows with more than one request and answer, 60 to 180.
    pub udp_stream_timeout: Field<i64>,
    /// Seconds for other UDP flows, 30 to 60.
    pub udp_timeout: Field<i64>,
}

/// Settings of the instances' processors.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct CpuOptions {
    /// Whether instances can run virtual machines: `enabled` or `disabled`. Enabled, only types that can are used.
    pub nested_virtualization: Field<String>,
}

/// The schema with what a change of the name means for nodes.
pub(super) fn told(schema: Schema) -> Schema {
    let mut schema = with_meaning(schema);
    let names = schema
        .attributes
        .iter_mut()
        .filter(|attribute| attribute.name == "name");
    names.for_each(|name| {
        name.description.push_str(
            " With nodes of the class that takes `lifecycle { create_before_destroy = true }` here and node pools that refer to this \
             attribute: the old class is destroyed first otherwise, and waits for nodes that leave it only when their pool has changed.",
        );
    });
    schema
}

impl Custom for Ec2NodeClass {
    type Object = joiner_api::EC2NodeClass;

    const RULES: rules::Kind = rules::Kind::EC2NodeClass;

    const NODES: Option<Subject> = Some(Subject::Class);

    fn outlook(&self) -> Option<&Outlook> {
        Some(&self.outlook)
    }

    fn outlook_mut(&mut self) -> Option<&mut Outlook> {
        Some(&mut self.outlook)
    }

    fn kind() -> Kind {
        Kind::new("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses")
    }

    fn claims(name: &str) -> Option<String> {
        Some(format!("{}={name}", labels::EC2_NODE_CLASS))
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn to_spec(json: Json) -> Json {
        kubelet::to_spec(json)
    }

    fn from_spec(spec: Json) -> Json {
        kubelet::from_spec(spec)
    }
}
