//! Kinds that a cluster may or may not serve: they are looked for until they are there.

use std::time::Duration;

use kube::api::{ApiResource, DynamicObject};
use kube::error::DiscoveryError;
use kube::runtime::watcher;
use kube::{Api, Client, Error, discovery};
use tracing::{info, warn};

use super::{Kind, Told, follow};
use crate::observe::entry::{path, version};

/// How often they are looked for.
const AGAIN: Duration = Duration::from_secs(60);

/// Watches CapacityBuffers once they are served.
pub(super) async fn buffers(client: Client, told: Told) {
    let resource = served(&client, "autoscaling.x-k8s.io", "CapacityBuffer").await;
    info!(version = %resource.api_version, "CapacityBuffers are served");
    told.index.buffers_served(resource.clone());
    let api: Api<DynamicObject> = Api::all_with(client, &resource);
    let stream = watcher(api, watcher::Config::default());
    let index = &told.index;
    let (is, gone) = (
        |object: &DynamicObject| index.buffer(object),
        |object: &DynamicObject| index.buffer_gone(&path(object), version(object)),
    );
    follow(&told, Kind::Buffer, &resource.kind, stream, is, gone).await;
}

/// Waits until the cluster serves the kind.
async fn served(client: &Client, group: &str, kind: &str) -> ApiResource {
    loop {
        match discovery::group(client, group).await {
            Ok(found) => {
                if let Some((resource, _)) = found.recommended_kind(kind) {
                    return resource;
                }
            }
            Err(Error::Discovery(DiscoveryError::MissingApiGroup(_))) => {}
            Err(error) => {
                warn!(kind = kind, error = %error, "it could not be found out whether a kind is served")
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}
