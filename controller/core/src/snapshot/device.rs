//! Devices that pods claim dynamically, by structured parameters.

use std::collections::BTreeMap;

use crate::requirements::Requirements;
use crate::text::Text;

/// A device that a node has, or that nodes of an instance type will have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    /// The driver: `gpu.nvidia.com`.
    pub driver: Text,
    /// The driver's pool that it belongs to.
    pub pool: Text,
    /// Its name in the pool.
    pub name: Text,
    /// Its attributes, by qualified name.
    pub attributes: BTreeMap<Text, Attribute>,
    /// Its capacities, by qualified name.
    pub capacity: BTreeMap<Text, i64>,
    /// Whether a claim has it already.
    pub taken: bool,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribute {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(Text),
    /// A semantic version; compared as one.
    Version(Text),
}

/// A resource claim of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceClaim {
    /// The claim as `namespace/name`. Pods that name the same claim share its devices and so one node; empty where the
    /// claim is made from a template for this pod alone.
    pub name: Text,
    /// What it asks for; all must be had.
    pub requests: Vec<DeviceRequest>,
    /// Attributes that must be equal over all devices of the claim.
    pub same: Vec<Text>,
    /// Where the devices are that it has already: one of these must hold of the node. None while it has none.
    pub allocated: Option<Vec<Requirements>>,
}

/// One request of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceRequest {
    /// Its name.
    pub name: Text,
    /// The ways to meet it, the most wanted first; a plain request has one.
    pub alternatives: Vec<DeviceWish>,
}

/// One way to meet a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceWish {
    /// What each device must be; all must hold, those of the device class included.
    pub tests: Vec<DeviceTest>,
    /// How many devices; every one that passes where absent (`allocationMode: All`).
    pub count: Option<u32>,
}

/// A condition on a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceTest {
    /// `device.driver == driver`.
    Driver(Text),
    /// The attribute is one of the values.
    Is(Text, Vec<Attribute>),
    /// The attribute is none of the values, or is missing.
    IsNot(Text, Vec<Attribute>),
    /// The attribute, a number or a version, is at least the value.
    AtLeast(Text, Attribute),
    /// The attribute, a number or a version, is at most the value.
    AtMost(Text, Attribute),
    /// The capacity is at least so much.
    Capacity(Text, i64),
}
