//! Which pods go where: on nodes that are there, on claims that are on their way, or on claims to make.
//!
//! The path in module names: `problem` (the question in numbers: pods that are alike are one class, labels are sets of
//! atoms, rules between pods are groups) -> `state` (an answer in the making: what a place takes, what is counted, what
//! limits leave) -> `first_fit` (the first answer, as Karpenter finds it) -> `price` (a cheaper one: what pods are worth by
//! the dual of a linear relaxation, nodes chosen by the worth of their load, the wasteful ones packed anew) -> `build`
//! (claims by name) and `why` (reasons for those left). `bound` says what no answer can be below.

mod atoms;
mod bound;
mod build;
mod desk;
mod devices;
mod first_fit;
mod fixed;
mod flexibility;
mod misfit;
mod outcome;
mod price;
mod problem;
mod refuse;
mod reorder;
mod sets;
mod solve;
mod state;
mod why;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::snapshot::{Pod, Snapshot};
use crate::text::Text;

pub use fixed::{Lack, lacks};
pub(crate) use flexibility::keep;
pub use misfit::{Misfit, Nearest, Refusal, SharedRefusal};
pub use outcome::{NewClaim, Schedule};
pub(crate) use refuse::refuse_types;
pub(crate) use solve::existing_price;

/// The most instance types a claim may list.
pub const MAX_TYPES: usize = 600;

/// Decides on every pending pod of `snapshot` that needs a node, and on the pods of nodes that go.
///
/// What must hold afterwards is what [`crate::check::schedule`] checks.
pub fn schedule(snapshot: &Snapshot, catalogue: &Catalogue, now: Timestamp) -> Schedule {
    schedule_with(snapshot, catalogue, now, &|| false)
}

/// Why each pool, in the order in which they are asked, could buy no node for `pod` if it were alone; no reason where it
/// could.
pub(crate) fn by_pool(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    pod: &Pod,
    now: Timestamp,
) -> Vec<(Text, Option<Misfit>)> {
    solve::by_pool(snapshot, catalogue, pod, now)
}

/// As [`schedule`], and the search for a cheaper answer ends early once `stop` says so; the answer is then the best that
/// was found. Without an early end it depends on nothing but the first three arguments.
pub fn schedule_with(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    now: Timestamp,
    stop: &dyn Fn() -> bool,
) -> Schedule {
    solve::solve(snapshot, catalogue, now, stop)
}
