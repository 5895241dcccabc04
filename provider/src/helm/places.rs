//! Where the rendered objects of a release live: their kinds as the cluster serves them, each discovered once.

use super::HelmError;
use crate::cluster::{Cluster, ClusterError, Kind, Objects};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use serde_json::Value;
use std::collections::BTreeMap;

/// The places of one release's objects.
pub(super) struct Places<'a> {
    cluster: &'a Cluster,
    namespace: &'a str,
    kinds: BTreeMap<(String, String), Option<(Kind, Scope)>>,
}

impl<'a> Places<'a> {
    /// Those of a release in `namespace`.
    pub(super) fn new(cluster: &'a Cluster, namespace: &'a str) -> Self {
        Self {
            cluster,
            namespace,
            kinds: BTreeMap::new(),
        }
    }

    /// The objects among which `object` is, which gets its namespace written into it; `None` when its kind is not served.
    pub(super) async fn of(&mut self, object: &mut Value) -> Result<Option<Objects<'a>>, HelmError> {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let key = (text("apiVersion"), text("kind"));
        if !self.kinds.contains_key(&key) {
            let found = self.discover(&key.0, &key.1).await?;
            self.kinds.insert(key.clone(), found);
        }
        let Some(Some((kind, scope))) = self.kinds.get(&key) else {
            return Ok(None);
        };
        if *scope != Scope::Namespaced {
            return Ok(Some(Objects::all(self.cluster, kind.clone()).await?));
        }
        let place = object["metadata"]["namespace"]
            .as_str()
            .unwrap_or(self.namespace)
            .to_owned();
        object["metadata"]["namespace"] = Value::from(place.clone());
        Ok(Some(Objects::within(self.cluster, kind.clone(), &place).await?))
    }

    async fn discover(&self, api_version: &str, kind: &str) -> Result<Option<(Kind, Scope)>, HelmError> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, kind);
        match pinned_kind(self.cluster.client().await?, &kind).await {
            Ok((resource, capabilities)) => Ok(Some((Kind::discovered(resource), capabilities.scope))),
            Err(kube::Error::Discovery(_)) => Ok(None),
            Err(error) => match ClusterError::from_kube(self.cluster.label(), error) {
                error if error.is_absent() => Ok(None),
                error => Err(error.into()),
            },
        }
    }
}
