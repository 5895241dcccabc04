//! The objects of a live cluster, read through its API as they are.

use anyhow::{Context as _, Result};
use joiner_map::{Objects, read};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// What is read; where the last is false, a cluster may lack it or not let us look.
const PATHS: [(&str, bool); 22] = [
    ("/apis/karpenter.sh/v1/nodepools", true),
    ("/api/v1/pods", true),
    ("/api/v1/nodes", true),
    ("/apis/karpenter.sh/v1/nodeclaims", true),
    ("/apis/apps/v1/daemonsets", true),
    ("/apis/karpenter.k8s.aws/v1/ec2nodeclasses", false),
    ("/apis/karpenter.sh/v1alpha1/nodeoverlays", false),
    ("/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers", false),
    ("/api/v1/namespaces", false),
    ("/api/v1/persistentvolumeclaims", false),
    ("/api/v1/persistentvolumes", false),
    ("/api/v1/services", false),
    ("/apis/apps/v1/replicasets", false),
    ("/apis/apps/v1/statefulsets", false),
    ("/apis/policy/v1/poddisruptionbudgets", false),
    ("/apis/storage.k8s.io/v1/storageclasses", false),
    ("/apis/storage.k8s.io/v1/csinodes", false),
    ("/apis/scheduling.k8s.io/v1/priorityclasses", false),
    ("/apis/resource.k8s.io/v1/resourceclaims", false),
    ("/apis/resource.k8s.io/v1/resourceclaimtemplates", false),
    ("/apis/resource.k8s.io/v1/deviceclasses", false),
    ("/apis/resource.k8s.io/v1/resourceslices", false),
];

/// The cluster's objects, and the namespace that its context names.
pub(super) async fn objects(context: Option<&str>) -> Result<(Objects, String)> {
    let config = config(context).await.context("the kubeconfig cannot be used")?;
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config).context("the kubeconfig cannot be used")?;
    let mut objects = Objects::default();
    for (path, needed) in PATHS {
        let request = http::Request::get(path).body(Vec::new())?;
        match client.request_text(request).await {
            Ok(text) => read::read(path, &text, &mut objects)?,
            Err(error) if needed => return Err(error).with_context(|| format!("GET {path}")),
            Err(_) => {}
        }
    }
    Ok((objects, namespace))
}

async fn config(context: Option<&str>) -> Result<Config> {
    Ok(match context {
        None => Config::infer().await?,
        Some(name) => {
            let options = KubeConfigOptions {
                context: Some(name.to_owned()),
                ..KubeConfigOptions::default()
            };
            Config::from_custom_kubeconfig(Kubeconfig::read()?, &options).await?
        }
    })
}
