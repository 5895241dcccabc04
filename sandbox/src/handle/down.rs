//! Ending a sandbox: just what it started, and all of it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::supervisor;

use super::Sandbox;

impl Sandbox {
    /// Ends the sandbox in `layout`'s folder. Its cloud ends with it: the next `up` starts empty. Logs stay. True when
    /// something was running.
    ///
    /// # Errors
    /// [`Error::File`] when the folder cannot be used.
    pub async fn down(layout: &Layout) -> Result<bool> {
        if !layout.dir().is_dir() {
            return Ok(false);
        }
        let _turn = turn(layout).await?;
        down_locked(layout).await
    }

    /// Ends the sandbox in `layout`'s folder and removes the folder's content.
    ///
    /// # Errors
    /// [`Error::File`] when something cannot be removed; [`Error::Refused`] when the folder is not a sandbox's.
    pub async fn wipe(layout: &Layout) -> Result<()> {
        if !layout.dir().is_dir() {
            return Ok(());
        }
        let _turn = turn(layout).await?;
        down_locked(layout).await?;
        clear(layout)
    }
}

/// The folders and files that a sandbox makes; nothing else in its folder is touched.
const OURS: [&str; 6] = [
    "clusters",
    "emulator",
    "logs",
    "kubeconfig",
    "sandbox.json",
    "supervisor.sock",
];

/// Removes what an earlier run left.
pub(super) fn clear(layout: &Layout) -> Result<()> {
    for name in OURS {
        let path = layout.dir().join(name);
        let removed = if path.is_dir() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other.map_err(Error::file("remove", &path))?,
        }
    }
    Ok(())
}

/// Ends the supervisor, and what it left should it have died. The caller holds the turn.
pub(super) async fn down_locked(layout: &Layout) -> Result<bool> {
    let Some(record) = supervisor::read_record(&layout.record()) else {
        return Ok(false);
    };
    let was_running = record.supervisor.is_alive();
    if let Ok(sandbox) = Sandbox::open(layout.clone())
        && let Err(error) = sandbox.shut_down().await
    {
        tracing::debug!(%error, "the supervisor is ended by a signal");
    }
    let layout = layout.clone();
    tokio::task::spawn_blocking(move || {
        if !record.supervisor.wait(Duration::from_secs(15)) {
            record.supervisor.end(Duration::from_secs(5));
        }
        // The kernel ends them with their supervisor; this is for the one it missed.
        for child in record
            .children
            .values()
            .filter(|child| !child.wait(Duration::from_secs(1)))
        {
            child.signal(Signal::SIGKILL);
            child.wait(Duration::from_secs(5));
        }
        for stale in [layout.record(), layout.socket()] {
            let _ = std::fs::remove_file(stale);
        }
    })
    .await
    .map_err(|error| Error::Refused(error.to_string()))?;
    Ok(was_running)
}

/// The turn to change a sandbox; a second command waits for the first, for up to two minutes.
pub(super) async fn turn(layout: &Layout) -> Result<Flock<File>> {
    std::fs::create_dir_all(layout.dir()).map_err(Error::file("create", layout.dir()))?;
    let path = layout.lock();
    for _ in 0..1200 {
        match Flock::lock(open(&path)?, FlockArg::LockExclusiveNonblock) {
            Ok(turn) => return Ok(turn),
            Err((_, Errno::EAGAIN)) => tokio::time::sleep(Duration::from_millis(100)).await,
            Err((_, error)) => return Err(Error::file("lock", &path)(error.into())),
        }
    }
    Err(Error::Locked {
        dir: layout.dir().to_path_buf(),
    })
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::file("create", path))
}
