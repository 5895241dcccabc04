//! A pod and a pool, constraint by constraint: what was asked, whether the pool can give it, and how far the instance types go.

use crate::catalogue::{Catalogue, InstanceType};
use crate::requirements::{Requirements, Undefined};
use crate::resources::Resources;
use crate::schedule::Nearest;
use crate::snapshot::{Pod, Pool, Readiness};
use crate::taints::untolerated;
use crate::text::Text;

/// What one pool says to a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolChecks {
    /// The pool.
    pub pool: Text,
    /// Every constraint that was looked at, in order.
    pub checks: Vec<Check>,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is about: `taints`, `label size`, `instance types`.
    pub what: String,
    /// Whether the pool can give it.
    pub met: bool,
    /// In words.
    pub detail: String,
}

/// What every pool says to `pod`, by its name. Other pods are not looked at: what they leave is for the scheduler to say.
pub fn pools(pod: &Pod, pools: &[std::sync::Arc<Pool>], catalogue: &Catalogue) -> Vec<PoolChecks> {
    let mut all: Vec<PoolChecks> = pools
        .iter()
        .map(|pool| pool_checks(pod, pool, catalogue))
        .collect();
    all.sort_by(|a, b| a.pool.cmp(&b.pool));
    all
}

fn pool_checks(pod: &Pod, pool: &Pool, catalogue: &Catalogue) -> PoolChecks {
    let mut checks = vec![state(pool), taints(pod, pool)];
    let template = pool.template_requirements();
    let alternatives = wanted(pod);
    let mut together = template.clone();
    for wanted in &alternatives {
        for requirement in wanted.iter() {
            let one: Requirements = [requirement.clone()].into_iter().collect();
            let known = catalogue.well_known.contains(requirement.key());
            let conflict = match known && template.get(requirement.key()).is_none() {
                true => None,
                false => template.conflict(&one, Undefined::WellKnownOpen),
            };
            checks.push(Check {
                what: format!("label {}", requirement.key()),
                met: conflict.is_none(),
                detail: conflict.map_or_else(|| requirement.to_string(), |conflict| conflict.to_string()),
            });
        }
    }
    if let Some(first) = alternatives.first() {
        together.add_all(first);
    }
    checks.push(types(catalogue.types(&pool.name), &together, &pod.requests));
    PoolChecks {
        pool: pool.name.clone(),
        checks,
    }
}

fn state(pool: &Pool) -> Check {
    let why = match (&pool.readiness, pool.deleting, pool.replicas) {
        (Readiness::NotReady { reason }, _, _) => Some(format!("it is not ready: {reason}")),
        (_, true, _) => Some("it is being deleted".to_owned()),
        (_, _, Some(replicas)) => Some(format!("it is static, with {replicas} nodes whatever pods want")),
        (Readiness::Ready, false, None) => None,
    };
    Check {
        what: "state".to_owned(),
        met: why.is_none(),
        detail: why.unwrap_or_else(|| "it may buy nodes".to_owned()),
    }
}

fn taints(pod: &Pod, pool: &Pool) -> Check {
    let not_borne: Vec<String> = untolerated(&pool.taints, &pod.placement.tolerations)
        .filter(|taint| taint.is_hard())
        .map(ToString::to_string)
        .collect();
    Check {
        what: "taints".to_owned(),
        met: not_borne.is_empty(),
        detail: match (not_borne.is_empty(), pool.taints.len()) {
            (true, 0) => "it has none".to_owned(),
            (true, count) => format!("the pod tolerates all {count}"),
            (false, _) => format!("the pod does not tolerate {}", not_borne.join(", ")),
        },
    }
}

/// What the pod asks of labels: its selector and one term of its affinity, for each term.
fn wanted(pod: &Pod) -> Vec<Requirements> {
    let selector = Requirements::from_labels(&pod.placement.node_selector);
    let terms = pod.placement.node_affinity.as_deref().unwrap_or_default();
    if terms.is_empty() {
        return vec![selector];
    }
    terms.iter().map(|term| selector.and(&term.expressions)).collect()
}

/// How many types are left after each stage.
fn types(types: &[InstanceType], wanted: &Requirements, requests: &Resources) -> Check {
    let fitting: Vec<&InstanceType> = types.iter().filter(|it| it.suits(wanted)).collect();
    let large: Vec<&&InstanceType> = fitting
        .iter()
        .filter(|it| requests.fits(&it.allocatable()))
        .collect();
    let on_sale = large.iter().filter(|it| it.cheapest(wanted).is_some()).count();
    let mut detail = format!(
        "{} of {} match the labels, {} of them are large enough for {requests}, {on_sale} of those are on sale",
        fitting.len(),
        types.len(),
        large.len(),
    );
    if large.is_empty()
        && let Some(nearest) = nearest(&fitting, requests)
    {
        detail.push_str(&format!(" (nearest: {nearest})"));
    }
    Check {
        what: "instance types".to_owned(),
        met: on_sale > 0,
        detail,
    }
}

fn nearest(types: &[&InstanceType], requests: &Resources) -> Option<Nearest> {
    let lacking = types.iter().map(|it| Nearest {
        instance_type: it.name.clone(),
        shortfalls: requests.shortfalls(&it.allocatable()),
    });
    lacking.min_by_key(|it| {
        let worst = it.shortfalls.iter().map(|row| {
            let (wanted, available) = (i128::from(row.wanted), i128::from(row.available));
            (wanted - available) * 1000 / wanted.max(1)
        });
        (it.shortfalls.len(), worst.max(), it.instance_type.clone())
    })
}
