//! The provider `sandbox`: the resource `sandbox_cluster`, which offers what `aws_eks_cluster` does, from the sandbox that
//! runs on this machine.

mod cluster;
mod model;

use std::path::Path;
use std::process::ExitCode;

use tfplugin::{Configured, Context, Diagnostics, Field, Model, Offers, Provider, ServeOptions, async_trait};

use crate::layout::Layout;

/// Clusters of a Joiner sandbox: a whole cloud on this machine, started by `joiner sandbox up`.
#[derive(Clone, Debug, Model)]
struct Settings {
    /// Folder of the sandbox. Without it and `name` the environment variable `JOINER_SANDBOX` counts, then the default folder.
    dir: Field<String>,
    /// Name of the sandbox, when several run side by side.
    name: Field<String>,
}

struct Sandboxes;

#[async_trait]
impl Provider for Sandboxes {
    type Model = Settings;
    type Data = Layout;

    async fn configure(
        &self,
        _ctx: &Context<Layout>,
        config: Settings,
    ) -> Result<Configured<Layout>, Diagnostics> {
        if config.dir.is_unknown() || config.name.is_unknown() {
            return Ok(Configured::UnknownUntilApply);
        }
        let layout = Layout::choose(config.dir.as_str().map(Path::new), config.name.as_str());
        layout
            .map(Configured::ready)
            .map_err(|error| Diagnostics::error("Which sandbox?", crate::chain(&error)))
    }

    fn offers(&self) -> Offers<Layout> {
        Offers::new().resource(cluster::ClusterResource)
    }
}

/// Serves the provider until the core ends it.
pub fn main() -> ExitCode {
    let options = ServeOptions {
        address: "registry.opentofu.org/joiner-dev/sandbox",
        version: env!("CARGO_PKG_VERSION"),
    };
    tfplugin::serve(options, Sandboxes)
}
