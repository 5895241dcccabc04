//! Creating, changing and deleting the object.

pub(super) use crate::objects::{create, delete, update};
