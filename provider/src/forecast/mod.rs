//! What a planned change does to nodes that run, told before it is made.
//!
//! Input: a planned pool or class, and the cluster as it is. Output: warnings, and the attributes `forecast` and `nodes_drifted`. The
//! path in module names: `subject` (what changes) -> `world` (the cluster, read once) -> `picture` (with the change made; `lists`,
//! `types`, `resolve` and `merge` help) -> `ask` (the controller's own decisions, in `joiner_core::disrupt::forecast`) -> `words` and
//! `attribute`. `claims` counts at a refresh, `coming` keeps the pools that the same plan makes, and `controller` tells by which settings the
//! controller decides.
//!
//! Invariants: nothing is asked unless a change touches what nodes are made from; a forecast that cannot be had is a warning and never
//! fails a plan; an attribute is planned as known only where the apply must come to the same.

mod ask;
mod attribute;
mod claims;
mod coming;
mod controller;
mod lists;
mod merge;
mod picture;
mod plan;
mod resolve;
mod subject;
#[cfg(test)]
mod tests;
mod trouble;
mod types;
mod words;
mod world;

pub(crate) use attribute::Outlook;
pub(crate) use claims::{Seen, kept, refresh};
pub(crate) use coming::Coming;
pub(crate) use controller::Environment;
pub(crate) use plan::{plan, plan_destroy};
pub(crate) use subject::Subject;
pub(crate) use trouble::Trouble;
pub(crate) use world::World;
