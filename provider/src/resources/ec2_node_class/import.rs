//! Importing by name.

pub(super) use crate::objects::import;
