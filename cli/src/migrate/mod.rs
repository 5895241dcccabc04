//! `joiner migrate`: what exists as a configuration, with import blocks.
//!
//! sources (a live cluster, manifests of each version, Auto Scaling groups) -> pieces (objects as they are served now, with remarks) ->
//! attributes -> HCL. Invariant: whatever has no counterpart is said by name.

mod alpha;
mod arguments;
mod attributes;
mod autoscaling;
mod beta;
mod configuration;
mod current;
mod files;
mod hcl;
mod images;
mod kubelets;
mod live;
mod names;
mod piece;
mod shape;
mod write;

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

pub(crate) use arguments::Migrate;
use autoscaling::Account;
use configuration::{Configuration, Options, Reach};
use current::Kind;
use files::Document;
use piece::{Harvest, Piece};

/// Reads, converts and writes.
pub(crate) async fn run(command: Migrate) -> Result<ExitCode> {
    let mut reach = command.cluster_name.clone().map(Reach::Eks);
    let mut harvest = if command.files.is_empty() {
        let (harvest, place) = live::read(command.kubeconfig.as_deref(), command.context.as_deref()).await?;
        reach = Some(Reach::Kubeconfig(place));
        harvest
    } else {
        sort(files::read(&command.files)?, command.cluster_name.as_deref())?
    };
    kubelets::settle(&mut harvest);
    for skipped in &harvest.skipped {
        eprintln!("left out: {skipped}");
    }
    if harvest.pieces.is_empty() {
        bail!("there is no NodePool, EC2NodeClass, NodeOverlay or group to write");
    }
    let options = Options {
        import: !command.no_import,
        provider: !command.no_provider,
        reach,
    };
    let configuration = Configuration::of(&harvest, &options)?;
    for (address, remark) in &configuration.remarks {
        eprintln!("{address}: {remark}");
    }
    match &command.output {
        None => Ok(crate::output::bytes(configuration.text().as_bytes())),
        Some(folder) => {
            let overwrite = if command.force {
                write::Overwrite::Yes
            } else {
                write::Overwrite::No
            };
            write::files(folder, &configuration, overwrite)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The pieces of documents, each by its kind and version.
fn sort(documents: Vec<Document>, cluster: Option<&str>) -> Result<Harvest> {
    let mut harvest = Harvest::default();
    let mut account = Account::default();
    for Document { file, value } in documents {
        if account.take(&file, &value) {
            continue;
        }
        let text = |pointer: &str| {
            value
                .pointer(pointer)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, version, name) = (text("/kind"), text("/apiVersion"), text("/metadata/name"));
        let source = format!("{kind} {name} ({file})");
        shape::check(&source, &kind, &version, &value)?;
        match (kind.as_str(), version.as_str()) {
            ("NodePool", "karpenter.sh/v1beta1") => harvest.append(beta::node_pool(&source, value)),
            ("EC2NodeClass", "karpenter.k8s.aws/v1beta1") => harvest.append(beta::node_class(&source, value)),
            ("Provisioner", "karpenter.sh/v1alpha5") => harvest.append(alpha::provisioner(&source, value)),
            ("AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1") => {
                harvest.append(alpha::node_template(&source, value));
            }
            _ if Kind::of(&value).is_some() => harvest.pieces.push(Piece {
                exists: true,
                ..Piece::new(&source, value)
            }),
            ("", _) => harvest.skipped.push(format!(
                "a document in {file} that is neither a Kubernetes object nor an answer of aws"
            )),
            _ => harvest
                .skipped
                .push(format!("{source} of {version}: no resource has such objects")),
        }
    }
    harvest.append(account.harvest(cluster));
    Ok(harvest)
}

/// A manifest of the version that is served now, with the metadata that a user writes.
fn manifest(kind: &str, metadata: &Json, spec: Json) -> Json {
    let api_version = match kind {
        "EC2NodeClass" => "karpenter.k8s.aws/v1",
        _ => "karpenter.sh/v1",
    };
    let mut new = json!({ "name": metadata["name"] });
    for key in ["labels", "annotations"] {
        piece::put(
            &mut new,
            key,
            Some(metadata[key].clone()).filter(piece::says_something),
        );
    }
    json!({ "apiVersion": api_version, "kind": kind, "metadata": new, "spec": spec })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(value: Json) -> Document {
        Document {
            file: "f".to_owned(),
            value,
        }
    }

    #[test]
    fn documents_are_sorted_by_kind_and_version() {
        let object = |kind: &str, version: &str| {
            document(json!({ "kind": kind, "apiVersion": version, "metadata": { "name": "x" }, "spec": {} }))
        };
        let harvest = sort(
            vec![
                object("NodePool", "karpenter.sh/v1"),
                object("NodePool", "karpenter.sh/v1beta1"),
                object("AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1"),
                object("NodeOverlay", "karpenter.sh/v1alpha1"),
                object("Deployment", "apps/v1"),
                document(json!({ "AutoScalingGroups": [{ "AutoScalingGroupName": "g" }] })),
                document(json!({ "other": 1 })),
            ],
            None,
        )
        .expect("all of their shapes");
        let kinds: Vec<(&str, bool)> = harvest
            .pieces
            .iter()
            .map(|piece| (piece.kind(), piece.exists))
            .collect();
        assert_eq!(
            kinds,
            [
                ("NodePool", true),
                ("NodePool", true),
                ("EC2NodeClass", false),
                ("NodeOverlay", true),
                ("EC2NodeClass", false),
                ("NodePool", false),
            ]
        );
        let wrong = json!({ "kind": "Provisioner", "apiVersion": "karpenter.sh/v1alpha5", "metadata": { "name": "x" }, "spec": "hello" });
        let error = sort(vec![document(wrong)], None).expect_err("a text").to_string();
        assert!(
            error.starts_with("Provisioner x (f): spec: \"hello\" found"),
            "{error}"
        );
        assert_eq!(harvest.skipped.len(), 2);
        assert!(
            harvest.skipped[0].contains("Deployment x (f) of apps/v1"),
            "{:?}",
            harvest.skipped
        );
    }
}
