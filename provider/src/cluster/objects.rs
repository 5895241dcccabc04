//! Objects of one kind in one cluster, as JSON.

use super::{Cluster, ClusterError};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;

/// A kind, with the plural that its URL has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind(ApiResource);

impl Kind {
    /// The kind `kind` of `group/version`, served under `plural`; an empty group is the core group.
    pub(crate) fn new(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self(ApiResource::from_gvk_with_plural(
            &GroupVersionKind::gvk(group, version, kind),
            plural,
        ))
    }

    /// A kind as discovery found it.
    pub(crate) fn discovered(resource: ApiResource) -> Self {
        Self(resource)
    }

    /// `group/version`, or just the version in the core group.
    pub(crate) fn api_version(&self) -> &str {
        &self.0.api_version
    }

    /// For example `NodePool`.
    pub(crate) fn kind(&self) -> &str {
        &self.0.kind
    }

    /// For example `nodepools.karpenter.sh`.
    pub(crate) fn plural_name(&self) -> String {
        if self.0.group.is_empty() {
            self.0.plural.clone()
        } else {
            format!("{}.{}", self.0.plural, self.0.group)
        }
    }
}

/// How an object is applied.
#[derive(Debug, Clone)]
pub(crate) struct ApplyOptions {
    /// The field manager.
    pub field_manager: String,
    /// Take fields over from other managers.
    pub force_conflicts: bool,
    /// Let the server say what would be, and store nothing.
    pub dry_run: bool,
}

/// The object as the server answered.
#[derive(Debug, Clone)]
pub(crate) struct Applied(pub Value);

/// What must hold for a deletion to happen.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeletePreconditions {
    /// The object's uid.
    pub uid: Option<String>,
}

/// The objects of one kind, in one namespace when it is a namespaced kind.
pub(crate) struct Objects<'a> {
    cluster: &'a Cluster,
    kind: Kind,
    api: Api<DynamicObject>,
}

impl<'a> Objects<'a> {
    /// The objects of a cluster-wide kind, or of all namespaces.
    pub(crate) async fn all(cluster: &'a Cluster, kind: Kind) -> Result<Self, ClusterError> {
        let api = Api::all_with(cluster.client().await?.clone(), &kind.0);
        Ok(Self { cluster, kind, api })
    }

    /// The objects in one namespace.
    pub(crate) async fn within(
        cluster: &'a Cluster,
        kind: Kind,
        namespace: &str,
    ) -> Result<Self, ClusterError> {
        let api = Api::namespaced_with(cluster.client().await?.clone(), namespace, &kind.0);
        Ok(Self { cluster, kind, api })
    }

    /// One object; `None` when it, or its kind, does not exist.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<Value>, ClusterError> {
        match self.api.get(name).await {
            Ok(object) => Ok(Some(self.json(object)?)),
            Err(error) => match self.sort(error) {
                error if error.is_absent() => Ok(None),
                error => Err(error),
            },
        }
    }

    /// The objects that a label selector matches; empty when the kind is not served.
    pub(crate) async fn list(&self, labels: Option<&str>) -> Result<Vec<Value>, ClusterError> {
        let params = ListParams {
            label_selector: labels.map(str::to_owned),
            ..ListParams::default()
        };
        match self.api.list(&params).await {
            Ok(list) => list.items.into_iter().map(|object| self.json(object)).collect(),
            Err(error) => match self.sort(error) {
                ClusterError::KindMissing { .. } => Ok(Vec::new()),
                error => Err(error),
            },
        }
    }

    /// Server-side apply. Conflicts come back as [`ClusterError::Conflict`].
    pub(crate) async fn apply(
        &self,
        name: &str,
        object: &Value,
        options: &ApplyOptions,
    ) -> Result<Applied, ClusterError> {
        let params = PatchParams {
            dry_run: options.dry_run,
            force: options.force_conflicts,
            field_manager: Some(options.field_manager.clone()),
            field_validation: Some(kube::api::ValidationDirective::Strict),
        };
        let answer = self.api.patch(name, &params, &Patch::Apply(object)).await;
        match answer {
            Ok(object) => Ok(Applied(self.json(object)?)),
            Err(error) => Err(self.sort(error)),
        }
    }

    /// Deletes in the foreground: dependants first. Absence is success.
    pub(crate) async fn delete(&self, name: &str, only_if: DeletePreconditions) -> Result<(), ClusterError> {
        let mut params = DeleteParams::foreground();
        if let Some(uid) = only_if.uid {
            params = params.preconditions(Preconditions {
                uid: Some(uid),
                resource_version: None,
            });
        }
        match self.api.delete(name, &params).await {
            Ok(_) => Ok(()),
            Err(error) => match self.sort(error) {
                error if error.is_absent() => Ok(()),
                error => Err(error),
            },
        }
    }

    fn sort(&self, error: kube::Error) -> ClusterError {
        match ClusterError::from_kube(self.cluster.label(), error) {
            ClusterError::KindMissing { cluster, .. } => ClusterError::KindMissing {
                cluster,
                kind: self.kind.plural_name(),
            },
            error => error,
        }
    }

    fn json(&self, object: DynamicObject) -> Result<Value, ClusterError> {
        let mut value = serde_json::to_value(object).map_err(|error| ClusterError::Unexpected {
            cluster: self.cluster.label().to_owned(),
            cause: error.to_string(),
        })?;
        // Items of a list come without their type.
        if value.get("kind").is_none() {
            value["apiVersion"] = Value::from(self.kind.api_version());
            value["kind"] = Value::from(self.kind.kind());
        }
        Ok(value)
    }
}

/// The uid in an object's metadata.
pub(crate) fn uid(object: &Value) -> Option<&str> {
    object["metadata"]["uid"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::client::Body;
    use serde_json::json;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn a_delete_is_in_the_foreground_and_of_this_very_object() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let heard = Arc::clone(&heard);
            async move {
                let (parts, body) = request.into_parts();
                let body: Value = serde_json::from_slice(&body.collect_bytes().await?).unwrap_or_default();
                let call = format!("{} {}", parts.method, parts.uri.path());
                heard.lock().expect("nobody panics").push((call, body));
                let done = json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" });
                Ok::<_, kube::Error>(http::Response::new(Body::from(done.to_string().into_bytes())))
            }
        });
        let cluster = Cluster::from_client("c", kube::Client::new(service, "default"));
        let kind = Kind::new("karpenter.sh", "v1", "NodePool", "nodepools");
        let pools = Objects::all(&cluster, kind).await.expect("a client");
        let only_if = DeletePreconditions {
            uid: Some("u".to_owned()),
        };
        pools.delete("p", only_if).await.expect("deleted");
        let asked = asked.lock().expect("nobody panics");
        let [(call, body)] = asked.as_slice() else {
            panic!("{asked:?}");
        };
        assert_eq!(call, "DELETE /apis/karpenter.sh/v1/nodepools/p");
        assert_eq!(body["propagationPolicy"], "Foreground", "{body}");
        assert_eq!(body["preconditions"]["uid"], "u", "{body}");
    }
}
