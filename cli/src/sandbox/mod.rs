//! `joiner sandbox ...`: one file a command.

mod cluster;
pub(crate) mod env;
mod kubectl;
mod logs;
mod status;
pub(crate) mod tools;
mod up;

use std::process::ExitCode;

use joiner_sandbox::{Layout, Result, Sandbox};

use crate::arguments::{self, SandboxCommand};
use crate::output;

/// Runs a command on the sandbox that is meant.
pub(crate) async fn run(arguments: arguments::Sandbox) -> Result<ExitCode> {
    let which = arguments.which;
    let layout = Layout::choose(which.dir.as_deref(), which.name.as_deref())?;
    match arguments.command {
        SandboxCommand::Up(up) => up::run(layout, up).await,
        SandboxCommand::Reset(up) => {
            Sandbox::wipe(&layout).await?;
            up::run(layout, up).await
        }
        SandboxCommand::Down => down(&layout).await,
        SandboxCommand::Status { output } => status::run(&layout, output).await,
        SandboxCommand::Tools(tools) => tools::run(tools).await,
        SandboxCommand::Env { output } => env::run(layout, output),
        SandboxCommand::Logs(logs) => logs::run(&layout, &logs).await,
        SandboxCommand::Kubectl { arguments } => kubectl::run(layout, &arguments).await,
        SandboxCommand::Cluster(command) => cluster::run(layout, command.command).await,
        SandboxCommand::Quickstart(quickstart) => quickstart
            .run(layout)
            .await
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| joiner_sandbox::Error::Refused(format!("{error:#}"))),
    }
}

async fn down(layout: &Layout) -> Result<ExitCode> {
    let was_running = Sandbox::down(layout).await?;
    let text = if was_running {
        "the sandbox has ended"
    } else {
        "no sandbox was running"
    };
    Ok(output::line(&format!("{text} ({})", layout.dir().display())))
}
