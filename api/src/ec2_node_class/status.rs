//! What is known about an EC2NodeClass.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InstanceMatchCriteria;
use crate::{requirement::SelectorRequirement, schema};

/// What is known about an EC2NodeClass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EC2NodeClassStatus {
    /// The images that the image terms found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amis: Vec<Ami>,
    /// The capacity reservations that the reservation terms found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity_reservations: Vec<CapacityReservation>,
    /// Whether the class is valid and usable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::class_conditions")]
    pub conditions: Vec<Condition>,
    /// The instance profile of the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_profile: Option<String>,
    /// The security groups that the security group terms found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_groups: Vec<SecurityGroup>,
    /// The subnets that the subnet terms found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subnets: Vec<Subnet>,
}

/// A subnet that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Subnet {
    /// The subnet's id.
    pub id: String,
    /// The name of its zone, e.g. us-west-2a.
    pub zone: String,
    /// The id of its zone, e.g. usw2-az1.
    #[serde(default, rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
}

/// A security group that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroup {
    /// The group's id.
    pub id: String,
    /// The group's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An image that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ami {
    /// Whether the image's owner has marked it as deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The image's id.
    pub id: String,
    /// The image's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Which instance types the image runs on.
    #[schemars(schema_with = "schema::ami_requirements")]
    pub requirements: Vec<SelectorRequirement>,
}

/// A capacity reservation that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapacityReservation {
    /// The zone of the reserved capacity.
    pub availability_zone: String,
    /// When the reservation ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub end_time: Option<Time>,
    /// The reservation's id.
    #[schemars(regex(pattern = "^cr-[0-9a-z]+$"))]
    pub id: String,
    /// Which launches the reservation accepts.
    pub instance_match_criteria: InstanceMatchCriteria,
    /// The reserved instance type.
    pub instance_type: String,
    /// Whether AWS may take the capacity back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// The account that owns the reservation.
    #[serde(rename = "ownerID")]
    #[schemars(regex(pattern = "^[0-9]{12}$"))]
    pub owner_id: String,
    /// The kind of reservation.
    #[serde(default)]
    pub reservation_type: CapacityReservationType,
    /// Whether the reservation is about to end; only capacity blocks do.
    #[serde(default)]
    pub state: CapacityReservationState,
}

/// The kinds of capacity reservation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityReservationType {
    /// On-demand capacity.
    #[default]
    Default,
    /// A block of capacity for a set time.
    CapacityBlock,
}

/// Whether a capacity reservation is about to end.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityReservationState {
    /// It can be used.
    #[default]
    Active,
    /// It is about to be taken back.
    Expiring,
}
