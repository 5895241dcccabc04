//! What the end-to-end tests share: a sandbox of their own, the cores on this machine, and waiting with a reason.
//!
//! The tests use the binaries of `cargo build --workspace` (`JOINER_BINARIES` names another folder) and the tools that
//! `joiner sandbox tools` built.

mod cloud;
pub mod cluster;
mod cores;
mod waiting;

pub use cloud::Cloud;
pub use cores::{CoreKind, Workspace, cores};
pub use waiting::eventually;
