//! A sandbox of a test's own, ended when the test ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use joiner_sandbox::tools::{GoTool, Tools, progress::Quiet};
use joiner_sandbox::{Cluster, ClusterSpec, Layout, Sandbox, UpOptions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use tempfile::TempDir;

/// A running sandbox in a temporary folder.
pub struct Cloud {
    /// The handle to it.
    pub sandbox: Sandbox,
    /// The tools it runs.
    pub tools: Tools,
    binaries: PathBuf,
    folder: TempDir,
}

impl Cloud {
    /// Starts a sandbox without a cluster, whose instances become nodes `boot_time` after their launch.
    ///
    /// # Errors
    /// What kept it from starting.
    pub async fn start(boot_time: Duration) -> Result<Self> {
        let binaries = binaries()?;
        let folder = tempfile::Builder::new().prefix("joiner-e2e-").tempdir()?;
        let tools = Tools::ensure(&GoTool::ALL, &Quiet)?;
        let options = UpOptions {
            layout: Layout::new(folder.path().join("sandbox")),
            boot_time,
            cluster: None,
            region: joiner_sandbox::REGION.to_owned(),
            aws_port: None,
            executable: binaries.join("joiner"),
            binaries: binaries.clone(),
            tools: tools.clone(),
        };
        let sandbox = joiner_sandbox::up(options, &Quiet).await?;
        Ok(Self {
            sandbox,
            tools,
            binaries,
            folder,
        })
    }

    /// A folder that lives as long as the sandbox.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the binaries under test.
    pub fn binaries(&self) -> &Path {
        &self.binaries
    }

    /// The environment that points ordinary tools at the sandbox.
    pub fn environment(&self) -> BTreeMap<String, String> {
        self.sandbox.environment()
    }

    /// Brings a cluster up without a Terraform core.
    ///
    /// # Errors
    /// What the supervisor says.
    pub async fn cluster(&self, name: &str) -> Result<Cluster> {
        Ok(self
            .sandbox
            .create_cluster(&ClusterSpec {
                name: name.to_owned(),
                port: None,
            })
            .await?)
    }

    /// A client of the current cluster.
    ///
    /// # Errors
    /// When there is no cluster.
    pub async fn client(&self) -> Result<kube::Client> {
        let path = self.sandbox.layout().kubeconfig();
        let kubeconfig = Kubeconfig::read_from(&path).with_context(|| path.display().to_string())?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(kube::Client::try_from(config)?)
    }

    /// Runs `kubectl` and answers its output.
    ///
    /// # Errors
    /// Its standard error when it fails.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(self.tools.path("kubectl"))
            .args(arguments)
            .envs(self.environment())
            .output()?;
        if !output.status.success() {
            bail!(
                "kubectl {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let ended = Command::new(self.binaries.join("joiner"))
            .args(["sandbox", "down", "--dir"])
            .arg(self.sandbox.layout().dir())
            .status();
        if !ended.as_ref().is_ok_and(std::process::ExitStatus::success) {
            eprintln!(
                "the sandbox in {} was not ended: {ended:?}",
                self.folder.path().display()
            );
        }
        if std::thread::panicking() {
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
