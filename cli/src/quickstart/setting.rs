//! What the steps share: the sandbox, the core with our providers, and a client of the cluster.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use joiner_sandbox::terraform::{Core, Mirror};
use joiner_sandbox::tools::{GoTool, Tools};
use joiner_sandbox::{Layout, Sandbox, UpOptions};
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::Quickstart;
use super::report::program;
use crate::output;
use crate::steps::Steps;

/// The cluster of the example, unless its variable says otherwise.
pub(crate) const CLUSTER: &str = "quickstart";

/// Everything that a step needs.
pub(crate) struct Setting {
    pub(crate) sandbox: Sandbox,
    pub(crate) example: PathBuf,
    pub(crate) tools: Tools,
    core: Core,
}

impl Setting {
    /// Builds what is missing, starts the sandbox and sets the core up.
    pub(crate) async fn prepare(options: &Quickstart, layout: Layout) -> Result<Self> {
        let steps = Steps::new();
        let tools = crate::sandbox::tools::ensure(GoTool::ALL.to_vec()).await?;
        let up = UpOptions {
            cluster: None,
            boot_time: options.boot_time,
            ..UpOptions::new(layout, tools.clone())?
        };
        let binaries = up.binaries.clone();
        let sandbox = joiner_sandbox::up(up, &steps).await?;
        let mirror = Mirror::lay_out(&sandbox.layout().core(), &binaries, &tools.path("helm"))?;
        let example = std::path::absolute(&options.example)?;
        check_state(&sandbox, &example).await?;
        let binary = options.core.clone().unwrap_or_else(|| tools.path("tofu"));
        let core = Core::new(binary, &example, &mirror, sandbox.environment());
        core.forget_lock()?;
        Ok(Self {
            sandbox,
            example,
            tools,
            core,
        })
    }

    /// Runs one command of the core, its output going to the terminal; answers how long it took.
    ///
    /// It holds the thread until the core has ended: Ctrl-C reaches the core, too, which then ends what it is at and writes
    /// its state. A quickstart that ended before would leave it alone with the terminal, and the next one without its lock.
    pub(crate) async fn core(&self, step: &str, arguments: &[&str]) -> Result<Duration> {
        output::line(&format!("==> {step}"));
        let begin = Instant::now();
        let status = self
            .core
            .command(arguments)
            .stdin(Stdio::null())
            .status()
            .with_context(|| unstarted(arguments))?;
        // Whoever was interrupted meanwhile is told so, and not that the core failed.
        tokio::task::yield_now().await;
        if !status.success() {
            return Err(self.failed(arguments, status));
        }
        output::line(&format!("    {:.1} s", begin.elapsed().as_secs_f64()));
        Ok(begin.elapsed())
    }

    /// Runs one command of the core that is a step of nobody's; answers what it printed.
    ///
    /// # Errors
    /// What it said, when it fails.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<String> {
        let output = self
            .core
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .with_context(|| unstarted(arguments))?;
        if !output.status.success() {
            // With -json even what is wrong goes to stdout.
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            return Err(anyhow!(said).context(self.failed(arguments, output.status)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn failed(&self, arguments: &[&str], status: ExitStatus) -> anyhow::Error {
        anyhow!(
            "`{}` in {} failed: {status}",
            arguments.join(" "),
            self.example.display()
        )
    }

    /// A client of the cluster that the apply created.
    pub(crate) async fn client(&self) -> Result<kube::Client> {
        let path = self.sandbox.layout().kubeconfig();
        let kubeconfig = Kubeconfig::read_from(&path).with_context(|| {
            format!(
                "{} is not a kubeconfig; did the apply create a cluster?",
                path.display()
            )
        })?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(kube::Client::try_from(config)?)
    }
}

fn unstarted(arguments: &[&str]) -> String {
    format!("the core could not be started for `{}`", arguments.join(" "))
}

/// A cluster of the example that another checkout's state has could only be in the way of the apply.
async fn check_state(sandbox: &Sandbox, example: &Path) -> Result<()> {
    if example.join("terraform.tfstate").exists() {
        return Ok(());
    }
    if sandbox.cluster(CLUSTER).await?.is_none() {
        return Ok(());
    }
    bail!(
        "the sandbox has a cluster {CLUSTER} that {} has no state of, so it was made from another checkout: destroy it there, or end the \
         sandbox with all that is in it (`{} sandbox down`)",
        example.display(),
        program().display()
    )
}
