//! Changes over labels: one requirement of the pod's affinity given up or widened, or the pool opened for what the pod asks.

use super::{Change, of_pod, of_pool, offered};
use crate::catalogue::Catalogue;
use crate::requirements::{Absence, Conflict, Requirement, Values};
use crate::schedule::{Misfit, Refusal};
use crate::snapshot::{NodeTerm, Pod, Pool, Snapshot};
use crate::text::Text;

const REQUIRED: &str = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";

/// One requirement of a term of the required affinity allows one value more, or goes.
pub(super) fn affinity(snapshot: &Snapshot, catalogue: &Catalogue, pod: &Pod) -> Vec<Change> {
    let mut all = Vec::new();
    let terms = pod.placement.node_affinity.as_deref().unwrap_or_default();
    for (index, term) in terms.iter().enumerate() {
        for requirement in term.expressions.iter() {
            let key = requirement.key();
            let field = format!("{REQUIRED}.nodeSelectorTerms[{index}].matchExpressions[{key}]");
            if let (Values::Only(values), Absence::Refused) = (requirement.values(), requirement.absence()) {
                let more = offered(snapshot, catalogue, key);
                for other in more.iter().filter(|other| !values.contains(*other)).take(10) {
                    let wider = Requirement::is_in(key.clone(), values.iter().chain([other]).cloned());
                    let mut changed = pod.clone();
                    replace(&mut changed, index, key, Some(wider));
                    all.push(of_pod(
                        22,
                        field.clone(),
                        format!("allow {key}={other}, too"),
                        changed,
                    ));
                }
            }
            let mut changed = pod.clone();
            replace(&mut changed, index, key, None);
            all.push(of_pod(
                23,
                field,
                format!("do not require {requirement}"),
                changed,
            ));
        }
    }
    all
}

fn replace(pod: &mut Pod, index: usize, key: &Text, with: Option<Requirement>) {
    let terms = pod.placement.node_affinity.as_mut();
    let Some(NodeTerm { expressions, .. }) = terms.and_then(|terms| terms.get_mut(index)) else {
        return;
    };
    expressions.remove(key);
    if let Some(with) = with {
        expressions.add(with);
    }
}

/// A pool that is at odds with the pod over a label allows what the pod asks for.
pub(super) fn pools(snapshot: &Snapshot, refusal: &Refusal) -> Vec<Change> {
    let mut all = Vec::new();
    for (name, misfit) in &refusal.pools {
        let (Misfit::Label { conflict }, Some(pool)) = (misfit, snapshot.pool(name)) else {
            continue;
        };
        let mut changed = Pool::clone(pool);
        let key = conflict.key();
        let (size, field, change) = match &**conflict {
            Conflict::Undefined { wanted, .. } => {
                let Some(value) = wanted.single() else { continue };
                changed.labels.insert(key.clone(), value.clone());
                let field = format!("spec.template.metadata.labels[{key}]");
                (63, field, format!("give its nodes the label {key}={value}"))
            }
            Conflict::Disjoint { wanted, .. } => {
                let Some(required) = changed.requirements.remove(key) else {
                    continue;
                };
                let wider = match (required.values(), wanted.values()) {
                    (Values::Only(mine), Values::Only(theirs)) => {
                        Requirement::is_in(key.clone(), mine.iter().chain(theirs).cloned())
                    }
                    _ => wanted.clone(),
                };
                changed
                    .requirements
                    .add(wider.with_min_values(required.min_values()));
                let field = format!("spec.template.spec.requirements[{key}]");
                (62, field, format!("let it allow {wanted}, too"))
            }
        };
        all.push(of_pool(size, &field, change, changed));
    }
    all
}

/// A pool gives up a taint that the pod does not bear.
pub(super) fn taints(snapshot: &Snapshot, refusal: &Refusal) -> Vec<Change> {
    let mut all = Vec::new();
    for (name, misfit) in &refusal.pools {
        let (Misfit::Taint { taint }, Some(pool)) = (misfit, snapshot.pool(name)) else {
            continue;
        };
        let mut changed = Pool::clone(pool);
        changed.taints.retain(|other| other != taint);
        let change = format!("take the taint {taint} off it");
        all.push(of_pool(64, "spec.template.spec.taints", change, changed));
    }
    all
}
