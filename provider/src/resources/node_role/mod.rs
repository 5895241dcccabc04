//! `joiner_node_role`.

mod access;
mod apply;
mod documents;
mod import;
#[cfg(test)]
mod life;
mod managed;
mod plan;
mod profile;
mod read;
mod schema;
mod validate;

use super::by_files::by_files;
use crate::roles::RoleIdentity;
pub(crate) use schema::NodeRole;
use std::convert::identity as unchanged;

/// The tag that tells our roles, profiles and access entries from others; its value is the cluster's name.
const OWNER_TAG: &str = "joiner.dev/node-role";

/// The resource `joiner_node_role`.
pub(crate) struct NodeRoleResource;

by_files!(NodeRoleResource is "joiner_node_role": NodeRole, RoleIdentity, schema unchanged, stored read::stored);
