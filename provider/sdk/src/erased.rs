//! Resources, data sources and ephemeral resources without their types: what a server keeps in its tables.

mod data_source;
mod ephemeral;
mod patch;
mod resource;

pub(crate) use data_source::{AnyDataSource, erase_data_source};
pub(crate) use ephemeral::{AnyEphemeral, erase_ephemeral};
pub(crate) use resource::{AnyResource, PlanInput, RawApply, RawState, erase_resource};
