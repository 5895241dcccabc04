//! What the resources that make an IAM role share: attributes, checks, writing part by part, reading by meaning.
//!
//! Input: a [`RoleSpec`], made from a resource's attributes. Invariant: what others put on a role is neither changed nor taken away.

mod accounts;
mod attributes;
mod check;
mod cluster;
mod controller;
mod document;
mod identity;
mod import;
mod places;
mod read;
mod settle;
mod spec;
mod tags;
mod write;

pub(crate) use accounts::{Accounts, Party};
pub(crate) use attributes::{ControllerAttributes, RoleAttributes};
pub(crate) use check::{check_cluster_name, check_partition, check_role, check_tags};
pub(crate) use cluster::{Trusted, check_cluster};
pub(crate) use controller::{CONTROLLER_POLICY, Place, controller_policy, granted_region, planned_for};
pub(crate) use identity::{RoleIdentity, account, partition};
pub(crate) use import::{find, imported, warn_of_another};
pub(crate) use places::{Anchor, check_account, check_queue_region, check_region_at};
pub(crate) use read::{merge, present};
pub(crate) use settle::settled;
pub(crate) use spec::{RoleSpec, keep_words};
pub(crate) use tags::{OwnerTag, imported_tags, planned_tags, still_there, stored_tags, tags_all};
pub(crate) use write::{change, deletable, delete, make, unfinished};
