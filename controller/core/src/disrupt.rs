//! Which nodes are not worth their price or not what they should be any more, and how many may go at once.

mod budget;
mod candidate;
mod consolidatable;
pub mod drift;
mod emptiness;
mod expiration;
pub mod forecast;

use jiff::Timestamp;

use crate::snapshot::DisruptionReason;
use crate::text::Text;

pub use budget::{
    Allowance, Coverage, InvalidSchedule, allowances, check_schedule, coverage, coverage_together,
};
pub use candidate::{Blocked, Blocker};
pub use consolidatable::{Consolidatable, consolidatable};
pub use emptiness::{Emptiness, emptiness, still_empty};
pub use expiration::{Expiration, expiration};

/// Nodes to give back for one reason: taint them, look again whether it still holds, then delete their claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Why.
    pub reason: DisruptionReason,
    /// Which, by pool and name.
    pub nodes: Vec<Doomed>,
}

/// A node to give back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doomed {
    /// Its pool.
    pub pool: Text,
    /// Its claim.
    pub claim: Text,
    /// The node.
    pub node: Text,
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().min()
}
