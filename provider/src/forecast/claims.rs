//! The NodeClaims as a refresh sees them: listed once for all pools and classes, and kept as small as they can be.

use super::attribute::Outlook;
use super::lists::{Items, pages};
use super::subject::{Subject, Translation, typed};
use crate::cluster::Cluster;
use crate::objects::Custom;
use crate::provider::Joiner;
use futures::future::BoxFuture;
use jiff::Timestamp;
use joiner_api::{EC2NodeClass, NodeClaim, NodePool};
use joiner_core::conditions::DRIFTED;
use joiner_core::disrupt::drift::{Class, Drift, Machine, Reason, drift_of, drift_of_class};
use joiner_core::snapshot::{Claim, Pool};
use joiner_map::drift;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use tfplugin::Field;

/// Where they are.
pub(super) const PATH: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// A claim.
#[derive(Debug)]
pub(crate) struct Seen {
    pool: Option<String>,
    class: Option<String>,
    /// What matters of it, as JSON.
    json: Box<str>,
}

impl Seen {
    fn of(claim: &Json) -> Self {
        let label = |subject: Subject| {
            claim["metadata"]["labels"][subject.label()]
                .as_str()
                .map(str::to_owned)
        };
        Self {
            pool: label(Subject::Pool),
            class: label(Subject::Class),
            json: trimmed(claim).to_string().into(),
        }
    }

    fn belongs_to(&self, subject: Subject, name: &str) -> bool {
        let own = match subject {
            Subject::Pool => &self.pool,
            Subject::Class => &self.class,
        };
        own.as_deref() == Some(name)
    }
}

/// Counts the nodes of a live object that still run an older spec. Where they may not be listed, the count stays what it was.
///
/// Nothing else of them goes into the state, not even into its private part: a refresh that finds other nodes than the last would then
/// count as one that found a change.
pub(crate) async fn refresh<M: Custom>(data: &Joiner, cluster: &Cluster, live: &Json, model: &mut M) {
    let Some(subject) = M::NODES else { return };
    let Some(all) = data.claims(|| list(cluster)).await else {
        return;
    };
    let name = model.common().name().to_owned();
    let own = all.iter().filter(|seen| seen.belongs_to(subject, &name));
    let claims: Vec<Json> = own
        .filter_map(|seen| serde_json::from_str(&seen.json).ok())
        .collect();
    if let (Some(outlook), Some(count)) = (model.outlook_mut(), outdated(subject, live, &claims)) {
        outlook.nodes_drifted = Field::Known(count);
    }
}

/// Whether the object may have claims: it has none when a refresh has listed all and found none.
pub(super) fn has_claims(data: &Joiner, subject: Subject, name: &str) -> bool {
    data.listed_claims()
        .is_none_or(|all| all.iter().any(|seen| seen.belongs_to(subject, name)))
}

/// What a merge of the state with the live object keeps.
pub(crate) fn kept<M: Custom>(prior: &M, model: &mut M) {
    if let (Some(outlook), Some(prior)) = (model.outlook_mut(), prior.outlook()) {
        *outlook = prior.clone();
    }
}

fn list(cluster: &Cluster) -> BoxFuture<'_, Option<Vec<Seen>>> {
    Box::pin(all(cluster))
}

async fn all(cluster: &Cluster) -> Option<Vec<Seen>> {
    let mut all = Vec::new();
    let listed = pages(cluster, PATH, |page| {
        let page: Items<Json> = serde_json::from_str(page).map_err(|error| error.to_string())?;
        all.extend(page.items.iter().map(Seen::of));
        Ok(())
    });
    match listed.await {
        Ok(()) => Some(all),
        // Without the kind there are none.
        Err(error) if error.is_absent() => Some(Vec::new()),
        Err(error) => {
            tracing::warn!(%error, "the nodes of pools and classes were not counted");
            None
        }
    }
}

/// How many of its claims the live object has made outdated: by the condition that a controller has set, or by what they were made of.
fn outdated(subject: Subject, live: &Json, claims: &[Json]) -> Option<i64> {
    let compared = Compared::of(subject, live)?;
    let translation = Translation::of(subject, live);
    let now = Timestamp::now();
    let is_outdated = |claim: &Json| {
        let Some(claim) = typed::<NodeClaim>(claim) else {
            return false;
        };
        let mut claim = Arc::new(joiner_map::claim(&claim));
        if let Some(translation) = &translation {
            translation.translate(&mut claim);
        }
        is_said(subject, &claim) || (claim.is_launched() && compared.drift(&claim, now).is_some())
    };
    i64::try_from(claims.iter().filter(|claim| is_outdated(claim)).count()).ok()
}

/// What claims are compared with.
enum Compared {
    Pool(Box<Pool>),
    Class(Box<Class>),
}

impl Compared {
    /// The live object as drift sees it; of a class without what was found in the account, of which claims tell nothing here.
    fn of(subject: Subject, object: &Json) -> Option<Self> {
        Some(match subject {
            Subject::Pool => {
                let object = typed::<NodePool>(object)?;
                let hash = drift::pool_hash(&object);
                Self::Pool(Box::new(Pool {
                    hash,
                    ..joiner_map::pool(&object)
                }))
            }
            Subject::Class => Self::Class(Box::new(Class {
                images: Vec::new(),
                subnets: Vec::new(),
                security_groups: Vec::new(),
                ..drift::class(&typed::<EC2NodeClass>(object)?)
            })),
        })
    }

    /// How the node of a claim differs.
    fn drift(&self, claim: &Claim, now: Timestamp) -> Option<Drift> {
        let machine = Machine::default();
        match self {
            Self::Pool(pool) => drift_of(claim, &machine, pool, None, &[], now),
            Self::Class(class) => drift_of_class(claim, &machine, class, &[]),
        }
    }
}

/// Whether the controller says that a node is outdated, and that it is so by the pool or by the class.
fn is_said(subject: Subject, claim: &Claim) -> bool {
    let by_pool = [
        Reason::NodePoolDrifted,
        Reason::RequirementsDrifted,
        Reason::InstanceTypeNotFound,
    ];
    let Some(drifted) = claim
        .conditions
        .get(DRIFTED)
        .filter(|_| claim.conditions.is_true(DRIFTED))
    else {
        return false;
    };
    let by_pool = by_pool.iter().any(|reason| *reason.as_str() == *drifted.reason);
    by_pool == (subject == Subject::Pool)
}

/// A claim with what decisions on its drift look at.
fn trimmed(claim: &Json) -> Json {
    let (metadata, spec, status) = (&claim["metadata"], &claim["spec"], &claim["status"]);
    let mut keys = Subject::Pool.annotations().to_vec();
    keys.extend(Subject::Class.annotations());
    let mut annotations = chosen(&metadata["annotations"], &keys);
    if let (Json::Object(all), Some(there)) = (&mut annotations, metadata["annotations"].as_object()) {
        // What our controller notes beside them.
        let noted = there.iter().filter(|(key, _)| key.starts_with("joiner.dev/"));
        all.extend(noted.map(|(key, value)| (key.clone(), value.clone())));
    }
    let mut small = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": chosen(metadata, &["name", "creationTimestamp", "deletionTimestamp", "labels"]),
        "spec": chosen(spec, &["nodeClassRef", "taints", "startupTaints", "expireAfter", "terminationGracePeriod"]),
        "status": chosen(status, &["providerID", "nodeName", "conditions"]),
    });
    small["metadata"]["annotations"] = annotations;
    small["spec"]["requirements"] = json!([]);
    small
}

fn chosen(object: &Json, keys: &[&str]) -> Json {
    let there = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())));
    Json::Object(there.collect::<Map<_, _>>())
}

impl Outlook {
    /// What an update starts with: the count of the last refresh, which no change touches.
    pub(super) fn counted(&self) -> Field<i64> {
        match self.nodes_drifted {
            Field::Known(count) => Field::Known(count),
            Field::Null | Field::Unknown => Field::Known(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_core::snapshot::PoolHash;

    #[test]
    fn nodes_of_a_class_are_outdated_by_the_class_alone() {
        let class = |family: &str| {
            json!({
                "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "c" },
                "spec": {
                    "amiFamily": family, "role": "nodes",
                    "amiSelectorTerms": [{ "id": "ami-12345678" }], "subnetSelectorTerms": [{ "id": "subnet-12345678" }],
                    "securityGroupSelectorTerms": [{ "id": "sg-12345678" }],
                },
            })
        };
        let hash = |class: &Json| -> PoolHash { drift::class(&typed(class).expect("a class")).hash };
        let PoolHash { value, version } = hash(&class("AL2023"));
        let claim = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {
                "name": "n", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": { "karpenter.sh/nodepool": "p", "karpenter.k8s.aws/ec2nodeclass": "c" },
                "annotations": {
                    "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": &*version,
                    "karpenter.k8s.aws/ec2nodeclass-hash": &*value, "karpenter.k8s.aws/ec2nodeclass-hash-version": &*version,
                },
            },
            "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" }, "requirements": [],
            },
            "status": { "conditions": [{
                "type": "Launched", "status": "True", "reason": "Launched", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        });
        let claims = [claim];
        assert_eq!(outdated(Subject::Class, &class("AL2023"), &claims), Some(0));
        assert_eq!(outdated(Subject::Class, &class("Custom"), &claims), Some(1));
    }
}
