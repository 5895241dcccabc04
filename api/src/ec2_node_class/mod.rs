//! EC2NodeClass (`karpenter.k8s.aws/v1`): what kind of EC2 instance is launched.

mod kubelet;
mod network;
mod selectors;
mod status;
mod storage;

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    kubelet::KubeletConfiguration,
    network::{
        ConnectionTracking, CpuOptions, InterfaceType, MetadataOptions, NetworkInterface, Switch, TokenState,
    },
    selectors::{
        AmiFamily, AmiSelectorTerm, CapacityReservationSelectorTerm, InstanceMatchCriteria,
        PlacementGroupSelector, SecurityGroupSelectorTerm, SubnetSelectorTerm,
    },
    status::{
        Ami, CapacityReservation, CapacityReservationState, CapacityReservationType, EC2NodeClassStatus,
        SecurityGroup, Subnet,
    },
    storage::{BlockDevice, BlockDeviceMapping, InstanceStorePolicy, VolumeType},
};
use crate::schema;

/// What kind of EC2 instance is launched.
#[expect(
    clippy::duplicated_attributes,
    reason = "each column of `kubectl get` is an attribute of its own"
)]
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.k8s.aws",
    version = "v1",
    kind = "EC2NodeClass",
    plural = "ec2nodeclasses",
    status = "EC2NodeClassStatus",
    derive = "PartialEq",
    shortname = "ec2nc",
    shortname = "ec2ncs",
    category = "karpenter",
    doc = "The AWS side of a node: network, image, identity and disks.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Role", type_ = "string", json_path = ".spec.role", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = selectors::class_rules()))]
pub struct EC2NodeClassSpec {
    /// How user data is made and which defaults apply. Needed unless an alias among the image terms says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ami_family: Option<AmiFamily>,
    /// Which images may be used; an image that matches any term is a candidate.
    #[schemars(length(min = 1, max = 30), extend("x-kubernetes-validations" = selectors::ami_rules()))]
    pub ami_selector_terms: Vec<AmiSelectorTerm>,
    /// Whether instances get a public IP address; without it the subnet decides.
    #[serde(
        default,
        rename = "associatePublicIPAddress",
        skip_serializing_if = "Option::is_none"
    )]
    pub associate_public_ip_address: Option<bool>,
    /// The instances' disks; without any, the image family's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-validations" = schema::cel(&[(
        "self.filter(disk, has(disk.rootVolume) && disk.rootVolume).size() <= 1",
        "an instance has one root volume: set 'rootVolume' on one mapping only",
    )])))]
    pub block_device_mappings: Vec<BlockDeviceMapping>,
    /// Which capacity reservations may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 30), extend("x-kubernetes-validations" = selectors::reservation_rules()))]
    pub capacity_reservation_selector_terms: Vec<CapacityReservationSelectorTerm>,
    /// Idle timeouts after which the instances' tracked connections are forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_tracking: Option<ConnectionTracking>,
    /// Passed to EC2's CreateFleet as it is; reserved by AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Processor settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// Whether metrics come every minute (for a fee) instead of every five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_monitoring: Option<bool>,
    /// An existing instance profile; either this or role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[(
        "size(self) > 0",
        "must not be empty: name an instance profile, or remove it and set 'role'",
    )])))]
    pub instance_profile: Option<String>,
    /// What is made of the instances' local disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_store_policy: Option<InstanceStorePolicy>,
    /// How many IP address prefixes the first network interface gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ip_prefix_count: Option<i32>,
    /// Settings of the kubelet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<KubeletConfiguration>,
    /// How instances reach their metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = {
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 1,
        "httpTokens": "required"
    }))]
    pub metadata_options: Option<MetadataOptions>,
    /// The instances' network interfaces, instead of the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 150), extend("x-kubernetes-validations" = network::interface_rules()))]
    pub network_interfaces: Vec<NetworkInterface>,
    /// The placement group that instances are launched into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_group_selector: Option<PlacementGroupSelector>,
    /// The IAM role of the nodes, for which an instance profile is made; either this or instanceProfile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[(
        "size(self) > 0",
        "must not be empty: name an IAM role, or remove it and set 'instanceProfile'",
    )])))]
    pub role: Option<String>,
    /// Which security groups instances get; a group that matches any term is used.
    #[schemars(length(max = 30), extend("x-kubernetes-validations" = selectors::security_group_rules()))]
    pub security_group_selector_terms: Vec<SecurityGroupSelectorTerm>,
    /// Which subnets may be used; a subnet that matches any term is a candidate.
    #[schemars(length(max = 30), extend("x-kubernetes-validations" = selectors::subnet_rules()))]
    pub subnet_selector_terms: Vec<SubnetSelectorTerm>,
    /// Tags of the instances and all that is made with them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-kubernetes-validations" = selectors::tag_rules()))]
    pub tags: BTreeMap<String, String>,
    /// User data that is merged with what makes the instance join the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
}
