//! A command that a test looks at, interrupts or kills while it runs.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::Signal;

use crate::processes::{self, Process};

/// A running command in a process group of its own, as a shell starts one. What is left of the group ends with the test.
pub struct Watched {
    child: Child,
    process: Process,
    what: String,
    log: PathBuf,
}

impl Watched {
    /// Starts `command`; what it prints goes to `log`.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(mut command: Command, what: &str, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| log.display().to_string())?;
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| what.to_owned())?;
        let process = processes::of(child.id()).with_context(|| format!("{what} ended at once"))?;
        Ok(Self {
            child,
            process,
            what: what.to_owned(),
            log: log.to_path_buf(),
        })
    }

    /// What it has printed so far, diagnostics' bars taken off.
    pub fn said(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        crate::cores::unwrapped(&bytes)
    }

    /// Waits until it has printed `text`.
    ///
    /// # Errors
    /// When it ends without that, or `patience` runs out; with all it has printed.
    pub async fn says(&mut self, text: &str, patience: Duration) -> Result<()> {
        let what = format!("{} says {text:?}", self.what);
        self.until(&what, patience, |said| said.contains(text)).await
    }

    /// Waits, while it runs, until `look`, which is given what it has printed, answers true.
    ///
    /// # Errors
    /// When it ends without that, or `patience` runs out; with all it has printed.
    pub async fn until(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl FnMut(&str) -> bool,
    ) -> Result<()> {
        self.watch(what, patience, async |said| Ok(look(said))).await
    }

    /// Waits, while it runs, until a look at something else, such as a cluster, answers true.
    ///
    /// # Errors
    /// As [`Watched::until`]; or what the look fails with.
    pub async fn meanwhile(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl AsyncFnMut() -> Result<bool>,
    ) -> Result<()> {
        self.watch(what, patience, async |_| look().await).await
    }

    async fn watch(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl AsyncFnMut(&str) -> Result<bool>,
    ) -> Result<()> {
        let begin = Instant::now();
        loop {
            // In this order: what it printed at its very end counts, too.
            let ended = self.child.try_wait()?;
            let said = self.said();
            if look(&said).await? {
                return Ok(());
            }
            if let Some(status) = ended {
                bail!("{what}: it ended ({status}) and said:\n{said}");
            }
            ensure!(
                begin.elapsed() < patience,
                "{what}: not after {} s, but:\n{said}",
                patience.as_secs()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The processes that it started, and those that these started.
    pub fn below(&self) -> Vec<Process> {
        processes::below(self.process.id)
    }

    /// Ctrl-C: SIGINT to the whole group, as a terminal sends it.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn interrupt(&self) -> Result<()> {
        ensure!(
            self.process.id.signal_group(Signal::SIGINT),
            "{} has ended already:\n{}",
            self.what,
            self.said()
        );
        Ok(())
    }

    /// `kill -9` of the command alone: what it started goes on.
    ///
    /// # Errors
    /// When it has ended already.
    pub fn kill(&self) -> Result<()> {
        ensure!(
            self.process.id.signal(Signal::SIGKILL),
            "{} has ended already:\n{}",
            self.what,
            self.said()
        );
        Ok(())
    }

    /// Waits for its end; answers how it ended and all it printed.
    ///
    /// # Errors
    /// When it still runs after `patience`.
    pub async fn ended(&mut self, patience: Duration) -> Result<(ExitStatus, String)> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok((status, self.said()));
            }
            ensure!(
                begin.elapsed() < patience,
                "{} has not ended after {} s, but said:\n{}",
                self.what,
                patience.as_secs(),
                self.said()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits for its end, which must be a failure; answers all it printed.
    ///
    /// # Errors
    /// When it succeeds, or still runs after `patience`.
    pub async fn fails(&mut self, patience: Duration) -> Result<String> {
        let (status, said) = self.ended(patience).await?;
        ensure!(
            !status.success(),
            "{} was to fail and did not:\n{said}",
            self.what
        );
        Ok(said)
    }

    /// Waits for its end, which must be a success; answers all it printed.
    ///
    /// # Errors
    /// When it fails, or still runs after `patience`.
    pub async fn succeeds(&mut self, patience: Duration) -> Result<String> {
        let (status, said) = self.ended(patience).await?;
        ensure!(status.success(), "{} failed ({status}):\n{said}", self.what);
        Ok(said)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.process.id.signal_group(Signal::SIGKILL);
        if let Err(error) = self.child.wait() {
            eprintln!("{} cannot be waited for: {error}", self.what);
        }
    }
}
