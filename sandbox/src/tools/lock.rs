//! One build at a time: a lock file in the cache, which the kernel frees when its holder ends, however it ends.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Instant;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::progress::{Event, Progress};
use crate::error::{Error, Result};

const STEP: &str = "waiting for another build";

/// Waits for the turn; the turn ends when the answer is dropped.
pub(super) fn acquire(cache: &Path, progress: &dyn Progress) -> Result<Flock<File>> {
    std::fs::create_dir_all(cache).map_err(Error::file("create", cache))?;
    let path = cache.join(".build-lock");
    let file = open(&path)?;
    let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(turn) => return Ok(turn),
        Err((file, Errno::EAGAIN)) => file,
        Err((_, error)) => return Err(Error::file("lock", &path)(error.into())),
    };
    let begin = Instant::now();
    progress.tell(Event::Started { step: STEP });
    let turn = Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, error)| Error::file("lock", &path)(error.into()))?;
    progress.tell(Event::Finished {
        step: STEP,
        took: begin.elapsed(),
    });
    Ok(turn)
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::file("create", path))
}
