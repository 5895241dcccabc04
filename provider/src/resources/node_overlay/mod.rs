//! `joiner_node_overlay`.

mod apply;
mod import;
#[cfg(test)]
mod life;
mod plan;
mod read;
mod schema;
mod validate;

use super::by_files::by_files;
use crate::objects::{ObjectIdentity, moved, with_meaning};
pub(crate) use schema::NodeOverlay;

/// The resource `joiner_node_overlay`.
pub(crate) struct NodeOverlayResource;

by_files!(NodeOverlayResource is "joiner_node_overlay": NodeOverlay, ObjectIdentity, schema with_meaning, moved moved);
