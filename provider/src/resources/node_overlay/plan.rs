//! Planning a NodeOverlay.

pub(super) use crate::objects::plan;
