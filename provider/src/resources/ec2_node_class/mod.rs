//! `joiner_ec2_node_class`.

mod account;
mod apply;
mod defaults;
mod devices;
mod import;
mod kubelet;
mod plan;
mod read;
mod renamed;
mod reserved;
mod schema;
mod selectors;
mod validate;

use super::by_files::by_files;
use crate::objects::{ObjectIdentity, moved};
#[cfg(test)]
pub(crate) use reserved::tests::reservation;
pub(crate) use schema::Ec2NodeClass;

/// The resource `joiner_ec2_node_class`.
pub(crate) struct Ec2NodeClassResource;

by_files!(Ec2NodeClassResource is "joiner_ec2_node_class": Ec2NodeClass, ObjectIdentity, schema schema::told, moved moved);
