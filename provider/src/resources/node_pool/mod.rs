//! `joiner_node_pool`.

mod apply;
mod class;
mod defaults;
mod import;
mod plan;
mod quotas;
mod read;
mod reservations;
mod schema;
mod validate;
mod zones;

use super::by_files::by_files;
use crate::forecast::plan_destroy;
use crate::objects::{ObjectIdentity, moved, with_meaning};
pub(crate) use quotas::Demands;
pub(crate) use schema::NodePool;

/// The resource `joiner_node_pool`.
pub(crate) struct NodePoolResource;

by_files!(NodePoolResource is "joiner_node_pool": NodePool, ObjectIdentity, schema with_meaning, moved moved, destroy plan_destroy);
