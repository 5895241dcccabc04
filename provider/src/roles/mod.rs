//! What the resources that make an IAM role share: attributes, checks, writing part by part, reading by meaning.
//!
//! Input: a [`RoleSpec`], made from a resource's attributes. Invariant: what others put on a role is neither changed nor taken away.

mod accounts;
mod attributes;
mod check;
mod controller;
mod identity;
mod import;
mod read;
mod settle;
mod spec;
mod write;

pub(crate) use accounts::{Accounts, Party};
pub(crate) use attributes::{ControllerAttributes, RoleAttributes};
pub(crate) use check::{check_cluster_name, check_role, check_tags};
pub(crate) use controller::{CONTROLLER_POLICY, Place, controller_policy, planned_for};
pub(crate) use identity::{RoleIdentity, account, partition};
pub(crate) use import::{find, imported, imported_tags};
pub(crate) use read::{merge, present};
pub(crate) use settle::settled;
pub(crate) use spec::{RoleSpec, keep_words};
pub(crate) use write::{change, deletable, delete, make, unfinished};
