//! What the end-to-end tests share: a sandbox of their own, the cores on this machine, commands that are interrupted or killed
//! in the middle, and waiting with a reason.
//!
//! The tests use the binaries of `cargo build --workspace` (`JOINER_BINARIES` names another folder) and the tools that
//! `joiner sandbox tools` built.

pub mod chart;
mod cloud;
pub mod cluster;
pub mod configuration;
mod cores;
pub mod go_tests;
mod ground;
mod pause;
mod places;
pub mod processes;
mod quickstart;
pub mod tap;
mod texts;
pub mod upstream;
mod waiting;
mod watched;

pub use cloud::Cloud;
pub use cores::{CoreKind, Workspace, cores};
pub use ground::Ground;
pub use pause::Pause;
pub use quickstart::Quickstart;
pub use texts::{is_told, tells};
pub use waiting::eventually;
pub use watched::Watched;
