//! `joiner_helm_release`.

mod account;
mod apply;
mod documents;
mod identity;
mod import;
#[cfg(test)]
mod life;
mod moved;
mod plan;
mod read;
mod refusal;
mod schema;
mod settings;
mod steps;
mod trial;
mod uninstall;
mod validate;

use super::by_files::by_files;
use identity::ReleaseIdentity;
pub(crate) use schema::HelmRelease;
use std::convert::identity as unchanged;

/// The resource `joiner_helm_release`.
pub(crate) struct HelmReleaseResource;

by_files!(HelmReleaseResource is "joiner_helm_release": HelmRelease, ReleaseIdentity, schema unchanged, moved moved::moved, count validate::count);
