//! What a test stands on before anything runs: the binaries under test, the tools, a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Result, bail};
use joiner_sandbox::terraform::Mirror;
use joiner_sandbox::tools::progress::Quiet;
use joiner_sandbox::tools::{GoTool, Tools};
use tempfile::TempDir;

use crate::places::Place;

/// A test's ground. Its folder goes with it, unless the test panics or `JOINER_TESTS_KEEP` is set.
pub struct Ground {
    /// The tools that sandboxes run.
    pub tools: Tools,
    binaries: PathBuf,
    mirror: OnceLock<Mirror>,
    folder: TempDir,
    _place: Place,
}

impl Ground {
    /// Waits for a place among the tests that run at once, and takes it.
    ///
    /// # Errors
    /// When binaries or tools are missing.
    pub async fn take() -> Result<Self> {
        let binaries = binaries()?;
        let place = Place::take().await;
        Ok(Self {
            tools: Tools::ensure(&GoTool::ALL, &Quiet)?,
            binaries,
            mirror: OnceLock::new(),
            folder: tempfile::Builder::new().prefix("joiner-e2e-").tempdir()?,
            _place: place,
        })
    }

    /// The test's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the binaries under test.
    pub fn binaries(&self) -> &Path {
        &self.binaries
    }

    /// The mirror that cores install our providers from.
    ///
    /// # Errors
    /// When it cannot be laid out.
    pub fn mirror(&self) -> Result<&Mirror> {
        if let Some(mirror) = self.mirror.get() {
            return Ok(mirror);
        }
        let helm = self.tools.path("helm");
        let mirror = Mirror::lay_out(&self.folder().join("core"), &self.binaries, &helm)?;
        Ok(self.mirror.get_or_init(|| mirror))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if std::thread::panicking() || std::env::var_os("JOINER_TESTS_KEEP").is_some() {
            let kept = self.folder.path().display();
            eprintln!("logs are kept in {kept}");
            self.folder.disable_cleanup(true);
        }
    }
}

fn binaries() -> Result<PathBuf> {
    let dir = match std::env::var_os("JOINER_BINARIES") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug"),
    };
    let dir = std::path::absolute(&dir)?;
    for name in [
        "joiner",
        "joiner-controller",
        "terraform-provider-joiner",
        "terraform-provider-sandbox",
    ] {
        if !dir.join(name).is_file() {
            bail!(
                "{name} is not in {}; run `cargo build --workspace`, or set JOINER_BINARIES",
                dir.display()
            );
        }
    }
    Ok(dir)
}
