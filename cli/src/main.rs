//! The command line `joiner`: sandboxes, version, completions.
//!
//! Exit codes: 0 done; 1 the command failed (the reason is on stderr); 2 the arguments are wrong (clap); 130 Ctrl-C.

mod arguments;
mod output;
mod quickstart;
mod sandbox;
mod steps;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Command, Joiner};

fn main() -> ExitCode {
    if let Some(code) = joiner_sandbox::intercept() {
        return code;
    }
    let arguments = Joiner::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(&error),
    };
    let result = runtime.block_on(async {
        tokio::select! {
            result = run(arguments) => result,
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
        }
    });
    // A build in a blocking thread is not waited for: its half-built tool lies in a temporary folder.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => output::fail(&error),
    }
}

async fn run(arguments: Joiner) -> joiner_sandbox::Result<ExitCode> {
    match arguments.command {
        Command::Sandbox(command) => sandbox::run(command).await,
        Command::Version { output } => Ok(version::print(output)),
        Command::Completions { shell } => {
            let mut command = Joiner::command();
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command, "joiner", &mut text);
            Ok(output::bytes(&text))
        }
    }
}
