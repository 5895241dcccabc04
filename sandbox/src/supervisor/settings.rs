//! What a supervisor is told when it is started.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::identity::ProcessId;

/// The settings, passed as JSON in the supervisor's argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The sandbox's folder.
    pub(crate) dir: PathBuf,
    /// Milliseconds between an instance's launch and its node.
    pub(crate) boot_time_ms: u64,
    /// The folder of the Go tools.
    pub(crate) tools: PathBuf,
    /// The interpreter for the emulator.
    pub(crate) python: PathBuf,
    /// The folder that holds the emulator's package.
    pub(crate) emulator: PathBuf,
    /// The account's region.
    pub(crate) region: String,
    /// The emulator's port; a free one when absent.
    pub(crate) aws_port: Option<u16>,
    /// Where the programs of `joiner/<name>` images lie, as `joiner-<name>`.
    pub(crate) binaries: PathBuf,
    /// The process with which the sandbox ends; none when it outlives everybody.
    pub(crate) owner: Option<ProcessId>,
}

impl Settings {
    /// The boot time.
    pub(crate) fn boot_time(&self) -> Duration {
        Duration::from_millis(self.boot_time_ms)
    }
}
