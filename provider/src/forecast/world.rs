//! The cluster at one moment: read once in a process of the provider, for all changes that it plans.

use super::claims;
use super::controller::{self, Controller, Environment};
use super::lists::{Items, pages};
use super::subject::Subject;
use super::trouble::Trouble;
use crate::cluster::{Cluster, ClusterError};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use joiner_api::{EC2NodeClass, NodeClaim};
use joiner_core::disrupt::drift::Machine;
use joiner_core::snapshot::{Claim, Settings, Snapshot};
use joiner_core::text::Text;
use joiner_map::{Objects, Overlay, drift, read};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What is read. A kind that the cluster does not serve has no objects; one that may not be listed ends the forecast.
const LISTS: [&str; 13] = [
    "/apis/karpenter.sh/v1/nodepools",
    "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    claims::PATH,
    "/api/v1/nodes",
    "/api/v1/pods",
    "/apis/apps/v1/daemonsets",
    "/apis/policy/v1/poddisruptionbudgets",
    "/api/v1/namespaces",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/persistentvolumes",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/karpenter.sh/v1alpha1/nodeoverlays",
];
/// How many lists are read at a time.
const AT_ONCE: usize = 6;

/// The cluster as decisions look at it, and what they need beside it.
pub(crate) struct World {
    /// Nodes, pods and all that says where pods may go.
    pub(super) snapshot: Snapshot,
    /// The node classes, by name.
    pub(super) classes: BTreeMap<Text, Arc<EC2NodeClass>>,
    /// Corrections to the catalogue.
    pub(super) overlays: Vec<Overlay>,
    /// What claims say of their instances, by the name of the claim.
    pub(super) machines: BTreeMap<Text, Machine>,
    /// The settings of the controller's newest pod, when there is one.
    pub(super) controller: Option<Environment>,
    live: BTreeMap<(Subject, String), Json>,
}

impl World {
    /// The pool or class of this name, as the API server has it.
    pub(super) fn live(&self, subject: Subject, name: &str) -> Option<&Json> {
        self.live.get(&(subject, name.to_owned()))
    }

    /// The cluster as a controller looks at it.
    pub(super) fn decided_by(&self, controller: &Controller) -> Snapshot {
        let mut snapshot = self.snapshot.clone();
        snapshot.settings.clone_from(&controller.settings);
        snapshot
    }

    /// Whether there are claims of this pool or class.
    pub(super) fn has_claims(&self, subject: Subject, name: &str) -> bool {
        self.claims_of(subject, name).next().is_some()
    }

    /// The claims of this pool or class.
    pub(super) fn claims_of<'a>(
        &'a self,
        subject: Subject,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Claim>> {
        let claims = self.snapshot.nodes.iter().filter_map(|node| node.claim.as_ref());
        claims.filter(move |claim| {
            let owner = claim.labels.get(subject.label());
            owner.is_some_and(|owner| **owner == *name)
        })
    }

    /// Reads the cluster. The answer has one type, however it is come by: the calls of a core have enough of their own.
    pub(super) fn read(cluster: &Cluster) -> BoxFuture<'_, Result<Self, Trouble>> {
        Box::pin(Self::all(cluster))
    }

    async fn all(cluster: &Cluster) -> Result<Self, Trouble> {
        let found = Mutex::new(Found::default());
        let ask = |path: &'static str| {
            let found = &found;
            async move {
                let take = |page: &str| {
                    found
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take(path, page)
                };
                (path, pages(cluster, path, take).await)
            }
        };
        let answers: Vec<(&str, Result<(), ClusterError>)> = futures::stream::iter(LISTS.map(ask))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let mut forbidden = Vec::new();
        for (path, answer) in answers {
            match answer {
                Ok(()) => {}
                Err(error) if error.is_absent() => {}
                Err(ClusterError::Forbidden { .. }) => forbidden.push(last(path).to_owned()),
                Err(error) => return Err(Trouble::Failed(error.to_string())),
            }
        }
        if !forbidden.is_empty() {
            forbidden.sort();
            return Err(Trouble::Forbidden(forbidden));
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let parts = found.objects.finish(Settings::default(), Timestamp::now());
        Ok(Self {
            snapshot: parts.snapshot,
            classes: parts.classes,
            overlays: parts.overlays,
            machines: found.machines,
            controller: found.controller.map(|(_, environment)| environment),
            live: found.live,
        })
    }
}

/// What the lists hold.
#[derive(Default)]
struct Found {
    objects: Objects,
    machines: BTreeMap<Text, Machine>,
    /// With when its pod was made.
    controller: Option<(String, Environment)>,
    live: BTreeMap<(Subject, String), Json>,
}

impl Found {
    fn take(&mut self, path: &str, page: &str) -> Result<(), String> {
        match last(path) {
            "nodepools" => self.keep(Subject::Pool, page)?,
            "ec2nodeclasses" => self.keep(Subject::Class, page)?,
            "nodeclaims" => {
                let claims: Items<NodeClaim> = items(page)?;
                let named = claims.items.iter().filter_map(|claim| {
                    let name = claim.metadata.name.as_deref()?;
                    Some((Text::from(name), drift::machine(claim)))
                });
                self.machines.extend(named);
            }
            // Few pages have a pod of the controller, and pods are many.
            "pods" if page.contains(controller::MARK) => {
                let pods: Items<Json> = items(page)?;
                let own = pods.items.iter().filter_map(|pod| {
                    let made = pod["metadata"]["creationTimestamp"].as_str()?.to_owned();
                    Some((made, Environment::of_pod(pod)?))
                });
                let newest = own.chain(self.controller.take()).max_by(|a, b| a.0.cmp(&b.0));
                self.controller = newest;
            }
            _ => {}
        }
        read::read(path, page, &mut self.objects).map_err(|error| error.to_string())
    }

    fn keep(&mut self, subject: Subject, page: &str) -> Result<(), String> {
        let objects: Items<Json> = items(page)?;
        let named = objects.items.into_iter().filter_map(|mut object| {
            // Items of a list come without their type.
            let (api_version, kind) = subject.kind();
            object["apiVersion"] = Json::from(api_version);
            object["kind"] = Json::from(kind);
            let name = object["metadata"]["name"].as_str()?.to_owned();
            Some(((subject, name), object))
        });
        self.live.extend(named);
        Ok(())
    }
}

fn items<T: serde::de::DeserializeOwned>(page: &str) -> Result<Items<T>, String> {
    serde_json::from_str(page).map_err(|error| error.to_string())
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
