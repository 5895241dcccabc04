//! Planning an EC2NodeClass.

pub(super) use crate::objects::plan;
