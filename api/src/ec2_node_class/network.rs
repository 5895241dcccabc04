//! Network and processor settings of an EC2NodeClass.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// `enabled` or `disabled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    Enabled,
    /// Off.
    Disabled,
}

impl Switch {
    /// The text in manifests and in EC2's API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether reading metadata needs a session token (IMDSv2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenState {
    /// Only with a token.
    Required,
    /// With or without.
    Optional,
}

impl TokenState {
    /// The text in manifests and in EC2's API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Optional => "optional",
        }
    }
}

impl fmt::Display for TokenState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How instances reach their metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether the metadata service answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "enabled"))]
    pub http_endpoint: Option<Switch>,
    /// Whether the metadata service answers over IPv6.
    #[serde(default, rename = "httpProtocolIPv6", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "disabled"))]
    pub http_protocol_ipv6: Option<Switch>,
    /// How many network hops an answer may take; 1 keeps it from pods on their own network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("default" = 1))]
    pub http_put_response_hop_limit: Option<i64>,
    /// Whether reading needs a session token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "required"))]
    pub http_tokens: Option<TokenState>,
}

/// Idle timeouts in seconds after which a tracked connection is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::cel(&[(
    "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",
    "no timeout is given: set 'tcpEstablishedTimeout', 'udpStreamTimeout' or 'udpTimeout', or remove the block",
)])))]
pub struct ConnectionTracking {
    /// Seconds for an established TCP connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 432000))]
    pub tcp_established_timeout: Option<i32>,
    /// Seconds for a UDP flow with more than one request and answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 180))]
    pub udp_stream_timeout: Option<i32>,
    /// Seconds for a UDP flow with traffic in one direction or one request and answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 60))]
    pub udp_timeout: Option<i32>,
}

/// Processor settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CpuOptions {
    /// Whether virtual machines can run on the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<Switch>,
}

/// A network interface of the instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// The interface's place on its network card.
    #[schemars(range(min = 0))]
    pub device_index: i32,
    /// What the interface is for.
    pub interface_type: InterfaceType,
    /// The network card.
    #[schemars(range(min = 0))]
    pub network_card_index: i32,
}

/// What a network interface is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceType {
    /// IP traffic.
    Interface,
    /// Elastic Fabric Adapter traffic alone.
    EfaOnly,
}

/// CEL rules of the network interfaces.
pub(super) fn interface_rules() -> Value {
    schema::cel(&[
        (
            "size(self) == 0 || self.exists(i, i.networkCardIndex == 0 && i.deviceIndex == 0 && i.interfaceType == 'interface')",
            "the primary interface is missing: add one with networkCardIndex 0, deviceIndex 0 and interfaceType interface",
        ),
        (
            "self.all(i, self.filter(j, j.networkCardIndex == i.networkCardIndex && j.deviceIndex == i.deviceIndex).size() == 1 && \
             (i.interfaceType != 'efa-only' || self.filter(j, j.networkCardIndex == i.networkCardIndex && j.interfaceType == 'efa-only').size() == 1))",
            "each pair of networkCardIndex and deviceIndex may occur once, and each network card may have one efa-only interface: remove the others",
        ),
    ])
}
