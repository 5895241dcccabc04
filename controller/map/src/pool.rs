//! NodePools.

use joiner_api::{ConsolidationPolicy as WrittenPolicy, NodePool, NodePoolSpec};
use joiner_core::conditions::{READY, Status};
use joiner_core::resources::Limits;
use joiner_core::snapshot::{
    Budget, BudgetNodes, BudgetWindow, ConsolidationPolicy, Disruption, DisruptionReason, Pool, Readiness,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::node::{class, conditions, requirements, span};
use crate::quantities::limits;
use crate::taints;

/// A NodePool. Its readiness is what its status says; its hash is that of its template as it is, whatever its annotations say, so that
/// a claim is never made with a new template and an old hash.
pub fn pool(object: &NodePool) -> Pool {
    let meta = &object.metadata;
    let spec = &object.spec;
    let template = &spec.template;
    let of_nodes = template.metadata.as_ref();
    Pool {
        name: crate::text(meta.name.as_ref()),
        uid: crate::text(meta.uid.as_ref()),
        class: class(&template.spec.node_class_ref),
        weight: spec
            .weight
            .and_then(|weight| u32::try_from(weight).ok())
            .unwrap_or_default(),
        requirements: requirements(&template.spec.requirements),
        labels: crate::labels(of_nodes.map(|it| &it.labels)),
        annotations: crate::labels(of_nodes.map(|it| &it.annotations)),
        taints: template.spec.taints.iter().filter_map(taints::from_api).collect(),
        startup_taints: template
            .spec
            .startup_taints
            .iter()
            .filter_map(taints::from_api)
            .collect(),
        limits: spec.limits.as_ref().map_or_else(Limits::default, limits),
        replicas: spec.replicas.and_then(|count| u32::try_from(count).ok()),
        expire_after: template
            .spec
            .expire_after
            .as_ref()
            .and_then(|age| span(age.as_std()?)),
        termination_grace_period: template
            .spec
            .termination_grace_period
            .as_ref()
            .and_then(|it| span(it.as_std())),
        disruption: disruption(spec),
        readiness: readiness(object.status.as_ref().map_or(&[], |status| &status.conditions)),
        deleting: meta.deletion_timestamp.is_some(),
        hash: crate::drift::pool_hash(object),
    }
}

/// Without any budget there is one of 10%, as the API server would have filled in.
fn disruption(spec: &NodePoolSpec) -> Disruption {
    let written = spec.disruption.as_ref();
    let tenth = Budget {
        reasons: Default::default(),
        nodes: BudgetNodes::Percent(10),
        window: None,
    };
    Disruption {
        consolidate_after: match written {
            Some(disruption) => disruption.consolidate_after.as_std().and_then(span),
            None => Some(jiff::SignedDuration::ZERO),
        },
        policy: match written.and_then(|disruption| disruption.consolidation_policy) {
            Some(WrittenPolicy::WhenEmpty) => ConsolidationPolicy::WhenEmpty,
            Some(WrittenPolicy::WhenEmptyOrUnderutilized | WrittenPolicy::Balanced) | None => {
                ConsolidationPolicy::WhenEmptyOrUnderutilized
            }
        },
        budgets: match written.and_then(|disruption| disruption.budgets.as_ref()) {
            Some(budgets) => budgets.iter().map(budget).collect(),
            None => vec![tenth],
        },
    }
}

/// A budget that cannot be read allows nothing.
fn budget(written: &joiner_api::Budget) -> Budget {
    let window = written
        .schedule
        .as_ref()
        .zip(written.duration.as_ref())
        .map(|(schedule, duration)| BudgetWindow {
            schedule: schedule.as_str().into(),
            duration: span(duration.as_std()).unwrap_or(jiff::SignedDuration::MAX),
        });
    let reasons = written
        .reasons
        .iter()
        .flatten()
        .filter_map(|reason| DisruptionReason::parse(&reason.to_string()));
    Budget {
        reasons: reasons.collect(),
        nodes: BudgetNodes::parse(&written.nodes).unwrap_or(BudgetNodes::Count(0)),
        window,
    }
}

fn readiness(list: &[Condition]) -> Readiness {
    match conditions(list).get(READY) {
        Some(ready) if ready.status == Status::True => Readiness::Ready,
        Some(ready) => {
            let reason = if ready.message.is_empty() {
                ready.reason.clone()
            } else {
                ready.message.clone()
            };
            Readiness::NotReady { reason }
        }
        None => Readiness::NotReady {
            reason: "its status is not known yet".into(),
        },
    }
}

/// A NodePool's conditions.
pub fn pool_conditions(object: &NodePool) -> joiner_core::conditions::Conditions {
    conditions(object.status.as_ref().map_or(&[], |status| &status.conditions))
}
