//! Writes a NodeOverlay's conditions.

use jiff::Timestamp;
use joiner_api::NodeOverlay;
use joiner_core::conditions::Wanted;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::{Act, Failed, Object, conditions, transitions};
use crate::observe::{OverlayEntry, map};

impl Act {
    /// Writes conditions; fails with a conflict where the overlay has changed since `entry`.
    pub(crate) async fn set_overlay_conditions(
        &self,
        entry: &OverlayEntry,
        wanted: &[Wanted],
        now: Timestamp,
    ) -> Result<(), Failed> {
        let meta = &entry.object.metadata;
        let name = meta.name.as_deref().unwrap_or_default();
        let standing = map::overlay_conditions(&entry.object);
        let generation = meta.generation.unwrap_or_default();
        let rows = conditions::applied(&standing, wanted, &[], generation, now);
        let patch =
            json!({"metadata": {"resourceVersion": meta.resource_version}, "status": {"conditions": rows}});
        let api: Api<NodeOverlay> = Api::all(self.client.clone());
        let params = PatchParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let answer = api.patch_status(name, &params, &Patch::Merge(&patch)).await;
        let written = answer.map_err(|cause| Failed::api(format!("nodeoverlay {name}"), cause))?;
        let conditions = |overlay: &NodeOverlay| {
            let status = overlay.status.as_ref();
            status.map(|status| status.conditions.clone()).unwrap_or_default()
        };
        let about = Object::overlay(name, written.metadata.uid.as_deref().unwrap_or_default());
        for event in transitions::of(&about, &conditions(&entry.object), &conditions(&written)) {
            self.events.publish(event);
        }
        self.index.overlay(&written);
        Ok(())
    }
}
