//! What NodePools and EC2NodeClasses have in common as resources: a typed model that becomes a Kubernetes object and back.
//!
//! Input: a model of a [`Custom`] kind. Output: plans, states and diagnostics. Invariants: a plan needs no cluster; a value that
//! means the same keeps its spelling; nothing is overwritten that another field manager owns unless the user says so.

#[cfg(test)]
mod adoption;
mod apply;
mod blockers;
mod check;
#[cfg(test)]
mod coverage;
mod custom;
mod delete;
mod dry_run;
mod foresee;
mod identity;
mod import;
#[cfg(test)]
mod life;
mod live;
mod manifest;
mod meaning;
mod moved;
mod plan;
mod read;
mod respell;
mod schema;
mod served;
#[cfg(test)]
mod tests;
mod wording;

pub(crate) use apply::{create, update};
pub(crate) use blockers::blockers;
pub(crate) use check::check;
pub(crate) use custom::{Common, Custom, object_of};
#[cfg(test)]
pub(crate) use custom::{Limits, Wait};
pub(crate) use delete::delete;
pub(crate) use foresee::{Foreseen, told};
pub(crate) use identity::ObjectIdentity;
pub(crate) use import::import;
pub(crate) use live::{node_claims, surroundings};
pub(crate) use manifest::from_manifest;
pub(crate) use moved::moved;
pub(crate) use plan::plan;
pub(crate) use read::{read, without_nulls};
pub(crate) use schema::with_meaning;
