//! Reading the object.

pub(super) use crate::objects::read;
