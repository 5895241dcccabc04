//! `joiner_crds`.

mod apply;
mod definitions;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod schema;
mod validate;

use super::by_files::by_files;
use crate::objects::ObjectIdentity;
pub(crate) use schema::Crds;
use std::convert::identity as unchanged;

/// The one name that the set of definitions has.
const ID: &str = "crds";

/// The resource `joiner_crds`.
pub(crate) struct CrdsResource;

by_files!(CrdsResource is "joiner_crds": Crds, ObjectIdentity, schema unchanged);
