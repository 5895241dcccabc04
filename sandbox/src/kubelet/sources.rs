//! Fetching the config maps and secrets that a pod names. One that is not there is left out: whoever needs it says so.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::Api;

use super::context::Context;
use super::environment::Sources;
use super::volumes;

/// Fetches what `pod` names.
pub(super) async fn fetch(context: &Context, pod: &Pod) -> Result<Sources, kube::Error> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let (maps, secrets) = volumes::references(pod);
    let mut sources = Sources::default();
    let api = Api::<ConfigMap>::namespaced(context.client.clone(), namespace);
    for name in maps {
        if let Some(found) = api.get_opt(&name).await? {
            sources.config_maps.insert(name, map_bytes(found));
        }
    }
    let api = Api::<Secret>::namespaced(context.client.clone(), namespace);
    for name in secrets {
        if let Some(found) = api.get_opt(&name).await? {
            let data = found
                .data
                .unwrap_or_default()
                .into_iter()
                .map(|(key, bytes)| (key, bytes.0));
            sources.secrets.insert(name, data.collect());
        }
    }
    Ok(sources)
}

fn map_bytes(found: ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let text = found
        .data
        .unwrap_or_default()
        .into_iter()
        .map(|(key, text)| (key, text.into_bytes()));
    let binary = found
        .binary_data
        .unwrap_or_default()
        .into_iter()
        .map(|(key, bytes)| (key, bytes.0));
    text.chain(binary).collect()
}
