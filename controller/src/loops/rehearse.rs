//! An order that nobody gave: what a pod that wants nothing in particular would have bought. Launch templates are made for it
//! before the first real pod comes, and a class is validated with it.
//!
//! Input: a pool, its class and the class' instance types. Output: a [`Rehearsal`]. Pure; the decision is the scheduler's own.

use std::sync::Arc;

use jiff::Timestamp;
use joiner_aws::launch::{ClaimKey, Order, Tenancy};
use joiner_aws::node_class::NodeClass;
use joiner_aws::userdata::Cluster;
use joiner_core::catalogue::{CapacityType, Catalogue, InstanceType};
use joiner_core::launch::{Choice, Plan, plan};
use joiner_core::requirements::{Requirements, Undefined};
use joiner_core::resources::{Limits, Resources};
use joiner_core::schedule::schedule;
use joiner_core::snapshot::{Pod, Pool, Readiness, Snapshot};
use joiner_core::taints::Taint;
use joiner_core::text::{Labels, Text};
use k8s_openapi::api::core::v1 as k8s;
use serde_json::json;

use crate::observe::map;

/// What is tried where no pool says what a class is for, when EC2 has it: a common type of each architecture.
const USUAL: [&str; 2] = ["m5.large", "m6g.large"];

/// All that such an order is made of.
#[derive(Clone, Debug)]
pub(super) struct Rehearsal {
    pool: Text,
    class: NodeClass,
    types: Arc<[InstanceType]>,
    plan: Plan,
    labels: Labels,
    taints: Vec<Taint>,
    startup_taints: Vec<Taint>,
    requirements: Requirements,
    requests: Resources,
}

impl Rehearsal {
    /// What a pod would buy from `pool`, whether or not the pool is ready or full; none where it would buy nothing.
    pub(super) fn of_pool(
        pool: &Pool,
        class: NodeClass,
        types: &Arc<[InstanceType]>,
        now: Timestamp,
    ) -> Option<Rehearsal> {
        let open = Pool {
            readiness: Readiness::Ready,
            limits: Limits::default(),
            replicas: None,
            ..pool.clone()
        };
        let snapshot = Snapshot {
            pools: vec![Arc::new(open)],
            pending: vec![Arc::new(undemanding())],
            ..Snapshot::default()
        };
        let catalogue: Catalogue = [(pool.name.clone(), types.clone())].into_iter().collect();
        let claim = schedule(&snapshot, &catalogue, now)
            .new_claims
            .into_iter()
            .next()?;
        let plan = plan(&claim.requirements, &claim.requests, types).ok()?;
        Some(Rehearsal {
            pool: claim.pool,
            class,
            types: types.clone(),
            plan,
            labels: claim.labels,
            taints: claim.taints,
            startup_taints: claim.startup_taints,
            requirements: claim.requirements,
            requests: claim.requests,
        })
    }

    /// What would be bought with a class: from the first of its pools that buys anything its images run on, else a usual type.
    pub(super) fn of_class<'a>(
        pools: impl IntoIterator<Item = &'a Pool>,
        class: &NodeClass,
        types: &[InstanceType],
        now: Timestamp,
    ) -> Option<Rehearsal> {
        let runs = |it: &&InstanceType| {
            let suits = |image: &joiner_aws::node_class::Image| {
                it.requirements
                    .is_compatible(&image.requirements, Undefined::Missing)
            };
            class.images.iter().any(suits)
        };
        let types: Arc<[InstanceType]> = types.iter().filter(runs).cloned().collect();
        let of_pools = pools
            .into_iter()
            .find_map(|pool| Rehearsal::of_pool(pool, class.clone(), &types, now));
        if of_pools.is_some() {
            return of_pools;
        }
        let usual: Vec<InstanceType> = types
            .iter()
            .filter(|it| USUAL.contains(&&*it.name))
            .cloned()
            .collect();
        let candidates = if usual.is_empty() { &types[..] } else { &usual };
        let plan = plan(&Requirements::new(), &Resources::new(), candidates).ok()?;
        Some(Rehearsal {
            pool: "".into(),
            class: class.clone(),
            plan,
            types,
            labels: Labels::new(),
            taints: Vec::new(),
            startup_taints: Vec::new(),
            requirements: Requirements::new(),
            requests: Resources::new(),
        })
    }

    /// The same with every type that may be bought, and not only the cheapest: what pods will want is not known yet.
    #[must_use]
    pub(super) fn with_all_types(mut self) -> Rehearsal {
        let (kind, requirements) = (self.plan.capacity_type, &self.requirements);
        self.plan.choices = self
            .types
            .iter()
            .filter(|it| it.suits(requirements))
            .filter_map(|it| choice(it, kind, requirements))
            .collect();
        self
    }

    /// The order, for `claims` that are made up, or none.
    pub(super) fn order<'a>(&'a self, cluster: &'a Cluster, claims: &'a [ClaimKey]) -> Order<'a> {
        Order {
            claims,
            node_pool: &self.pool,
            cluster,
            class: &self.class,
            plan: &self.plan,
            types: &self.types,
            labels: &self.labels,
            taints: &self.taints,
            startup_taints: &self.startup_taints,
            requests: &self.requests,
            tenancy: Tenancy::of(&self.requirements),
        }
    }
}

/// Any one offering: templates do not say where and for how much.
fn choice(it: &InstanceType, kind: CapacityType, requirements: &Requirements) -> Option<Choice> {
    let offering = it
        .offerings_for(requirements)
        .find(|it| it.capacity_type == kind)?;
    Some(Choice {
        instance_type: it.name.clone(),
        zone: offering.zone.clone(),
        zone_id: offering.zone_id.clone(),
        price: offering.price,
        reservation: offering.reservation.as_ref().map(|it| it.id.clone()),
    })
}

/// A pod that goes anywhere.
fn undemanding() -> Pod {
    let object = k8s::Pod::default();
    let filled = json!({
        "metadata": {"name": "rehearsal", "namespace": "default"},
        "spec": {
            "containers": [{"name": "any", "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}}],
            "tolerations": [{"operator": "Exists"}],
        },
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    });
    map::pod(&serde_json::from_value(filled).unwrap_or(object)).0
}

#[cfg(test)]
mod tests;
