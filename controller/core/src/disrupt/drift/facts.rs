//! What nodes are compared with beside the snapshot: node classes as they are resolved, and the instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::requirements::Requirements;
use crate::snapshot::PoolHash;
use crate::text::{Labels, Text};

/// An EC2NodeClass as drift sees it. A list that is empty is not resolved, and nothing is compared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: Text,
    /// The hash of its static fields.
    pub hash: PoolHash,
    /// A short hash of each static field that is set, by the field's name: to say which have changed.
    pub fields: Labels,
    /// `status.amis`, best first.
    pub images: Vec<Image>,
    /// Ids of `status.subnets`.
    pub subnets: Vec<Text>,
    /// Ids of `status.securityGroups`.
    pub security_groups: Vec<Text>,
    /// Ids of `status.capacityReservations`.
    pub reservations: Vec<Text>,
    /// Id of its placement group, empty where it has none. None: not known, and not compared.
    pub placement_group: Option<Text>,
}

/// An image and the instance types that it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Such as `ami-0123`.
    pub id: Text,
    /// What an instance type must be.
    pub requirements: Requirements,
}

/// The instance behind a claim. What is absent is not known, and not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its image: `ami-...`.
    pub image: Option<Text>,
    /// Its subnet: `subnet-...`.
    pub subnet: Option<Text>,
    /// Its security groups: `sg-...`, in any order.
    pub security_groups: Option<Vec<Text>>,
    /// The capacity reservation that it runs in: `cr-...`.
    pub reservation: Option<Text>,
}

/// All that claims are compared with beside the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The classes, by name. A claim whose class is not here is not compared with it.
    pub classes: BTreeMap<Text, Arc<Class>>,
    /// The instances, by the name of their claim.
    pub machines: BTreeMap<Text, Machine>,
}
