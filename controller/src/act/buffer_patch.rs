//! Writes a CapacityBuffer's status.

use jiff::Timestamp;
use joiner_core::buffers::Asked;
use joiner_core::conditions::Wanted;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use serde_json::{Map, json};

use super::{Act, Failed, conditions};
use crate::observe::BufferEntry;

impl Act {
    /// Writes how many units the buffer comes to, and conditions; fails with a conflict where it has changed since `entry`.
    pub(crate) async fn set_buffer_status(
        &self,
        resource: &ApiResource,
        entry: &BufferEntry,
        asked: &Asked,
        wanted: &[Wanted],
        now: Timestamp,
    ) -> Result<(), Failed> {
        let meta = &entry.object.metadata;
        let (namespace, name) = (
            meta.namespace.as_deref().unwrap_or("default"),
            meta.name.as_deref().unwrap_or_default(),
        );
        let generation = meta.generation.unwrap_or_default();
        let mut status = Map::new();
        let rows = conditions::applied(&entry.conditions, wanted, &[], generation, now);
        status.insert("conditions".to_owned(), rows);
        if let Some(strategy) = entry.object.data.pointer("/spec/provisioningStrategy") {
            status.insert("provisioningStrategy".to_owned(), strategy.clone());
        }
        if let Asked::Units(units) = asked {
            let template = entry.object.data.pointer("/spec/podTemplateRef").cloned();
            status.insert("replicas".to_owned(), (*units).into());
            status.insert("podTemplateRef".to_owned(), template.unwrap_or_default());
        }
        let patch = json!({"metadata": {"resourceVersion": meta.resource_version}, "status": status});
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, resource);
        let params = PatchParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let answer = api.patch_status(name, &params, &Patch::Merge(&patch)).await;
        let written =
            answer.map_err(|cause| Failed::api(format!("capacitybuffer {namespace}/{name}"), cause))?;
        self.index.buffer(&written);
        Ok(())
    }
}
