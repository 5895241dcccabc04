//! `joiner sandbox quickstart`: one apply of an example on a sandbox, then pending pods that get nodes, watched live.
//!
//! Input: an example's folder (`main.tf`, `deployment.yaml`) and the built binaries. Output: the steps with their seconds.
//! It leaves the sandbox up; `--destroy` takes the example down again and proves that the account holds nothing of it.

mod destroy;
mod look;
mod progress;
mod report;
mod setting;
mod unready;
mod watch;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use joiner_sandbox::Layout;
use setting::Setting;

/// The replicas that the Deployment is scaled to unless told otherwise.
const REPLICAS: usize = 10;

/// One apply of an example on a sandbox, then pods that get nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct Quickstart {
    /// The example's folder: `main.tf` and `deployment.yaml`.
    #[arg(long, default_value = "examples/quickstart")]
    example: PathBuf,
    /// The core that applies it: a path or a name in PATH. The bundled OpenTofu when absent.
    #[arg(long)]
    core: Option<PathBuf>,
    /// How many replicas the Deployment is scaled to.
    #[arg(long, default_value_t = REPLICAS)]
    replicas: usize,
    /// The time between an instance's launch and its node, such as 5s, 500ms, 0; of a sandbox that is started now.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = crate::arguments::duration)]
    boot_time: std::time::Duration,
    /// Destroy what the quickstart applied, and prove that nothing is left.
    #[arg(long)]
    destroy: bool,
}

impl Quickstart {
    /// Runs it.
    ///
    /// # Errors
    /// The first step that failed, with its output above.
    pub(crate) async fn run(self, layout: Layout) -> Result<()> {
        if !self.example.join("main.tf").is_file() {
            bail!(
                "--example {} holds no main.tf; run this in the checkout's root, or name an example's folder",
                self.example.display()
            );
        }
        let setting = Setting::prepare(&self, layout).await?;
        setting
            .core("init", &["init", "-input=false", "-no-color"])
            .await?;
        if self.destroy {
            return destroy::run(&setting).await;
        }
        let applied = setting
            .core("ONE apply", &["apply", "-auto-approve", "-input=false"])
            .await?;
        unready::check(&setting)?;
        let client = setting.client().await?;
        let watched = watch::scale_and_watch(&setting, &client, self.replicas).await?;
        report::stages(applied, &watched);
        setting
            .core(
                "plan: no changes",
                &["plan", "-detailed-exitcode", "-input=false"],
            )
            .await
            .context("the plan after the apply is not empty")?;
        report::how_to_go_on(&setting);
        Ok(())
    }
}
