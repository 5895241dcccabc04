//! A Terraform core (OpenTofu or Terraform) set up with the providers of this build.
//!
//! Input: the folder of built binaries and a core's binary. Output: a filesystem mirror that `init` installs from, and
//! commands whose environment points at it. Nothing here talks to a registry: a mirror is the only installation method.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};

/// The providers of this repository, as `NAMESPACE/TYPE`.
const PROVIDERS: [&str; 2] = ["joiner", "sandbox"];
/// Our namespace in both registries.
const NAMESPACE: &str = "joiner-dev";
/// The registry hosts that the two cores put before a source without a host.
const HOSTS: [&str; 2] = ["registry.opentofu.org", "registry.terraform.io"];
/// The CLI configuration's file.
const CLI_CONFIG: &str = "cli.tfrc";

/// A filesystem mirror with our providers, and the CLI configuration that names it.
#[derive(Debug, Clone)]
pub struct Mirror {
    cli_config: PathBuf,
}

impl Mirror {
    /// Lays a mirror out in `dir`: the providers found in `binaries`, with `helm` beside each so that a provider finds it
    /// as it would in its release archive. Files are hard links where the file system allows it.
    ///
    /// # Errors
    /// [`Error`] naming the file that could not be read or written.
    pub fn lay_out(dir: &Path, binaries: &Path, helm: &Path) -> Result<Self> {
        let plugins = dir.join("plugins");
        if plugins.exists() {
            fs::remove_dir_all(&plugins).map_err(Error::file("remove", &plugins))?;
        }
        let version = env!("CARGO_PKG_VERSION");
        for (host, provider) in HOSTS
            .iter()
            .flat_map(|host| PROVIDERS.map(|provider| (host, provider)))
        {
            let package = plugins
                .join(host)
                .join(NAMESPACE)
                .join(provider)
                .join(version)
                .join(platform());
            fs::create_dir_all(&package).map_err(Error::file("create", &package))?;
            let name = format!("terraform-provider-{provider}");
            link(&binaries.join(&name), &package.join(format!("{name}_v{version}")))?;
            link(helm, &package.join("helm"))?;
        }
        let cli_config = dir.join(CLI_CONFIG);
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            plugins.display().to_string()
        );
        fs::write(&cli_config, text).map_err(Error::file("write", &cli_config))?;
        Ok(Self { cli_config })
    }

    /// The one that was laid out in `dir`; `None` where none was.
    pub fn there(dir: &Path) -> Option<Self> {
        let cli_config = dir.join(CLI_CONFIG);
        cli_config.is_file().then_some(Self { cli_config })
    }

    /// The CLI configuration, for `TF_CLI_CONFIG_FILE`.
    pub fn cli_config(&self) -> &Path {
        &self.cli_config
    }
}

/// One core working in one folder.
#[derive(Debug, Clone)]
pub struct Core {
    binary: PathBuf,
    dir: PathBuf,
    environment: Vec<(String, String)>,
}

impl Core {
    /// The core `binary`, working in `dir`, installing from `mirror`; `environment` is added to the process's own.
    pub fn new(
        binary: impl Into<PathBuf>,
        dir: impl Into<PathBuf>,
        mirror: &Mirror,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let ours = [
            (
                "TF_CLI_CONFIG_FILE".to_owned(),
                mirror.cli_config.display().to_string(),
            ),
            ("TF_IN_AUTOMATION".to_owned(), "1".to_owned()),
            ("CHECKPOINT_DISABLE".to_owned(), "1".to_owned()),
        ];
        Self {
            binary: binary.into(),
            dir: dir.into(),
            environment: ours.into_iter().chain(environment).collect(),
        }
    }

    /// The working folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A command of the core, ready to run.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(&self.dir)
            .envs(self.environment.iter().map(|(k, v)| (k, v)));
        command
    }

    /// Forgets the provider versions chosen before, whose checksums a rebuilt provider no longer has.
    ///
    /// # Errors
    /// [`Error`] when the lock file is there and cannot be removed.
    pub fn forget_lock(&self) -> Result<()> {
        let lock = self.dir.join(".terraform.lock.hcl");
        match fs::remove_file(&lock) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::file("remove", &lock)(cause))
            }
            _ => Ok(()),
        }
    }
}

/// The platform's name in a mirror, such as `linux_amd64`.
pub fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}_{arch}")
}

fn link(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map(|_| ()).map_err(Error::file("copy", from))
}
