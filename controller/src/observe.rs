//! What the cluster looks like: watches fill one synchronous index, and the index gives snapshots.
//!
//! Invariants: nothing here writes to the cluster or the cloud; nobody awaits while holding the index; only what decisions
//! and commands need is kept of an object ([`map`] and the entries below), since what is kept is what the process weighs.

mod changes;
mod entry;
mod index;
mod nominations;
mod store;
mod wanted;
mod watch;

pub(crate) use changes::Bell;
pub(crate) use entry::{ClaimEntry, NodeEntry, OverlayEntry, PodEntry, PoolEntry, version};
pub(crate) use index::{BufferEntry, Index, Seen};
/// Objects of the API as decisions see them.
pub(crate) use joiner_map as map;
pub(crate) use wanted::Wanted;
pub(crate) use watch::start;
