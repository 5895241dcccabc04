//! What can go wrong for whoever uses a sandbox: each variant says what, where and what to do next.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the sandbox as its user meets it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A tool that the sandbox builds with is absent or too old; `remedy` is the command that installs it.
    #[error("{tool} {found}, but the sandbox needs {needed}\n  install it: {remedy}")]
    Toolchain {
        /// `Go` or `Python`.
        tool: &'static str,
        /// What was found, as a clause: "is not installed", "is version 1.20".
        found: String,
        /// What is needed: "1.26.8 or newer".
        needed: String,
        /// The command that installs it.
        remedy: String,
    },
    /// A build step failed; the last lines of its output are in the text.
    #[error("building {step} failed\n{output}")]
    Build {
        /// The step as shown in the progress.
        step: String,
        /// The last lines of its output.
        output: String,
    },
    /// A part of a running sandbox ended by itself.
    #[error(
        "{part} {end}; `joiner sandbox down` and `up` start everything anew; its last log lines ({log}):\n{lines}"
    )]
    PartFailed {
        /// The part, as `status` names it.
        part: String,
        /// How it ended: "ended with exit code 1".
        end: String,
        /// The log's path.
        log: PathBuf,
        /// The last lines of the log.
        lines: String,
    },
    /// A port that was asked for is taken.
    #[error(
        "port {port} is busy (wanted for {part}); free it or leave the port out, and a free one is chosen"
    )]
    PortBusy {
        /// The port.
        port: u16,
        /// The part that wanted it.
        part: String,
    },
    /// No sandbox runs in this folder.
    #[error("no sandbox is running in {}; start one with `joiner sandbox up`", dir.display())]
    NotRunning {
        /// The sandbox's folder.
        dir: PathBuf,
    },
    /// The supervisor runs but does not answer.
    #[error("the sandbox's supervisor (pid {pid}) does not answer on {}; see {}, or end it with `joiner sandbox down`", socket.display(), log.display())]
    Silent {
        /// The supervisor's process id.
        pid: i32,
        /// The socket that was tried.
        socket: PathBuf,
        /// The supervisor's log.
        log: PathBuf,
    },
    /// The supervisor refused or failed a request.
    #[error("{0}")]
    Refused(String),
    /// The sandbox has no cluster of this name.
    #[error("the sandbox has no cluster {name:?}; it has: {existing}")]
    NoCluster {
        /// The name asked for.
        name: String,
        /// The names there are, separated by commas, or "none".
        existing: String,
    },
    /// The disk is full, or nearly.
    #[error("no space left on the file system of {}; free some, or choose another folder with --dir", dir.display())]
    DiskFull {
        /// A folder on the full file system.
        dir: PathBuf,
    },
    /// Another command works on the same sandbox.
    #[error("another `joiner sandbox` command is working in {}; wait for it and try again", dir.display())]
    Locked {
        /// The sandbox's folder.
        dir: PathBuf,
    },
    /// A name that cannot be used.
    #[error("{what} {value:?} is not usable: {expected}")]
    Name {
        /// What is named: "cluster name".
        what: &'static str,
        /// The value.
        value: String,
        /// What is expected.
        expected: &'static str,
    },
    /// Reading or writing a file failed.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// "read", "write", "create".
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// Starting a process failed.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        #[source]
        cause: io::Error,
    },
}

/// The result of a sandbox operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Builds [`Error::File`], or [`Error::DiskFull`] when that is the cause.
    pub(crate) fn file(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |cause| match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull {
                dir: path.parent().unwrap_or(path).to_path_buf(),
            },
            _ => Error::File {
                verb,
                path: path.to_path_buf(),
                cause,
            },
        }
    }
}

/// The error and its causes on one line, each cause once.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
