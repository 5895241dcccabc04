//! `joiner_pod_identity_role`.

mod apply;
mod association;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod schema;
mod validate;

use super::by_files::by_files;
use crate::roles::RoleIdentity;
pub(crate) use schema::PodIdentityRole;
use std::convert::identity as unchanged;

/// The tag that tells our roles and associations from others; its value names service account and cluster.
const OWNER_TAG: &str = "joiner.dev/pod-identity-role";

/// The resource `joiner_pod_identity_role`.
pub(crate) struct PodIdentityRoleResource;

by_files!(PodIdentityRoleResource is "joiner_pod_identity_role": PodIdentityRole, RoleIdentity, schema unchanged, stored read::stored);
