//! `joiner sandbox tools`.

use std::process::ExitCode;

use joiner_sandbox::tools::{GoTool, Tools};
use joiner_sandbox::{Error, Result};

use crate::arguments;
use crate::output;
use crate::steps::Steps;

/// Builds the tools that were named, or all.
pub(crate) async fn run(arguments: arguments::Tools) -> Result<ExitCode> {
    if arguments.path {
        return Ok(output::line(&Tools::locate().bin.display().to_string()));
    }
    if arguments.python {
        return Ok(output::line(&Tools::locate().python.display().to_string()));
    }
    let wanted = if arguments.tools.is_empty() {
        GoTool::ALL.to_vec()
    } else {
        named(&arguments.tools)?
    };
    let tools = ensure(wanted).await?;
    Ok(output::line(&tools.bin.display().to_string()))
}

/// Builds what is missing, off the async thread.
pub(crate) async fn ensure(wanted: Vec<GoTool>) -> Result<Tools> {
    let missing = Tools::locate().missing(&wanted);
    if !missing.is_empty() {
        eprintln!(
            "building {} (once; the whole set takes about 14 minutes on two cores)",
            missing.join(", ")
        );
    }
    tokio::task::spawn_blocking(move || Tools::ensure(&wanted, &Steps::new()))
        .await
        .map_err(|error| Error::Refused(error.to_string()))?
}

fn named(names: &[String]) -> Result<Vec<GoTool>> {
    let find = |name: &String| {
        GoTool::named(name).ok_or_else(|| {
            let known: Vec<&str> = GoTool::ALL.iter().map(|tool| tool.name).collect();
            Error::Refused(format!(
                "there is no tool {name:?}; there are {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(find).collect()
}
