//! Writes a NodePool's status and hash.

use jiff::Timestamp;
use joiner_api::NodePool;
use joiner_core::conditions::Wanted;
use joiner_core::resources::Resources;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::claim_patch::quantities;
use super::{Act, Failed, Object, conditions, transitions};
use crate::observe::{PoolEntry, map};

/// What to write into a pool's status. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PoolStatus {
    pub conditions: Vec<Wanted>,
    /// How many nodes, and what they have together.
    pub usage: Option<(i64, Resources)>,
    pub class_generation: Option<i64>,
}

impl Act {
    /// Sets annotations; others stay.
    pub(crate) async fn annotate_pool(&self, name: &str, annotations: &[(&str, &str)]) -> Result<(), Failed> {
        let annotations: Map<String, Value> = annotations
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
            .collect();
        let patch = json!({"metadata": {"annotations": annotations}});
        let api: Api<NodePool> = Api::all(self.client.clone());
        let answer = api.patch(name, &params(), &Patch::Merge(&patch)).await;
        let object = answer.map_err(|cause| Failed::api(format!("nodepool {name}"), cause))?;
        self.index.pool(&object);
        Ok(())
    }

    /// Writes a pool's status; fails with a conflict where the pool has changed since `entry`.
    pub(crate) async fn set_pool_status(
        &self,
        entry: &PoolEntry,
        status: &PoolStatus,
        now: Timestamp,
    ) -> Result<(), Failed> {
        let PoolStatus {
            conditions,
            usage,
            class_generation,
        } = status;
        let meta = &entry.object.metadata;
        let mut fields = Map::new();
        if !conditions.is_empty() {
            let standing = map::pool_conditions(&entry.object);
            let generation = meta.generation.unwrap_or_default();
            fields.insert(
                "conditions".to_owned(),
                conditions::applied(&standing, conditions, &[], generation, now),
            );
        }
        if let Some((nodes, resources)) = usage {
            fields.insert("nodes".to_owned(), (*nodes).into());
            fields.insert(
                "resources".to_owned(),
                replaced(&entry.object, quantities(resources)),
            );
        }
        if let Some(generation) = class_generation {
            fields.insert("nodeClassObservedGeneration".to_owned(), (*generation).into());
        }
        let patch = json!({"metadata": {"resourceVersion": meta.resource_version}, "status": fields});
        let api: Api<NodePool> = Api::all(self.client.clone());
        let name = &entry.pool.name;
        let answer = api.patch_status(name, &params(), &Patch::Merge(&patch)).await;
        let object = answer.map_err(|cause| Failed::api(format!("nodepool {name}"), cause))?;
        let conditions = |pool: &NodePool| {
            let status = pool.status.as_ref();
            status.map(|status| status.conditions.clone()).unwrap_or_default()
        };
        let about = Object::pool(name, object.metadata.uid.as_deref().unwrap_or_default());
        for event in transitions::of(&about, &conditions(&entry.object), &conditions(&object)) {
            self.events.publish(event);
        }
        self.index.pool(&object);
        Ok(())
    }
}

/// A merge patch keeps what it does not name: resources that are no more are named with null.
fn replaced(object: &NodePool, mut resources: Value) -> Value {
    let before = object.status.iter().flat_map(|status| status.resources.keys());
    if let Value::Object(fields) = &mut resources {
        for name in before {
            fields.entry(name.clone()).or_insert(Value::Null);
        }
    }
    resources
}

fn params() -> PatchParams {
    PatchParams {
        field_manager: Some(super::FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}
