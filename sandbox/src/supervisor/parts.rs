//! The parts of a sandbox and how each is: processes and tasks inside the supervisor.
//!
//! Invariants: a part that ends without having been told to is `Failed`, with its last log lines; a part is started once a
//! name; the record on disk always lists the processes that run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::record::RecordFile;
use crate::error::{Error, Result};
use crate::model::{PartState, PartStatus};
use crate::process::identity::ProcessId;
use crate::process::spawn::{Output, Plan, Spawner};
use crate::process::tail::{ending, last_lines};

/// Log lines in a message.
const LINES: usize = 8;

/// The registry; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    spawner: Spawner,
    parts: Mutex<BTreeMap<String, Part>>,
    record: RecordFile,
}

#[derive(Debug, Clone)]
struct Part {
    state: PartState,
    port: Option<u16>,
    log: PathBuf,
    message: String,
    runs: Runs,
}

#[derive(Debug, Clone)]
enum Runs {
    Process {
        id: ProcessId,
        ended: watch::Receiver<Option<ExitStatus>>,
    },
    Inside,
}

/// A task inside the supervisor that is a part; dropping it ends the task.
#[derive(Debug)]
pub(crate) struct Task {
    name: String,
    parts: Parts,
    stop: DropGuard,
    handle: JoinHandle<()>,
}

impl Parts {
    /// An empty registry.
    pub(crate) fn new(spawner: Spawner, record: RecordFile) -> Self {
        Self {
            shared: Arc::new(Shared {
                spawner,
                parts: Mutex::default(),
                record,
            }),
        }
    }

    /// The thread that forks.
    pub(crate) fn spawner(&self) -> &Spawner {
        &self.shared.spawner
    }

    /// Starts a process as a part. It is `Starting` until [`Parts::wait_ready`].
    pub(crate) async fn start(&self, name: &str, plan: Plan, port: Option<u16>) -> Result<()> {
        let log = match &plan.output {
            Output::File(log) => log.clone(),
            Output::Piped => PathBuf::new(),
        };
        let program = plan.program.display().to_string();
        let mut started = self
            .shared
            .spawner
            .spawn(plan)
            .await
            .map_err(|cause| Error::Start { program, cause })?;
        let (tell, ended) = watch::channel(None);
        let runs = Runs::Process {
            id: started.id,
            ended,
        };
        self.put(
            name,
            Part {
                state: PartState::Starting,
                port,
                log,
                message: String::new(),
                runs,
            },
        );

        let (parts, name) = (self.clone(), name.to_owned());
        tokio::spawn(async move {
            let status = started.child.wait().await.unwrap_or_default();
            parts.note_end(&name, started.id, status);
            let _ = tell.send(Some(status));
        });
        Ok(())
    }

    /// Waits until `probe` is true, and marks the part as running. Fails when it ends first, or after `patience`.
    pub(crate) async fn wait_ready<F>(
        &self,
        name: &str,
        patience: Duration,
        probe: impl Fn() -> F,
    ) -> Result<()>
    where
        F: Future<Output = bool>,
    {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            self.check(name)?;
            if probe().await {
                self.change(name, |part| part.state = PartState::Running);
                return Ok(());
            }
            if tokio::time::Instant::now() >= deadline {
                let end = format!("did not answer within {} s", patience.as_secs());
                self.change(name, |part| {
                    part.state = PartState::Failed;
                    part.message = end.clone();
                });
                return Err(self.failure(name, &end));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Fails when the part failed.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        let part = self.lock().get(name).cloned();
        match part {
            Some(part) if part.state == PartState::Failed => {
                let end = part.message.lines().next().unwrap_or("ended").to_owned();
                Err(self.failure(name, &end))
            }
            _ => Ok(()),
        }
    }

    /// Ends a process: asks, and after `patience` makes it. It stays listed as stopped until [`Parts::forget`].
    pub(crate) async fn stop(&self, name: &str, patience: Duration) {
        let runs = {
            let mut parts = self.lock();
            let Some(part) = parts.get_mut(name) else { return };
            if part.state != PartState::Failed {
                part.state = PartState::Stopped;
            }
            part.runs.clone()
        };
        let Runs::Process { id, mut ended } = runs else {
            return;
        };
        if !patience.is_zero() {
            id.signal(Signal::SIGTERM);
            if tokio::time::timeout(patience, ended.wait_for(Option::is_some))
                .await
                .is_ok()
            {
                return;
            }
        }
        id.signal_group(Signal::SIGKILL);
        // SIGKILL cannot be refused; the bound is for a process that hangs in the kernel.
        let _ = tokio::time::timeout(Duration::from_secs(5), ended.wait_for(Option::is_some)).await;
    }

    /// Records where the emulator is.
    pub(crate) fn record_endpoint(&self, url: &str) {
        if let Err(error) = self
            .shared
            .record
            .update(|record| record.aws_endpoint = url.to_owned())
        {
            tracing::warn!(%error, "cannot write the sandbox's record");
        }
    }

    /// Removes the record: nothing runs any more.
    pub(crate) fn remove_record(&self) {
        self.shared.record.remove();
    }

    /// Removes all parts whose name begins with `prefix`.
    pub(crate) fn forget(&self, prefix: &str) {
        self.lock().retain(|name, _| !name.starts_with(prefix));
        self.save();
    }

    /// Runs a task inside the supervisor as a part; an answer or a panic before it is stopped makes it `Failed`.
    pub(crate) fn run_inside<F>(
        &self,
        name: &str,
        port: Option<u16>,
        log: &Path,
        work: impl FnOnce(CancellationToken) -> F,
    ) -> Task
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let part = Part {
            state: PartState::Running,
            port,
            log: log.to_path_buf(),
            message: String::new(),
            runs: Runs::Inside,
        };
        self.put(name, part);
        let work = tokio::spawn(work(stop.clone()));
        let (parts, watched, stopped) = (self.clone(), name.to_owned(), stop.clone());
        let handle = tokio::spawn(async move {
            let message = match work.await {
                _ if stopped.is_cancelled() => return,
                Ok(Ok(())) => "ended by itself".to_owned(),
                Ok(Err(error)) => format!("failed: {error:#}"),
                Err(error) => format!("panicked: {error}"),
            };
            tracing::error!(part = %watched, %message, "a part of the sandbox failed");
            parts.change(&watched, |part| {
                part.state = PartState::Failed;
                part.message = message;
            });
        });
        Task {
            name: name.to_owned(),
            parts: self.clone(),
            stop: stop.drop_guard(),
            handle,
        }
    }

    /// How every part is, in order of name.
    pub(crate) fn statuses(&self) -> Vec<PartStatus> {
        self.lock()
            .iter()
            .map(|(name, part)| status(name, part))
            .collect()
    }

    /// A part's state.
    pub(crate) fn state(&self, name: &str) -> Option<PartState> {
        self.lock().get(name).map(|part| part.state)
    }

    fn note_end(&self, name: &str, id: ProcessId, status: ExitStatus) {
        self.change(name, |part| {
            let same = matches!(&part.runs, Runs::Process { id: current, .. } if *current == id);
            if same && part.state != PartState::Stopped {
                let end = ending(status);
                tracing::error!(part = %name, %end, "a part of the sandbox ended by itself");
                part.message = format!("{end}\n{}", last_lines(&part.log, LINES));
                part.state = PartState::Failed;
            }
        });
    }

    fn failure(&self, name: &str, end: &str) -> Error {
        let log = self
            .lock()
            .get(name)
            .map(|part| part.log.clone())
            .unwrap_or_default();
        let lines = last_lines(&log, LINES);
        if lines.contains("no space left on device") {
            return Error::DiskFull {
                dir: log.parent().unwrap_or(&log).to_path_buf(),
            };
        }
        Error::PartFailed {
            part: name.to_owned(),
            end: end.to_owned(),
            log,
            lines,
        }
    }

    fn put(&self, name: &str, part: Part) {
        self.lock().insert(name.to_owned(), part);
        self.save();
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.lock().get_mut(name) {
            change(part);
        }
    }

    fn save(&self) {
        let children: BTreeMap<String, ProcessId> = self
            .lock()
            .iter()
            .filter_map(|(name, part)| match &part.runs {
                Runs::Process { id, ended } if ended.borrow().is_none() => Some((name.clone(), *id)),
                _ => None,
            })
            .collect();
        if let Err(error) = self.shared.record.update(|record| record.children = children) {
            tracing::warn!(%error, "cannot write the sandbox's record");
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Part>> {
        self.shared.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// Ends the task, giving it `patience` to clean up.
    pub(crate) async fn stop(self, patience: Duration) {
        self.parts
            .change(&self.name, |part| part.state = PartState::Stopped);
        self.stop.disarm().cancel();
        let mut handle = self.handle;
        if tokio::time::timeout(patience, &mut handle).await.is_err() {
            handle.abort();
        }
    }
}

fn status(name: &str, part: &Part) -> PartStatus {
    let id = match &part.runs {
        Runs::Process { id, .. } => Some(*id),
        Runs::Inside => None,
    };
    PartStatus {
        name: name.to_owned(),
        state: part.state,
        pid: id
            .map(|id| id.pid)
            .or_else(|| ProcessId::own().map(|own| own.pid)),
        port: part.port,
        uptime_seconds: id.and_then(ProcessId::uptime).map(|time| time.as_secs()),
        memory_bytes: id.and_then(ProcessId::memory),
        log: part.log.clone(),
        message: part.message.clone(),
    }
}
