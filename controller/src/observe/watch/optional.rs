//! Kinds that a cluster may or may not serve: they are looked for until they are there.

use std::time::Duration;

use k8s_openapi::api::resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use kube::api::DynamicObject;
use kube::discovery::ApiGroup;
use kube::error::DiscoveryError;
use kube::runtime::watcher;
use kube::{Api, Client, Error, discovery};
use tracing::{info, warn};

use super::{Kind, Told, follow, run};
use crate::observe::entry::{path, version};

/// How often they are looked for.
const AGAIN: Duration = Duration::from_secs(60);

/// Watches CapacityBuffers once they are served.
pub(super) async fn buffers(client: Client, told: Told) {
    let group = "autoscaling.x-k8s.io";
    let kind = |group: &ApiGroup| Some(group.recommended_kind("CapacityBuffer")?.0);
    let resource = served(&client, group, kind, || {}).await;
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

/// Watches what devices are and who claims them, once version 1 of it is served.
pub(super) async fn devices(client: Client, told: Told) {
    let group = "resource.k8s.io";
    let kinds = |group: &ApiGroup| {
        let served = group.versioned_resources("v1");
        served
            .iter()
            .any(|(it, _)| it.kind == "ResourceSlice")
            .then_some(())
    };
    served(&client, group, kinds, || told.index.devices_not_served()).await;
    info!("ResourceSlices are served");
    told.index.devices_served();
    run::<ResourceClaim>(&client, &told);
    run::<ResourceClaimTemplate>(&client, &told);
    run::<DeviceClass>(&client, &told);
    run::<ResourceSlice>(&client, &told);
}

/// Waits until the cluster serves what is looked for in a group; `not_yet` is called each time that it does not.
async fn served<T>(
    client: &Client,
    group: &str,
    look: impl Fn(&ApiGroup) -> Option<T>,
    not_yet: impl Fn(),
) -> T {
    loop {
        match discovery::group(client, group).await {
            Ok(found) => match look(&found) {
                Some(found) => return found,
                None => not_yet(),
            },
            Err(Error::Discovery(DiscoveryError::MissingApiGroup(_))) => not_yet(),
            Err(error) => {
                warn!(group = group, error = %error, "it could not be found out whether a kind is served")
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}
