//! `joiner sandbox cluster ...`.

use std::process::ExitCode;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use joiner_sandbox::{ClusterSpec, Layout, Result, Sandbox};

use crate::arguments::{ClusterCommand, Output};
use crate::output;

/// Shows, creates or deletes clusters.
pub(crate) async fn run(layout: Layout, command: ClusterCommand) -> Result<ExitCode> {
    let sandbox = Sandbox::open(layout)?;
    match command {
        ClusterCommand::List { output: Output::Json } => Ok(output::json(&sandbox.clusters().await?)),
        ClusterCommand::List {
            output: Output::Table,
        } => {
            let mut table = Table::new();
            table
                .load_style(NOTHING)
                .set_header(["NAME", "VERSION", "ENDPOINT", "KUBECONFIG"]);
            for cluster in sandbox.clusters().await? {
                let kubeconfig = cluster.kubeconfig.display().to_string();
                table.add_row([cluster.name, cluster.version, cluster.endpoint, kubeconfig]);
            }
            Ok(output::line(&table.to_string()))
        }
        ClusterCommand::Create {
            cluster: name,
            api_port,
        } => {
            let cluster = sandbox
                .create_cluster(&ClusterSpec { name, port: api_port })
                .await?;
            Ok(output::line(&format!(
                "cluster {} is up at {}",
                cluster.name, cluster.endpoint
            )))
        }
        ClusterCommand::Delete { cluster: name } => {
            sandbox.delete_cluster(&name).await?;
            Ok(output::line(&format!("cluster {name} is gone")))
        }
    }
}
