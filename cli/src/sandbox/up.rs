//! `joiner sandbox up` and `reset`.

use std::process::ExitCode;

use joiner_sandbox::tools::GoTool;
use joiner_sandbox::{ClusterSpec, Layout, Result, UpOptions, up};

use crate::arguments::Up;
use crate::output;
use crate::steps::Steps;

/// Starts the sandbox and says how to go on.
pub(crate) async fn run(layout: Layout, arguments: Up) -> Result<ExitCode> {
    let tools = super::tools::ensure(GoTool::control_plane().to_vec()).await?;
    let mut options = UpOptions::new(layout, tools)?;
    options.boot_time = arguments.boot_time;
    options.region = arguments.region;
    options.aws_port = arguments.aws_port;
    options.cluster = (!arguments.no_cluster).then_some(ClusterSpec {
        name: arguments.cluster,
        port: arguments.api_port,
    });
    if let Some(binaries) = arguments.controller_binaries {
        options.binaries = std::path::absolute(&binaries).unwrap_or(binaries);
    }
    let steps = Steps::new();
    let sandbox = up(options, &steps).await?;
    let dir = sandbox.layout().dir().display();
    Ok(output::line(&format!(
        "the sandbox is up ({dir})\n  use it:   eval \"$(joiner sandbox env --dir {dir})\"\n  watch it: joiner sandbox status --dir {dir}\n  end it:   joiner sandbox down --dir {dir}"
    )))
}
