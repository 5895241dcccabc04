//! Writes an EC2NodeClass' status, annotations and finalizers.

use joiner_api::{EC2NodeClass, EC2NodeClassStatus};
use joiner_core::text::Text;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::{Act, Failed, Object, transitions};

impl Act {
    /// Sets annotations; others stay.
    pub(crate) async fn annotate_class(
        &self,
        name: &str,
        annotations: &[(&str, &str)],
    ) -> Result<(), Failed> {
        let annotations: serde_json::Map<String, Value> = annotations
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
            .collect();
        self.patch_class(name, &json!({"metadata": {"annotations": annotations}}))
            .await
    }

    /// Replaces the finalizers; fails with a conflict where the class has changed since.
    pub(crate) async fn set_class_finalizers(
        &self,
        class: &EC2NodeClass,
        finalizers: &[String],
    ) -> Result<(), Failed> {
        let version = class.metadata.resource_version.as_deref();
        let patch = json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}});
        self.patch_class(class.metadata.name.as_deref().unwrap_or_default(), &patch)
            .await
    }

    /// Replaces the whole status; fails with a conflict where the class has changed since.
    pub(crate) async fn set_class_status(
        &self,
        class: &EC2NodeClass,
        status: &EC2NodeClassStatus,
    ) -> Result<(), Failed> {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let what = || format!("ec2nodeclass {name}");
        let mut fields = serde_json::to_value(status).unwrap_or_default();
        // A merge patch keeps what it does not name: what is no more is named with null.
        let before = class
            .status
            .as_ref()
            .and_then(|status| serde_json::to_value(status).ok());
        if let (Value::Object(fields), Some(Value::Object(before))) = (&mut fields, before) {
            for key in before.keys() {
                fields.entry(key.clone()).or_insert(Value::Null);
            }
        }
        let patch =
            json!({"metadata": {"resourceVersion": class.metadata.resource_version}, "status": fields});
        let api: Api<EC2NodeClass> = Api::all(self.client.clone());
        let answer = api.patch_status(name, &params(), &Patch::Merge(&patch)).await;
        let written = answer.map_err(|cause| Failed::api(what(), cause))?;
        let conditions = |class: &EC2NodeClass| {
            let status = class.status.as_ref();
            status.map(|status| status.conditions.clone()).unwrap_or_default()
        };
        let about = Object::class(name, written.metadata.uid.as_deref().unwrap_or_default());
        for event in transitions::of(&about, &conditions(class), &conditions(&written)) {
            self.events.publish(event);
        }
        self.index.class(&written);
        Ok(())
    }

    async fn patch_class(&self, name: &str, patch: &Value) -> Result<(), Failed> {
        let api: Api<EC2NodeClass> = Api::all(self.client.clone());
        let answer = api.patch(name, &params(), &Patch::Merge(patch)).await;
        let object = answer.map_err(|cause| Failed::api(format!("ec2nodeclass {name}"), cause))?;
        let finalizers = object.metadata.finalizers.as_ref();
        if object.metadata.deletion_timestamp.is_none() || finalizers.is_some_and(|it| !it.is_empty()) {
            self.index.class(&object);
        } else {
            let gone: Text = name.into();
            self.index.class_gone(&gone, crate::observe::version(&object));
        }
        Ok(())
    }
}

fn params() -> PatchParams {
    PatchParams {
        field_manager: Some(super::FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}
