//! `joiner_teardown`.

mod apply;
mod identity;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod schema;
mod successor;
mod validate;
mod watch;

use super::by_files::by_files;
use identity::TeardownIdentity;
pub(crate) use schema::Teardown;
use std::convert::identity as unchanged;

/// The resource `joiner_teardown`.
pub(crate) struct TeardownResource;

by_files!(TeardownResource is "joiner_teardown": Teardown, TeardownIdentity, schema unchanged);
