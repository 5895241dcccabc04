//! `joiner explain pod NAME`: why a pod has a node or has none, pool by pool and constraint by constraint, and the smallest
//! change that would help. Against the live cluster, or against files as `joiner simulate` reads them.

mod live;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use joiner_core::snapshot::PodKey;

use crate::arguments::Output;
use crate::output;
use crate::simulate::{Decide, Picture, Source, from_files, picture, progress};

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Explain {
    #[command(subcommand)]
    pub(crate) what: What,
}

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Why a pod has a node, or has none
    #[command(after_help = "\
Examples:
  joiner explain pod web-0 -n shop                     # the cluster of the kubeconfig, types of the account
  joiner explain pod web-0 -n shop cluster.json --region eu-central-1")]
    Pod(Box<Pod>),
}

#[derive(Debug, Args)]
pub(crate) struct Pod {
    /// The pod's name, or NAMESPACE/NAME
    pub(crate) name: String,
    /// Its namespace [default: that of the kubeconfig's context, else default]
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// Files with Kubernetes objects; - reads standard input; none asks the cluster
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Output,
    /// The kubeconfig's context
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    pub(crate) context: Option<String>,
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) decide: Decide,
}

/// Explains and prints.
pub(crate) async fn run(command: Explain) -> Result<ExitCode> {
    let What::Pod(command) = command.what;
    let progress = progress("reading the objects");
    let mut source = command.source.clone();
    let (objects, namespace) = if command.files.is_empty() {
        let (objects, namespace) = live::objects(command.context.as_deref()).await?;
        // A live cluster's types are those of its account.
        source.from_account = source.region.is_none();
        (objects, Some(namespace))
    } else {
        let files = command.files.clone();
        (
            tokio::task::spawn_blocking(move || from_files(&files)).await??,
            None,
        )
    };
    let key = key(&command, namespace);
    let picture = picture(objects, &command.decide, &source, &progress).await?;
    progress.set_message("looking for reasons");
    let explained = tokio::task::spawn_blocking(move || report::explain(&picture, &key)).await??;
    progress.finish_and_clear();
    Ok(match command.output {
        Output::Json => output::json(&explained),
        Output::Table => output::line(&explained.text()),
    })
}

fn key(command: &Pod, namespace: Option<String>) -> PodKey {
    match (command.name.split_once('/'), &command.namespace) {
        (Some((namespace, name)), None) => PodKey::new(namespace, name),
        (_, Some(namespace)) => PodKey::new(namespace.as_str(), command.name.as_str()),
        (None, None) => PodKey::new(
            namespace.unwrap_or_else(|| "default".to_owned()),
            command.name.as_str(),
        ),
    }
}

/// The pod, wherever it is.
fn find<'a>(picture: &'a Picture, key: &PodKey) -> Result<&'a joiner_core::snapshot::Pod> {
    let snapshot = &picture.parts.snapshot;
    let bound = snapshot.nodes.iter().flat_map(|node| &node.pods);
    let found = snapshot.pending.iter().chain(bound).find(|pod| pod.key == *key);
    match found {
        Some(pod) => Ok(pod),
        None => {
            let all = snapshot
                .pending
                .iter()
                .chain(snapshot.nodes.iter().flat_map(|node| &node.pods));
            let near: Vec<String> = all
                .filter(|pod| pod.key.name.contains(&*key.name) || key.name.contains(&*pod.key.name))
                .map(|pod| pod.key.to_string())
                .take(3)
                .collect();
            let hint = if near.is_empty() {
                String::new()
            } else {
                format!(" (was {} meant?)", near.join(" or "))
            };
            bail!("there is no pod {key} that is pending or on a node of the input{hint}")
        }
    }
}
