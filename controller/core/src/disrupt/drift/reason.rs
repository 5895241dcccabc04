//! By what a node has drifted.

use std::fmt;

use crate::conditions::{DRIFTED, Status, Wanted};
use crate::text::Text;

/// By what a node has drifted, in Karpenter's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Its pool's template has changed.
    NodePoolDrifted,
    /// Its labels do not satisfy its pool's requirements any more.
    RequirementsDrifted,
    /// Its instance type, or the way it was bought, is not on offer any more.
    InstanceTypeNotFound,
    /// A static field of its class has changed.
    NodeClassDrift,
    /// Its image is not the one that its class has for its instance type.
    AmiDrift,
    /// Its security groups are not those of its class.
    SecurityGroupDrift,
    /// Its subnet is none of its class's.
    SubnetDrift,
    /// Its capacity reservation is none of its class's.
    CapacityReservationDrift,
    /// Its placement group is not that of its class.
    PlacementGroupDrift,
}

impl Reason {
    /// The condition's reason.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::NodePoolDrifted => "NodePoolDrifted",
            Reason::RequirementsDrifted => "RequirementsDrifted",
            Reason::InstanceTypeNotFound => "InstanceTypeNotFound",
            Reason::NodeClassDrift => "NodeClassDrift",
            Reason::AmiDrift => "AMIDrift",
            Reason::SecurityGroupDrift => "SecurityGroupDrift",
            Reason::SubnetDrift => "SubnetDrift",
            Reason::CapacityReservationDrift => "CapacityReservationDrift",
            Reason::PlacementGroupDrift => "PlacementGroupDrift",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// That a node has drifted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// By what.
    pub reason: Reason,
    /// What was and what is, in words for a person.
    pub message: Text,
}

impl Drift {
    pub(super) fn new(reason: Reason, message: impl Into<Text>) -> Drift {
        Drift {
            reason,
            message: message.into(),
        }
    }

    /// The condition Drifted that says so.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            kind: DRIFTED,
            status: Status::True,
            reason: self.reason.as_str().into(),
            message: self.message.clone(),
        }
    }
}
