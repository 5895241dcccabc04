//! `joiner_irsa_role`.

mod apply;
mod documents;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod schema;
mod validate;

use super::by_files::by_files;
use crate::roles::RoleIdentity;
pub(crate) use schema::IrsaRole;
use std::convert::identity as unchanged;

/// The resource `joiner_irsa_role`.
pub(crate) struct IrsaRoleResource;

by_files!(IrsaRoleResource is "joiner_irsa_role": IrsaRole, RoleIdentity, schema unchanged, stored read::stored);
