//! The command line `joiner`: simulate, explain, migrate, sandboxes, version, completions.
//!
//! Exit codes: 0 done; 1 the command failed (the reason is on stderr); 2 the arguments are wrong (clap); 3 `simulate
//! --detailed-exitcode` left pods without a node; 130 Ctrl-C.

mod arguments;
mod explain;
mod input;
mod migrate;
mod output;
mod quickstart;
mod sandbox;
mod simulate;
mod steps;
mod version;

use std::error::Error;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Command, Joiner};

fn main() -> ExitCode {
    if let Some(code) = joiner_sandbox::intercept() {
        return code;
    }
    let arguments = Joiner::parse();
    let hint = arguments.command.when_interrupted();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(&error),
    };
    let result = runtime.block_on(async {
        tokio::select! {
            // In this order: whoever is interrupted while a program of the command's holds this thread is interrupted still
            // when that program has ended, whatever became of it.
            biased;
            _ = tokio::signal::ctrl_c() => Ok(output::interrupted(hint)),
            result = run(arguments) => result,
        }
    });
    // A build in a blocking thread is not waited for: its half-built tool lies in a temporary folder.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => output::fail(&*error),
    }
}

async fn run(arguments: Joiner) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    match arguments.command {
        Command::Simulate(command) => Ok(simulate::run(*command).await?),
        Command::Explain(command) => Ok(explain::run(*command).await?),
        Command::Migrate(command) => Ok(migrate::run(command).await?),
        Command::Sandbox(command) => Ok(sandbox::run(command).await?),
        Command::Version { output } => Ok(version::print(output)),
        Command::Completions { shell } => {
            let mut command = Joiner::command();
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command, "joiner", &mut text);
            Ok(output::bytes(&text))
        }
    }
}
