//! Starting a sandbox, or finding the one that runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::Flock;

use crate::error::{Error, Result};
use crate::layout::{DEFAULT_NAME, Layout};
use crate::model::{Cluster, ClusterSpec, PartState, PartStatus};
use crate::process::identity::ProcessId;
use crate::process::tail::{ending, last_lines};
use crate::supervisor::{self, Settings};
use crate::tools::{Event, Progress, Tools};

use super::Sandbox;
use super::down;

/// How to start a sandbox.
#[derive(Debug, Clone)]
pub struct UpOptions {
    /// Where its state lies.
    pub layout: Layout,
    /// The time between an instance's launch and its node.
    pub boot_time: Duration,
    /// The cluster to bring up; `None` leaves that to others, such as the `sandbox_cluster` resource.
    pub cluster: Option<ClusterSpec>,
    /// The account's region, which AWS clients are pointed at.
    pub region: String,
    /// The emulator's port; a free one when `None`.
    pub aws_port: Option<u16>,
    /// Where the programs of `joiner/<name>` images lie, as `joiner-<name>`.
    pub binaries: PathBuf,
    /// The binary that is re-executed as the supervisor; it must call [`crate::intercept`].
    pub executable: PathBuf,
    /// The tools, from [`Tools::ensure`].
    pub tools: Tools,
    /// The process with which the sandbox ends, such as a test; `None`: it runs until it is told to end.
    pub owner: Option<ProcessId>,
}

impl UpOptions {
    /// The usual: boot time 5 s, one cluster called `sandbox`, programs beside the running one, which is the supervisor, too.
    ///
    /// # Errors
    /// [`Error::File`] when the running program's path is not known.
    pub fn new(layout: Layout, tools: Tools) -> Result<Self> {
        let executable =
            std::env::current_exe().map_err(Error::file("find", Path::new("the running program")))?;
        Ok(Self {
            layout,
            boot_time: Duration::from_secs(5),
            cluster: Some(ClusterSpec {
                name: DEFAULT_NAME.into(),
                port: None,
            }),
            region: crate::REGION.to_owned(),
            aws_port: None,
            binaries: executable.parent().unwrap_or(Path::new("/")).to_path_buf(),
            executable,
            tools,
            owner: None,
        })
    }
}

/// The least free space a start needs, in bytes: etcd's and the logs' first hour.
const SPACE: u64 = 256 << 20;

/// Starts the sandbox, or finds the running one and completes it. Answers when everything asked for is ready.
///
/// # Errors
/// [`Error::PartFailed`] names a part that failed, now or since the last start; [`Error::PortBusy`], [`Error::DiskFull`],
/// [`Error::File`] and [`Error::Refused`] say what is in the way.
pub async fn up(options: UpOptions, progress: &dyn Progress) -> Result<Sandbox> {
    let layout = &options.layout;
    let turn = down::turn(layout).await?;
    let sandbox = match Sandbox::open(layout.clone()) {
        Ok(running) => {
            running.check().await?;
            check_binaries(&running.record().binaries, &options.binaries)?;
            running
        }
        Err(_) => start(&options, progress).await?,
    };
    complete(&sandbox, &options, turn, progress).await?;
    Ok(sandbox)
}

async fn start(options: &UpOptions, progress: &dyn Progress) -> Result<Sandbox> {
    let layout = &options.layout;
    check_space(layout.dir())?;
    down::down_locked(layout).await?;
    down::clear(layout)?;
    progress.tell(Event::Started { step: "supervisor" });
    let begin = Instant::now();
    let mut daemon = spawn(options)?;
    let deadline = begin + Duration::from_secs(30);
    loop {
        if let Ok(sandbox) = Sandbox::open(layout.clone())
            && sandbox.record().supervisor.pid == daemon.id().cast_signed()
            && sandbox.status().await.is_ok()
        {
            progress.tell(Event::Finished {
                step: "supervisor",
                took: begin.elapsed(),
            });
            return Ok(sandbox);
        }
        let ended = daemon
            .try_wait()
            .map_err(Error::file("watch", &options.executable))?;
        if let Some(status) = ended {
            return Err(daemon_failed(layout, ending(status)));
        }
        if Instant::now() > deadline {
            let _ = daemon.kill();
            return Err(daemon_failed(layout, "did not answer within 30 s".into()));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn spawn(options: &UpOptions) -> Result<Child> {
    let settings = Settings {
        dir: options.layout.dir().to_path_buf(),
        boot_time_ms: u64::try_from(options.boot_time.as_millis()).unwrap_or(u64::MAX),
        tools: options.tools.bin.clone(),
        python: options.tools.python.clone(),
        emulator: options.tools.emulator.clone(),
        region: options.region.clone(),
        aws_port: options.aws_port,
        binaries: options.binaries.clone(),
        owner: options.owner,
    };
    let settings = serde_json::to_string(&settings).map_err(|error| Error::Refused(error.to_string()))?;
    let log = options.layout.log("supervisor");
    let file = crate::process::spawn::append(&log).map_err(Error::file("create", &log))?;
    let copy = file.try_clone().map_err(Error::file("open", &log))?;
    Command::new(&options.executable)
        .args([supervisor::WORD, &settings])
        .current_dir(options.layout.dir())
        .stdin(Stdio::null())
        .stdout(copy)
        .stderr(file)
        .spawn()
        .map_err(|cause| Error::Start {
            program: options.executable.display().to_string(),
            cause,
        })
}

fn daemon_failed(layout: &Layout, end: String) -> Error {
    let log = layout.log("supervisor");
    let lines = last_lines(&log, 8);
    if lines.contains("No space left on device") || lines.contains("no space left on") {
        return Error::DiskFull {
            dir: layout.dir().to_path_buf(),
        };
    }
    Error::PartFailed {
        part: "supervisor".into(),
        end,
        lines,
        log,
    }
}

/// Waits for the emulator and brings up the cluster, telling about each part as it gets ready.
async fn complete(
    sandbox: &Sandbox,
    options: &UpOptions,
    turn: Flock<File>,
    progress: &dyn Progress,
) -> Result<()> {
    let mut told = Told {
        begun: Instant::now(),
        started: BTreeSet::new(),
        finished: BTreeSet::new(),
    };
    let mut cluster = Box::pin(cluster(sandbox, options.cluster.as_ref()));
    let mut created = None;
    loop {
        if created.is_none() {
            tokio::select! {
                result = &mut cluster => created = Some(result),
                () = tokio::time::sleep(Duration::from_millis(30)) => {}
            }
        } else {
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        let status = sandbox.status().await?;
        for part in status.parts.iter().filter(|part| part.name != "supervisor") {
            told.about(part, progress);
        }
        if let Some(Err(_)) = &created {
            break;
        }
        sandbox.check().await?;
        if created.is_some() && status.parts.iter().all(|part| part.state != PartState::Starting) {
            break;
        }
    }
    drop(turn);
    created.unwrap_or(Ok(None)).map(drop)
}

async fn cluster(sandbox: &Sandbox, spec: Option<&ClusterSpec>) -> Result<Option<Cluster>> {
    let Some(spec) = spec else { return Ok(None) };
    match sandbox.cluster(&spec.name).await? {
        Some(there) => Ok(Some(there)),
        None => sandbox.create_cluster(spec).await.map(Some),
    }
}

struct Told {
    begun: Instant,
    started: BTreeSet<String>,
    finished: BTreeSet<String>,
}

impl Told {
    fn about(&mut self, part: &PartStatus, progress: &dyn Progress) {
        let step = part.name.as_str();
        // What runs already when first seen was up before, or is up at once: no line for the former.
        if !self.started.contains(step)
            && part.state == PartState::Running
            && part.uptime_seconds.is_some_and(|up| up > 60)
        {
            self.started.insert(step.to_owned());
            self.finished.insert(step.to_owned());
        }
        if self.started.insert(step.to_owned()) {
            progress.tell(Event::Started { step });
        }
        match part.state {
            PartState::Running if self.finished.insert(step.to_owned()) => {
                progress.tell(Event::Finished {
                    step,
                    took: self.begun.elapsed(),
                });
            }
            PartState::Failed if self.finished.insert(step.to_owned()) => {
                progress.tell(Event::Failed { step })
            }
            _ => {}
        }
    }
}

/// A running sandbox goes on with the programs that it was started with: those of another build, or of one that is gone, would not be
/// what the caller is about to try.
fn check_binaries(running: &Path, wanted: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if running.as_os_str().is_empty() || real(running) == real(wanted) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "the running sandbox takes the controller from {}, not from {}: end it (`{} sandbox down`) and start it again",
        running.display(),
        wanted.display(),
        wanted.join("joiner").display(),
    )))
}

fn check_space(dir: &Path) -> Result<()> {
    let Ok(stat) = nix::sys::statvfs::statvfs(dir) else {
        return Ok(());
    };
    let free = stat.blocks_available().saturating_mul(stat.fragment_size());
    if free < SPACE {
        Err(Error::DiskFull {
            dir: dir.to_path_buf(),
        })
    } else {
        Ok(())
    }
}
