//! Every decision of Joiner's controller, as pure functions of a snapshot.
//!
//! A pod's way to a node, in the order of the modules: [`snapshot`] (the cluster at one moment) -> [`foresee`] (which pods
//! are sure to come) -> [`batch`] (when to decide) -> [`schedule`] (which pods go where, which claims are opened) ->
//! [`launch`] (which offerings a claim tries) -> [`register`] (from instance to complete node) -> [`disrupt`] (which nodes
//! are not worth their price) -> [`terminate`] (how one goes). Beside it: [`explain`] (why not, in words), [`check`] (an
//! independent audit of a schedule), [`collect`] (instances without claims and the reverse), [`pools`], [`overlays`] and
//! [`buffers`] (their conditions), [`static_pools`] (nodes that no pod asks for).
//!
//! Input is what [`snapshot::Snapshot`] and [`catalogue::Catalogue`] hold and the time; output is plain data. No
//! function here reads a clock, the environment, a file or the network, none draws random numbers, and none knows
//! tokio, kube-rs or AWS.

pub mod batch;
pub mod buffers;
pub mod catalogue;
pub mod check;
pub mod collect;
pub mod conditions;
pub mod disrupt;
pub mod eviction;
pub mod explain;
pub mod foresee;
pub mod launch;
pub mod money;
pub mod overlays;
pub mod pools;
pub mod register;
pub mod requirements;
pub mod resources;
pub mod schedule;
pub mod snapshot;
pub mod static_pools;
pub mod taints;
pub mod terminate;
pub mod text;
pub mod well_known;
