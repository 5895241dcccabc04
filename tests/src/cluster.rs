//! Looking at a cluster.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_api::NodeClaim;
use k8s_openapi::api::core::v1::{Event, Pod, Secret};
use kube::api::ListParams;
use kube::{Api, Client};

use crate::eventually;

/// All NodeClaims.
///
/// # Errors
/// When the API server does not answer.
pub async fn claims(client: &Client) -> Result<Vec<NodeClaim>> {
    Ok(Api::<NodeClaim>::all(client.clone())
        .list(&ListParams::default())
        .await?
        .items)
}

/// The revisions of a Helm release in the namespace `default`, oldest first, as `REVISION STATUS`.
///
/// # Errors
/// When the API server does not answer.
pub async fn revisions(client: &Client, release: &str) -> Result<Vec<String>> {
    let of_release = ListParams::default().labels(&format!("owner=helm,name={release}"));
    let secrets = Api::<Secret>::namespaced(client.clone(), "default");
    let mut found: Vec<(u32, String)> = Vec::new();
    for secret in secrets.list_metadata(&of_release).await? {
        let labels = secret.metadata.labels.unwrap_or_default();
        let label = |key: &str| labels.get(key).cloned().unwrap_or_default();
        found.push((label("version").parse()?, label("status")));
    }
    found.sort();
    Ok(found
        .into_iter()
        .map(|(revision, status)| format!("{revision} {status}"))
        .collect())
}

/// A Deployment in the namespace `default` whose pods go to nodes with the label `selector` (`KEY: VALUE`); `cpu` is what each asks
/// for, `more` is YAML of the pods' metadata, indented by six.
pub fn deployment(name: &str, selector: &str, replicas: usize, cpu: &str, more: &str) -> String {
    format!(
        r#"---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: default
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
{more}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector:
        {selector}
      containers:
        - name: pause
          image: registry.k8s.io/pause:3.10
          resources:
            requests:
              cpu: "{cpu}"
"#
    )
}

/// Waits until exactly `count` pods with the label `app: NAME` run in the namespace `default`, and answers them.
///
/// # Errors
/// How many run when `patience` has run out.
pub async fn pods_of(client: &Client, name: &str, count: usize, patience: Duration) -> Result<Vec<Pod>> {
    let api = Api::<Pod>::namespaced(client.clone(), "default");
    let of_name = ListParams::default().labels(&format!("app={name}"));
    eventually(&format!("{count} pods of {name} run"), patience, || async {
        let pods = api.list(&of_name).await?.items;
        let running: Vec<Pod> = pods.iter().filter(|pod| is_running(pod)).cloned().collect();
        ensure!(running.len() == count, "{} of {} run", running.len(), pods.len());
        Ok(running)
    })
    .await
}

fn is_running(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    phase == Some("Running") && pod.metadata.deletion_timestamp.is_none()
}

/// The events with `reason` about objects of `kind`, as `NAME: MESSAGE`.
///
/// # Errors
/// When the API server does not answer.
pub async fn events(client: &Client, kind: &str, reason: &str) -> Result<Vec<String>> {
    let chosen = ListParams::default().fields(&format!("reason={reason},involvedObject.kind={kind}"));
    let events = Api::<Event>::all(client.clone()).list(&chosen).await?;
    Ok(events
        .into_iter()
        .map(|event| {
            let about = event.involved_object.name.unwrap_or_default();
            format!("{about}: {}", event.message.unwrap_or_default())
        })
        .collect())
}

/// Waits until exactly `count` pods of `namespace` run.
///
/// # Errors
/// How many run when `patience` has run out.
pub async fn pods_run(client: &Client, namespace: &str, count: usize, patience: Duration) -> Result<()> {
    let api = Api::<Pod>::namespaced(client.clone(), namespace);
    eventually(&format!("{count} pods run in {namespace}"), patience, || async {
        let pods = api.list(&ListParams::default()).await?;
        let running = pods.iter().filter(|pod| is_running(pod)).count();
        ensure!(running == count, "{running} of {} run", pods.items.len());
        Ok(())
    })
    .await
}
