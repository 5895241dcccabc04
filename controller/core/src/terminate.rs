//! How a node goes: no new pods, pods out in order, volumes off, instance terminated, object released.

mod claim;
mod drain;
mod node;

pub use claim::{ClaimNext, ClaimStep, finalize_claim};
pub use drain::{Delete, Drain, Evict, Held, drain};
pub use node::{NodeNext, NodeStep, finalize_node};

/// Whether the instance behind a claim or node is there, as far as the cloud was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instance {
    /// Not asked.
    NotAsked,
    /// It is there, running or on its way out.
    Exists,
    /// The cloud says that there is none.
    Gone,
}
