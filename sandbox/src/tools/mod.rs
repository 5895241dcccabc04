//! The tools that a sandbox runs, built once and kept in the cache: Go programs from embedded module files, and the
//! emulator's Python environment.
//!
//! Input: embedded lock files, a Go and a Python. Output: [`Tools`], paths to ready programs. Invariants: a tool's file
//! exists only when it is complete; two builds at the same time share the work through a lock.

mod build;
mod catalogue;
mod golang;
mod lock;
pub mod progress;
mod python;
mod version;

pub use catalogue::GoTool;
pub use progress::{Event, Progress};

use std::env;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use crate::error::Result;
use crate::layout;

/// The Kubernetes version of the control plane, as `kubectl version` shows it.
pub const KUBERNETES_VERSION: &str = "v1.37.2";

/// Ready tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// The folder with `etcd`, `kube-apiserver`, `kube-controller-manager`, `kube-scheduler`, `kubectl`, `kwok`, `helm`, `tofu`.
    pub bin: PathBuf,
    /// The interpreter that has the emulator's requirements.
    pub python: PathBuf,
    /// The folder to put on `PYTHONPATH`: it holds the package `joiner_cloud`.
    pub emulator: PathBuf,
}

impl Tools {
    /// A tool's path.
    pub fn path(&self, tool: &str) -> PathBuf {
        self.bin.join(tool)
    }

    /// Where the tools lie, or will lie once built. `JOINER_TOOLS` (a folder of ready Go tools), `JOINER_PYTHON` (an
    /// interpreter with the requirements) and `JOINER_EMULATOR` (a folder that holds `joiner_cloud`) replace a part.
    pub fn locate() -> Self {
        let cache = layout::cache();
        let given = |name: &str| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            bin: given("JOINER_TOOLS").unwrap_or_else(|| build::folder(&cache).join("bin")),
            python: given("JOINER_PYTHON").unwrap_or_else(|| python::interpreter(&cache)),
            emulator: given("JOINER_EMULATOR").unwrap_or_else(|| python::package_folder(&cache)),
        }
    }

    /// The steps that [`Tools::ensure`] would have to do for `wanted`, in order.
    pub fn missing(&self, wanted: &[GoTool]) -> Vec<String> {
        let mut steps: Vec<String> = wanted
            .iter()
            .filter(|tool| !self.path(tool.name).is_file())
            .map(|tool| tool.name.to_owned())
            .collect();
        if !self.python.is_file() {
            steps.push("AWS emulator".to_owned());
        }
        steps
    }

    /// The Go to build with; `None` when nothing is missing (whoever held the turn before may have built it).
    fn go_for(&self, wanted: &[GoTool]) -> Result<Option<PathBuf>> {
        let missing = wanted.iter().any(|tool| !self.path(tool.name).is_file());
        missing.then(golang::find).transpose()
    }

    /// The Python to make the environment with; `None` when it is there.
    fn python_for(&self) -> Result<Option<PathBuf>> {
        (!self.python.is_file()).then(python::find).transpose()
    }

    /// Builds what is missing of `wanted` and of the emulator, telling `progress` about each step. Blocks for minutes on
    /// a new machine.
    ///
    /// # Errors
    /// [`crate::Error::Toolchain`] names a missing or too old Go or Python and the command that installs it;
    /// [`crate::Error::Build`] holds the failed step's output.
    pub fn ensure(wanted: &[GoTool], progress: &dyn Progress) -> Result<Self> {
        let tools = Self::locate();
        if !tools.missing(wanted).is_empty() {
            let cache = layout::cache();
            let _turn = lock::acquire(&cache, progress)?;
            // Both before the first build: nobody wants to learn after ten minutes that something is missing.
            let (go, python) = (tools.go_for(wanted)?, tools.python_for()?);
            // Beside each other: the environment mostly waits for downloads.
            thread::scope(|scope| {
                let emulator = python.map(|python| {
                    scope.spawn({
                        let cache = &cache;
                        move || python::environment(&python, cache, progress)
                    })
                });
                let programs = go.map_or(Ok(()), |go| {
                    build::clear_interrupted(&tools.bin);
                    let missing = wanted.iter().filter(|tool| !tools.path(tool.name).is_file());
                    let missing: Vec<GoTool> = missing.copied().collect();
                    build::all(&go, &missing, &cache, &tools.bin, progress)
                });
                let emulator = emulator.map_or(Ok(()), |thread| {
                    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
                });
                programs.and(emulator)
            })?;
        }
        if env::var_os("JOINER_EMULATOR").is_none() {
            python::unpack_package(&tools.emulator)?;
        }
        Ok(tools)
    }
}
