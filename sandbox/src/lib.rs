//! A whole cloud on one machine, from real parts: etcd, the Kubernetes control plane, kwok and an AWS emulator, with the
//! system nodes' kubelet and the node agent in between.
//!
//! For a user of this crate: [`up`] starts a sandbox (or finds the running one), [`Sandbox`] is the handle to it, [`Status`]
//! says how it is. [`tools::Tools`] builds what it runs. A binary that starts sandboxes calls [`intercept`] first thing in
//! `main`.
//!
//! Inside: [`up`] re-executes the binary as a supervisor (`supervisor`), which owns every process (`process`), brings up
//! clusters (`control_plane`), and runs the system nodes' kubelet (`kubelet`) and the node agent (`node_agent`).
//!
//! Invariants: everything listens on loopback; nothing outlives the supervisor; a process is signalled only when its start
//! time is the recorded one; the product's crates know nothing of this one.

mod aws;
mod control_plane;
mod duration;
mod embedded;
mod error;
mod handle;
mod http;
mod kubelet;
pub mod layout;
mod model;
mod node_agent;
mod ports;
pub mod process;
pub mod provider;
mod supervisor;
pub mod terraform;
pub mod tools;

use std::ffi::OsString;
use std::process::ExitCode;

pub use duration::parse_duration;
pub use error::{Error, Result, chain};
pub use handle::{Sandbox, UpOptions, status, up};
pub use layout::Layout;
pub use model::{Cluster, ClusterSpec, PartState, PartStatus, Record, Registration, Status};

/// The region of a sandbox that was not given another.
pub const REGION: &str = "us-west-2";

/// The access key of the sandbox's administrator (`ADMIN_KEY_ID` of the emulator's package).
pub const ADMIN_KEY: &str = "AKIASANDBOXADMIN00000";

/// The secret of the sandbox's administrator (`ADMIN_SECRET` of the emulator's package). It opens nothing but the sandbox.
pub const ADMIN_SECRET: &str = "sandbox-admin-secret";

/// Takes over when this process was started for the sandbox's own use: as a supervisor, or as the step before a program
/// that must not outlive its supervisor. To be called first thing in `main`; `None` means: go on as usual.
pub fn intercept() -> Option<ExitCode> {
    intercept_with(std::env::args_os().skip(1))
}

fn intercept_with(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = arguments.next()?;
    match word.to_str()? {
        supervisor::WORD => Some(supervisor::run(arguments)),
        process::launcher::WORD => Some(process::launcher::run(arguments)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_arguments_are_left_alone() {
        for arguments in [vec![], vec!["sandbox"], vec!["--help"]] {
            assert!(intercept_with(arguments.into_iter().map(OsString::from)).is_none());
        }
    }
}
