//! Starting processes that cannot outlive the supervisor.
//!
//! Input: a [`Plan`]. Output: a tokio child with its [`ProcessId`]. Invariant: every fork happens on one thread that lives
//! as long as the supervisor, since the kernel's parent-death signal watches the forking *thread* (prctl(2)).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::identity::ProcessId;
use super::launcher;

/// Where a process's output goes.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Appended to this file.
    File(PathBuf),
    /// Read by the caller from the child's pipes.
    Piped,
}

/// What to start; the environment is exactly `env`, nothing is inherited.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) dir: PathBuf,
    pub(crate) output: Output,
}

/// A started process.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) id: ProcessId,
}

type Request = (Plan, oneshot::Sender<io::Result<Started>>);

/// The thread that forks.
#[derive(Debug, Clone)]
pub(crate) struct Spawner {
    requests: mpsc::Sender<Request>,
}

impl Spawner {
    /// Starts the thread; it ends when the last clone is dropped, and with it every process it started.
    pub(crate) fn start(runtime: Handle) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<Request>();
        std::thread::Builder::new()
            .name("spawner".into())
            .spawn(move || {
                let _guard = runtime.enter();
                while let Ok((plan, answer)) = inbox.recv() {
                    // A caller that went away drops the child, and `kill_on_drop` ends it.
                    let _ = answer.send(start(&plan));
                }
            })?;
        Ok(Self { requests })
    }

    /// Starts a process.
    pub(crate) async fn spawn(&self, plan: Plan) -> io::Result<Started> {
        let gone = || io::Error::other("the supervisor is ending");
        let (answer, started) = oneshot::channel();
        self.requests.send((plan, answer)).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

fn start(plan: &Plan) -> io::Result<Started> {
    if !plan.program.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("{} does not exist", plan.program.display()),
        ));
    }
    // The running image itself, even when the file on disk was replaced by a newer build.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(launcher::WORD)
        .arg(std::process::id().to_string())
        .arg(&plan.program)
        .args(&plan.args)
        .env_clear()
        .envs(&plan.env)
        .current_dir(&plan.dir)
        .stdin(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    match &plan.output {
        Output::File(log) => {
            let file = append(log)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        Output::Piped => {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
    }
    let child = command.spawn()?;
    let pid = child.id().map(u32::cast_signed).unwrap_or_default();
    let id = ProcessId::of(pid).unwrap_or(ProcessId { pid, started: 0 });
    Ok(Started { child, id })
}

/// Opens a log for appending, making its folder.
pub(crate) fn append(log: &Path) -> io::Result<File> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(log)
}
