//! The Terraform cores on this machine, and a folder that one of them works in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, bail};
use joiner_sandbox::terraform::{Core, Mirror};

use crate::Cloud;

/// A core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreKind {
    /// OpenTofu, which the tools bring.
    OpenTofu,
    /// Terraform, where the machine has it.
    Terraform,
}

/// The cores to test with: OpenTofu always; Terraform when `JOINER_TERRAFORM` names it or it is in PATH.
pub fn cores() -> Vec<CoreKind> {
    let mut cores = vec![CoreKind::OpenTofu];
    if terraform().is_some() {
        cores.push(CoreKind::Terraform);
    } else {
        eprintln!("Terraform is not on this machine; testing with OpenTofu alone");
    }
    cores
}

fn terraform() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("JOINER_TERRAFORM") {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join("terraform"))
        .find(|file| file.is_file())
}

/// A copy of a configuration in a folder of its own, with one core working in it.
pub struct Workspace {
    core: Core,
}

impl Workspace {
    /// Copies `configuration` (a folder, relative to the repository's root) and runs `init`.
    ///
    /// # Errors
    /// What `init` says.
    pub fn of(cloud: &Cloud, kind: CoreKind, configuration: &str) -> Result<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(configuration);
        let dir = cloud
            .folder()
            .join(format!("{kind:?}-{}", configuration.replace('/', "-")));
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&source).with_context(|| source.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name();
            let plain = entry.file_type()?.is_file() && !name.to_string_lossy().contains("tfstate");
            if plain && name != ".terraform.lock.hcl" {
                fs::copy(entry.path(), dir.join(&name))?;
            }
        }
        Self::here(cloud, kind, &dir)
    }

    /// Writes `main` as `main.tf` into a new folder called `name` and runs `init`.
    ///
    /// # Errors
    /// What `init` says.
    pub fn with(cloud: &Cloud, kind: CoreKind, name: &str, main: &str) -> Result<Self> {
        let dir = cloud.folder().join(format!("{kind:?}-{name}"));
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("main.tf"), main)?;
        Self::here(cloud, kind, &dir)
    }

    fn here(cloud: &Cloud, kind: CoreKind, dir: &Path) -> Result<Self> {
        let mirror = Mirror::lay_out(
            &cloud.folder().join("core"),
            cloud.binaries(),
            &cloud.tools.path("helm"),
        )?;
        let binary = match kind {
            CoreKind::OpenTofu => cloud.tools.path("tofu"),
            CoreKind::Terraform => terraform().context("Terraform is not on this machine")?,
        };
        let workspace = Self {
            core: Core::new(binary, dir, &mirror, cloud.environment()),
        };
        workspace.run(&["init", "-input=false", "-no-color"])?;
        Ok(workspace)
    }

    /// The core's folder.
    pub fn dir(&self) -> &Path {
        self.core.dir()
    }

    /// The path of one of the folder's files.
    pub fn file(&self, name: &str) -> String {
        self.dir().join(name).display().to_string()
    }

    /// The core, to run a command in another way.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Runs a command of the core; answers what it printed.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let text = text(&output);
        if !output.status.success() {
            bail!("{} failed ({}):\n{text}", arguments.join(" "), output.status);
        }
        Ok(text)
    }

    /// Runs a command that must fail; answers what it printed.
    ///
    /// # Errors
    /// When it succeeds.
    pub fn fails(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        let text = text(&output);
        if output.status.success() {
            bail!("{} was to fail and did not:\n{text}", arguments.join(" "));
        }
        Ok(text)
    }

    /// Applies without asking.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn apply(&self, more: &[&str]) -> Result<String> {
        self.run(&[&["apply", "-auto-approve", "-input=false", "-no-color"], more].concat())
    }

    /// Requires that a plan finds nothing to do.
    ///
    /// # Errors
    /// The plan, when it is not empty.
    pub fn plan_is_empty(&self) -> Result<()> {
        self.run(&["plan", "-detailed-exitcode", "-input=false", "-no-color"])
            .map(drop)
    }

    /// Destroys without asking.
    ///
    /// # Errors
    /// All that it printed, when it fails.
    pub fn destroy(&self) -> Result<String> {
        self.run(&["destroy", "-auto-approve", "-input=false", "-no-color"])
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.core.command(arguments).output()?)
    }
}

fn text(output: &Output) -> String {
    // Cores wrap diagnostics at the terminal's width, with a bar at the left; tests look for sentences.
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).replace("\n\u{2502} ", "\n")
}
