//! Which pods go where: on nodes that are there, on claims that are on their way, or on claims to make.
//!
//! Pods that are alike are one shape and are decided on together, so that a burst of ten thousand costs little more
//! than a handful. For each shape in turn, the important and the large first:
//! 1. places that are there take what fits: complete nodes first, then those on their way;
//! 2. claims opened earlier in the round take what fits in the room left;
//! 3. the heaviest pool that can serves the rest: of all its types the one that costs least for what it would carry is
//!    filled, with this shape and with smaller ones that would go to that pool too, as often as there are pods for it.
//!    The claim lists every type that could carry the same load.

mod build;
mod flexibility;
mod misfit;
mod offer;
mod opened;
mod outcome;
mod pack;
mod place;
mod refuse;
mod shape;
mod solve;
mod topology;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::snapshot::Snapshot;

pub(crate) use flexibility::keep;
pub use misfit::{Misfit, Nearest, Refusal, SharedRefusal};
pub use outcome::{NewClaim, Schedule};
pub(crate) use refuse::refuse_types;

/// The most instance types a claim may list.
pub const MAX_TYPES: usize = 600;

/// Decides on every pending pod of `snapshot` that needs a node, and on the pods of nodes that go.
///
/// What must hold afterwards is what [`crate::check::schedule`] checks.
pub fn schedule(snapshot: &Snapshot, catalogue: &Catalogue, now: Timestamp) -> Schedule {
    solve::solve(snapshot, catalogue, now)
}
