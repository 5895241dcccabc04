//! `joiner sandbox kubectl`: becomes kubectl.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use joiner_sandbox::tools::GoTool;
use joiner_sandbox::{Error, Layout, Result, Sandbox};

/// Runs kubectl with the sandbox's settings; returns only when that fails.
pub(crate) async fn run(layout: Layout, arguments: &[String]) -> Result<ExitCode> {
    let sandbox = Sandbox::open(layout)?;
    let tools = super::tools::ensure(GoTool::named("kubectl").into_iter().collect()).await?;
    let program = tools.path("kubectl");
    let cause = Command::new(&program)
        .args(arguments)
        .envs(sandbox.environment())
        .exec();
    Err(Error::Start {
        program: program.display().to_string(),
        cause,
    })
}
