//! The objects of a live cluster, and how the provider reaches it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value as Json;

use super::piece::{Harvest, Piece};

/// Where the kinds are served; all but the first may be absent.
const PATHS: [&str; 3] = [
    "/apis/karpenter.sh/v1/nodepools",
    "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "/apis/karpenter.sh/v1alpha1/nodeoverlays",
];

/// A kubeconfig as a provider block names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    pub(super) file: String,
    /// The context, where it is not the file's current one.
    pub(super) context: Option<String>,
}

/// The pools, classes and overlays of the cluster.
pub(super) async fn read(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<(Harvest, Place)> {
    let file = file(kubeconfig)?;
    let config = Kubeconfig::read_from(&file).with_context(|| file.display().to_string())?;
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    let config = Config::from_custom_kubeconfig(config, &options)
        .await
        .with_context(|| format!("{} cannot be used", file.display()))?;
    let client = Client::try_from(config).with_context(|| format!("{} cannot be used", file.display()))?;
    let mut harvest = Harvest::default();
    for (index, path) in PATHS.into_iter().enumerate() {
        let request = http::Request::get(path).body(Vec::new())?;
        let answered = client.request::<Json>(request).await;
        let list = match answered {
            Ok(list) => list,
            Err(kube::Error::Api(status)) if status.code == 404 && index > 0 => continue,
            Err(kube::Error::Api(status)) if status.code == 404 => {
                bail!(
                    "the cluster does not serve NodePools of karpenter.sh/v1. Those of older versions: kubectl get \
                     nodepools,ec2nodeclasses,provisioners,awsnodetemplates -o yaml | joiner migrate -"
                );
            }
            Err(error) => return Err(error).with_context(|| format!("GET {path}")),
        };
        let (kind, api_version) = (list["kind"].as_str(), list["apiVersion"].clone());
        let kind = kind
            .and_then(|kind| kind.strip_suffix("List"))
            .unwrap_or_default()
            .to_owned();
        for item in list["items"].as_array().into_iter().flatten() {
            let mut manifest = item.clone();
            manifest["kind"] = kind.clone().into();
            manifest["apiVersion"] = api_version.clone();
            if !manifest["metadata"]["deletionTimestamp"].is_null() {
                let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
                harvest.skipped.push(format!("{kind} {name} is being deleted"));
                continue;
            }
            let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
            harvest.pieces.push(Piece {
                exists: true,
                ..Piece::new(&format!("{kind} {name}"), manifest)
            });
        }
    }
    let place = Place {
        file: file.display().to_string(),
        context: context.map(str::to_owned),
    };
    Ok((harvest, place))
}

/// The kubeconfig file: the one that is named, the first that KUBECONFIG names and that is there, the one in the home directory.
fn file(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(file) = named {
        return Ok(std::path::absolute(file)?);
    }
    let listed = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let home = std::env::home_dir().map(|home| home.join(".kube").join("config"));
    std::env::split_paths(&listed)
        .filter(|path| !path.as_os_str().is_empty())
        .chain(home)
        .find(|path| path.is_file())
        .context(
            "there is no kubeconfig: name one with --kubeconfig, or name files to read instead of a cluster",
        )
}
