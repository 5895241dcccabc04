//! Writes what became of a NodeClaim: labels and annotations of the instance, finalizers, status.
//!
//! The answer goes into the index at once, so that the next decision knows it before the watch does.

use std::collections::BTreeMap;

use jiff::Timestamp;
use joiner_api::NodeClaim;
use joiner_core::conditions::Wanted;
use joiner_core::resources::Resources;
use joiner_core::text::{Labels, Text};
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::{Act, Failed, conditions};
use crate::observe::{ClaimEntry, map};

/// What to write into a claim's status. What is `None` or empty stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClaimStatus {
    pub conditions: Vec<Wanted>,
    /// Types of conditions that are to be no more.
    pub drop_conditions: Vec<&'static str>,
    pub provider_id: Option<Text>,
    pub image_id: Option<Text>,
    pub node_name: Option<Text>,
    pub capacity: Option<Resources>,
    pub allocatable: Option<Resources>,
    pub last_pod_event: Option<Timestamp>,
}

impl Act {
    /// Sets labels and annotations; others stay.
    pub(crate) async fn label_claim(
        &self,
        name: &Text,
        labels: &Labels,
        annotations: &Labels,
    ) -> Result<ClaimEntry, Failed> {
        let patch = json!({"metadata": {"labels": texts(labels), "annotations": texts(annotations)}});
        self.patch_claim(name, &patch, Part::Object).await
    }

    /// Says that the claim's instance, whose reservation has ended, runs on demand.
    pub(crate) async fn demote_claim(&self, name: &Text) -> Result<(), Failed> {
        self.patch_claim(name, &super::on_demand(), Part::Object)
            .await
            .map(drop)
    }

    /// Replaces the finalizers; fails with a conflict where the claim has changed since `entry`.
    pub(crate) async fn set_claim_finalizers(
        &self,
        entry: &ClaimEntry,
        finalizers: &[Text],
    ) -> Result<(), Failed> {
        let finalizers: Vec<&str> = finalizers.iter().map(|it| &**it).collect();
        let patch =
            json!({"metadata": {"finalizers": finalizers, "resourceVersion": entry.resource_version}});
        self.patch_claim(&entry.claim.name, &patch, Part::Object)
            .await
            .map(drop)
    }

    /// Writes a claim's status; fails with a conflict where the claim has changed since `entry`, since the list of
    /// conditions can only be written as a whole.
    pub(crate) async fn set_claim_status(
        &self,
        entry: &ClaimEntry,
        status: &ClaimStatus,
        now: Timestamp,
    ) -> Result<ClaimEntry, Failed> {
        let ClaimStatus {
            conditions,
            drop_conditions,
            provider_id,
            image_id,
            node_name,
            capacity,
            allocatable,
            last_pod_event,
        } = status;
        let mut fields = Map::new();
        if !conditions.is_empty() || !drop_conditions.is_empty() {
            let standing = &entry.claim.conditions;
            let all = conditions::applied(standing, conditions, drop_conditions, entry.generation, now);
            fields.insert("conditions".to_owned(), all);
        }
        for (field, value) in [
            ("providerID", provider_id),
            ("imageID", image_id),
            ("nodeName", node_name),
        ] {
            if let Some(value) = value {
                fields.insert(field.to_owned(), Value::from(&**value));
            }
        }
        for (field, amounts) in [("capacity", capacity), ("allocatable", allocatable)] {
            if let Some(amounts) = amounts {
                fields.insert(field.to_owned(), quantities(amounts));
            }
        }
        if let Some(time) = last_pod_event {
            let second = Timestamp::from_second(time.as_second()).unwrap_or(*time);
            fields.insert("lastPodEventTime".to_owned(), second.to_string().into());
        }
        let patch = json!({"metadata": {"resourceVersion": entry.resource_version}, "status": fields});
        self.patch_claim(&entry.claim.name, &patch, Part::Status).await
    }

    async fn patch_claim(&self, name: &Text, patch: &Value, part: Part) -> Result<ClaimEntry, Failed> {
        let api: Api<NodeClaim> = Api::all(self.client.clone());
        let params = PatchParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let answer = match part {
            Part::Object => api.patch(name, &params, &Patch::Merge(patch)).await,
            Part::Status => api.patch_status(name, &params, &Patch::Merge(patch)).await,
        };
        let object = answer.map_err(|cause| Failed::api(format!("nodeclaim {name}"), cause))?;
        // Without finalizers an object that is being deleted is gone with this very write.
        let held = object
            .metadata
            .finalizers
            .as_ref()
            .is_some_and(|it| !it.is_empty());
        if object.metadata.deletion_timestamp.is_none() || held {
            self.index.claim(&object);
        } else {
            self.index.claim_gone(name, crate::observe::version(&object));
        }
        Ok(ClaimEntry::new(&object))
    }
}

/// Which part of an object a patch is for.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Status,
}

fn texts(labels: &Labels) -> BTreeMap<&str, &str> {
    labels.iter().map(|(key, value)| (&**key, &**value)).collect()
}

/// Amounts as a status field.
pub(super) fn quantities(amounts: &Resources) -> Value {
    map::to_api(amounts)
        .into_iter()
        .map(|(name, amount)| (name, Value::from(amount.to_string())))
        .collect()
}
