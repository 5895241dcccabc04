//! The Kubernetes types of Joiner: NodePool, NodeClaim, NodeOverlay and EC2NodeClass, as Karpenter 1.14.3
//! serves them, with the rules that make them valid.
//!
//! These are the only serialised types at the cluster's boundary. Nothing here reads a clock, a file or the
//! network.
#![warn(missing_docs)]

pub mod conditions;
mod crds;
mod duration;
mod ec2_node_class;
pub mod hash;
pub mod labels;
mod node_claim;
mod node_overlay;
mod node_pool;
mod quantity;
mod requirement;
pub mod rules;
mod schema;

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

pub use self::{
    crds::crds,
    duration::{DurationError, GoDuration, NEVER, NillableDuration},
    ec2_node_class::{
        Ami, AmiFamily, AmiSelectorTerm, BlockDevice, BlockDeviceMapping, CapacityReservation,
        CapacityReservationSelectorTerm, CapacityReservationState, CapacityReservationType,
        ConnectionTracking, CpuOptions, EC2NodeClass, EC2NodeClassSpec, EC2NodeClassStatus,
        InstanceMatchCriteria, InstanceStorePolicy, InterfaceType, KubeletConfiguration, MetadataOptions,
        NetworkInterface, PlacementGroupSelector, SecurityGroup, SecurityGroupSelectorTerm, Subnet,
        SubnetSelectorTerm, Switch, TokenState, VolumeType,
    },
    node_claim::{NodeClaim, NodeClaimSpec, NodeClaimStatus, ResourceRequests},
    node_overlay::{NodeOverlay, NodeOverlaySpec, NodeOverlayStatus},
    node_pool::{
        Budget, ConsolidationPolicy, Disruption, DisruptionReason, NodeClaimTemplate, NodeClaimTemplateSpec,
        NodePool, NodePoolSpec, NodePoolStatus, TemplateMetadata,
    },
    quantity::{Format, Quantity, QuantityError},
    requirement::{NodeClassRef, Operator, Requirement, SelectorRequirement, Taint, TaintEffect},
};
