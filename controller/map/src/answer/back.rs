//! From a printed answer back to a schedule, so that the checker can look at it, whoever made it.

use std::collections::BTreeMap;
use std::sync::Arc;

use joiner_api::Quantity;
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::schedule::{NewClaim, Refusal, Schedule};
use joiner_core::snapshot::{ClassRef, Pod, PodKey, Snapshot};
use joiner_core::taints::{Effect, Taint};
use joiner_core::text::Text;

use super::{Answer, NewNode, RequirementRow};

impl Answer {
    /// The schedule behind an answer about `snapshot`; what an answer does not say is taken from the pool. Pods that the
    /// snapshot says nobody decides on are left out.
    pub fn schedule(&self, snapshot: &Snapshot) -> Schedule {
        let keys = |pods: &[String]| pods.iter().map(|pod| key(pod)).collect::<Vec<_>>();
        let waiting: BTreeMap<&PodKey, &Pod> =
            snapshot.pending.iter().map(|pod| (&pod.key, &**pod)).collect();
        let refused = self.unschedulable.iter().map(|row| key(&row.pod));
        let refused = refused.filter(|key| waiting.get(key).is_none_or(|pod| pod.is_provisionable()));
        let mut relaxed: BTreeMap<PodKey, Vec<Text>> = BTreeMap::new();
        for row in &self.relaxed {
            relaxed
                .entry(key(&row.pod))
                .or_default()
                .push(row.dropped.as_str().into());
        }
        Schedule {
            new_claims: self.new_nodes.iter().map(|node| claim(node, snapshot)).collect(),
            existing: self
                .existing_nodes
                .iter()
                .map(|node| (node.name.as_str().into(), keys(&node.pods)))
                .collect(),
            unschedulable: refused.map(|key| (key, Arc::new(Refusal::default()))).collect(),
            relaxed: relaxed
                .into_iter()
                .map(|(pod, dropped)| (pod, dropped.into()))
                .collect(),
            price: price(self.hourly_cost.new),
            existing_price: price(self.hourly_cost.existing),
            lower_bound: Some(price(self.hourly_cost.lower_bound)).filter(|bound| *bound > Price::ZERO),
        }
    }
}

fn key(text: &str) -> PodKey {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    PodKey::new(namespace, name)
}

fn price(dollars: f64) -> Price {
    Price::parse_dollars(&format!("{dollars:.6}")).unwrap_or(Price::MAX)
}

/// The requirements that rows say.
pub(super) fn requirements(rows: &[RequirementRow]) -> Requirements {
    let rows = rows.iter().filter_map(|row| {
        let values = row.values.iter().cloned();
        let requirement = Requirement::parse(row.key.as_str(), &row.operator, values).ok()?;
        Some(requirement.with_min_values(row.min_values))
    });
    rows.collect()
}

fn claim(node: &NewNode, snapshot: &Snapshot) -> NewClaim {
    let pool = snapshot.pool(&node.node_pool);
    let class = pool.map_or_else(
        || ClassRef {
            group: "".into(),
            kind: "".into(),
            name: "".into(),
        },
        |pool| pool.class.clone(),
    );
    let requests: BTreeMap<String, Quantity> = node
        .requests
        .iter()
        .filter_map(|(name, amount)| Some((name.clone(), amount.parse().ok()?)))
        .collect();
    let requirements = requirements(&node.requirements);
    let relaxed = pool.is_some_and(|pool| {
        pool.requirements.iter().any(|wanted| {
            let kept = requirements.get(wanted.key()).and_then(Requirement::min_values);
            wanted.min_values() > kept
        })
    });
    NewClaim {
        pool: node.node_pool.as_str().into(),
        pool_uid: pool.map_or_else(|| "".into(), |pool| pool.uid.clone()),
        class,
        pods: node.pods.iter().map(|pod| key(pod)).collect(),
        instance_types: node.instance_types.shared(),
        requests: crate::from_api(&requests),
        price: price(node.price),
        labels: node
            .labels
            .iter()
            .map(|(key, value)| (Text::from(key.as_str()), Text::from(value.as_str())))
            .collect(),
        annotations: pool.map(|pool| pool.annotations.clone()).unwrap_or_default(),
        taints: node
            .taints
            .iter()
            .filter_map(|taint| {
                Some(Taint::new(
                    &*taint.key,
                    &*taint.value,
                    Effect::parse(&taint.effect)?,
                ))
            })
            .collect(),
        startup_taints: pool.map(|pool| pool.startup_taints.clone()).unwrap_or_default(),
        expire_after: pool.and_then(|pool| pool.expire_after),
        termination_grace_period: pool.and_then(|pool| pool.termination_grace_period),
        min_values_relaxed: relaxed,
        requirements,
    }
}
