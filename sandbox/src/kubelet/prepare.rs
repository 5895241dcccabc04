//! Everything a pod needs before its first container: address, volumes, tokens, web identity, kubeconfig.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::Api;

use super::context::Context;
use super::fields::Facts;
use super::irsa::{self, WebIdentity};
use super::token::Wanted;
use super::{address::Address, mounts, node, pod_identity, sources, token, volumes};
use crate::control_plane::kubeconfig;
use crate::supervisor::write_whole;

/// A pod that may start.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) folder: PathBuf,
    pub(super) address: Arc<Address>,
    /// The folder of each volume, by name.
    pub(super) volumes: BTreeMap<String, PathBuf>,
    /// What each process gets before its container's own environment.
    pub(super) given: BTreeMap<String, String>,
    /// Tokens to be kept fresh, and when each is due.
    pub(super) tokens: Vec<(Wanted, Duration)>,
}

impl Prepared {
    /// The pod's address as text.
    pub(super) fn ip(&self) -> String {
        self.address.ip.to_string()
    }
}

/// Prepares a pod; the error is the text of its `FailedMount` event, and it is tried again.
pub(super) async fn prepare(context: &Context, pod: &Pod, address: Arc<Address>) -> Result<Prepared, String> {
    let folder = context.folder(pod);
    let ip = address.ip.to_string();
    let identity = web_identity(context, pod).await?;
    let sources = sources::fetch(context, pod)
        .await
        .map_err(|error| error.to_string())?;
    let facts = Facts {
        pod,
        pod_ip: &ip,
        host_ip: node::HOST_IP,
        allocatable: &context.allocatable,
    };

    let mut places = BTreeMap::new();
    let mut wanted = Vec::new();
    for volume in pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
        let place = folder.join("volumes").join(&volume.name);
        let content = volumes::content(volume, &place, &facts, &sources)?;
        wanted.extend(content.tokens.iter().cloned());
        match &content.elsewhere {
            Some(elsewhere) => places.insert(volume.name.clone(), elsewhere.clone()),
            None => {
                volumes::write(&place, &content).map_err(|error| format!("{}: {error}", place.display()))?;
                places.insert(volume.name.clone(), place)
            }
        };
    }
    let mut given = context.environment(pod, &ip, &folder);
    if let Some(identity) = identity {
        let file = token::file(&folder.join("web-identity"), "token");
        given.extend(identity.environment(&file, &context.region));
        wanted.push(Wanted {
            audience: Some(identity.audience),
            expiration: identity.expiration,
            file,
        });
    } else if has_pod_identity(context, pod).await {
        let file = token::file(&folder.join("pod-identity"), "token");
        given.extend(pod_identity::environment(
            &file,
            &context.aws_endpoint,
            &context.region,
        ));
        wanted.push(Wanted {
            audience: Some(pod_identity::AUDIENCE.to_owned()),
            expiration: pod_identity::LIFE,
            file,
        });
    }
    let mut tokens = Vec::new();
    for token in wanted {
        let due = token::write(&context.client, pod, &token)
            .await
            .map_err(|error| format!("{error:#}"))?;
        tokens.push((token, due));
    }
    if let Some(path) = write_kubeconfig(context, pod, &places, &folder)? {
        given.insert("KUBECONFIG".to_owned(), path.display().to_string());
    }
    Ok(Prepared {
        folder,
        address,
        volumes: places,
        given,
        tokens,
    })
}

/// Where the API server's clients look for their token in a container.
const API_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// A kubeconfig with the pod's own token, if it has one: in a container the client library would find the token at its fixed
/// path.
fn write_kubeconfig(
    context: &Context,
    pod: &Pod,
    places: &BTreeMap<String, PathBuf>,
    folder: &std::path::Path,
) -> Result<Option<PathBuf>, String> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let token = containers
        .filter_map(|container| {
            mounts::real(
                API_TOKEN,
                &mounts::of(container, |name| places.get(name).cloned()),
            )
        })
        .next();
    let Some(token) = token else { return Ok(None) };
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let text = kubeconfig::for_pod(&context.endpoint, &context.ca, &token, namespace);
    let path = folder.join("kubeconfig");
    write_whole(&path, text.as_bytes()).map_err(|error| crate::chain(&error))?;
    Ok(Some(path))
}

/// Whether the pod's service account is associated with a role. When EKS does not tell, as when it fails a pod starts without.
async fn has_pod_identity(context: &Context, pod: &Pod) -> bool {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let account = service_account(pod);
    let path = pod_identity::path(&context.cluster, namespace, account);
    match crate::aws::get(&context.emulator, "eks", &path).await {
        Ok(list) => pod_identity::is_associated(&list, namespace, account),
        Err(error) => {
            tracing::warn!(%error, pod = ?pod.metadata.name, "EKS does not tell the pod identity associations");
            false
        }
    }
}

fn service_account(pod: &Pod) -> &str {
    pod.spec
        .as_ref()
        .and_then(|spec| spec.service_account_name.as_deref())
        .unwrap_or("default")
}

async fn web_identity(context: &Context, pod: &Pod) -> Result<Option<WebIdentity>, String> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let name = service_account(pod);
    let accounts = Api::<ServiceAccount>::namespaced(context.client.clone(), namespace);
    let account = accounts.get_opt(name).await.map_err(|error| error.to_string())?;
    let Some(account) = account else {
        return Err(format!("serviceaccount {namespace}/{name} not found"));
    };
    Ok(irsa::wanted(&account.metadata.annotations.unwrap_or_default()))
}
