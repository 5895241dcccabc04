//! Applies the example's Deployment, scales it, and looks at the cluster until all pods run.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use joiner_map::read::yaml_trouble;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::look::look;
use super::progress::Progress;
use super::setting::Setting;
use crate::output;

/// How often the cluster is looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long all pods may take before the quickstart gives up and says how to find out why.
const PATIENCE: Duration = Duration::from_secs(300);

/// Scales to `replicas` and follows the pods.
pub(crate) async fn scale_and_watch(setting: &Setting, client: &Client, replicas: usize) -> Result<Progress> {
    let path = setting.example.join("deployment.yaml");
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let deployment: Deployment = serde_saphyr::from_str(&text)
        .map_err(|error| anyhow!("{} is not a Deployment: {}", path.display(), yaml_trouble(&error)))?;
    let namespace = deployment.namespace().unwrap_or_else(|| "default".to_owned());
    let selector = selector(&deployment);
    let api: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let ours = PatchParams::apply("joiner-quickstart").force();
    api.patch(&deployment.name_any(), &ours, &Patch::Apply(&deployment))
        .await?;

    output::line(&format!(
        "==> scaling {} to {replicas} pods",
        deployment.name_any()
    ));
    let scale = json!({"spec": {"replicas": replicas}});
    let mut progress = Progress::new(replicas);
    let begin = Instant::now();
    api.patch_scale(
        &deployment.name_any(),
        &PatchParams::default(),
        &Patch::Merge(scale),
    )
    .await?;
    while !progress.is_done() {
        if begin.elapsed() > PATIENCE {
            bail!(
                "after {} s not all pods run; `joiner sandbox kubectl -- describe pods` and `joiner sandbox status` say why",
                PATIENCE.as_secs()
            );
        }
        let picture = look(client, &namespace, &selector).await?;
        if let Some(line) = progress.observe(picture, begin.elapsed().as_secs_f64()) {
            output::line(&line);
        }
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(progress)
}

fn selector(deployment: &Deployment) -> String {
    let labels = deployment
        .spec
        .iter()
        .flat_map(|spec| spec.selector.match_labels.iter().flatten());
    labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(",")
}
