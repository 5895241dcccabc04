//! The reasons of a refusal as rows: which pool, why, which field is at fault, and what would come nearest.

use super::words::{limit_needed, toleration};
use crate::requirements::Conflict;
use crate::schedule::{Misfit, Refusal};
use crate::snapshot::{Placement, Pod};
use crate::text::Text;

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The pool that cannot serve the pod; empty where none could.
    pub pool: Text,
    /// Why, in words.
    pub reason: String,
    /// The path of the field at fault: in the pod, or after `NodePool:` in the pool.
    pub field: String,
    /// What is there and comes nearest to what is asked, or the value that would do; empty where nothing does.
    pub nearest: String,
}

/// Every reason why `pod` got no node: those of the pod itself, or else one for each pool.
pub fn rows(pod: &Pod, refusal: &Refusal) -> Vec<Row> {
    let row = |pool: &Text, misfit: &Misfit| Row {
        pool: pool.clone(),
        reason: misfit.to_string(),
        field: field(&pod.placement, misfit),
        nearest: nearest(misfit),
    };
    if !refusal.pod.is_empty() {
        let nobody = Text::from("");
        return refusal.pod.iter().map(|misfit| row(&nobody, misfit)).collect();
    }
    if refusal.pools.is_empty() {
        return vec![Row {
            pool: "".into(),
            reason: "there is no NodePool".to_owned(),
            field: String::new(),
            nearest: "create a NodePool".to_owned(),
        }];
    }
    refusal
        .pools
        .iter()
        .map(|(pool, misfit)| row(pool, misfit))
        .collect()
}

/// The path of the field at fault.
fn field(placement: &Placement, misfit: &Misfit) -> String {
    match misfit {
        Misfit::Unsupported { what } => unsupported(placement, what),
        Misfit::NotReady { .. } => "NodePool: status.conditions".to_owned(),
        Misfit::Deleting => "NodePool: metadata.deletionTimestamp".to_owned(),
        Misfit::Contradiction { key, .. } => format!("NodePool: spec.template.spec.requirements[{key}]"),
        Misfit::Static { .. } => "NodePool: spec.replicas".to_owned(),
        Misfit::Taint { .. } => "spec.tolerations".to_owned(),
        Misfit::Label { conflict } => of_label(placement, conflict.key()),
        Misfit::NoTypes => "NodePool: spec.template.spec.nodeClassRef".to_owned(),
        Misfit::Types {
            label,
            nearest,
            unavailable,
            ..
        } => match (nearest, label) {
            (Some(nearest), _) => match nearest.shortfalls.first() {
                Some(row) => format!("spec.containers[].resources.requests.{}", row.resource),
                None => "spec.containers[].resources.requests".to_owned(),
            },
            (None, Some(label)) => of_label(placement, label),
            (None, None) if *unavailable > 0 => "offerings".to_owned(),
            (None, None) => String::new(),
        },
        Misfit::Limit { resource, .. } => format!("NodePool: spec.limits.{resource}"),
        Misfit::MinValues { key, .. } => {
            format!("NodePool: spec.template.spec.requirements[{key}].minValues")
        }
        Misfit::Topology { rule } => topology(placement, rule).to_owned(),
        Misfit::Port { .. } => "spec.containers[].ports[].hostPort".to_owned(),
        #[expect(
            unreachable_patterns,
            reason = "a new kind of misfit has a reason before it has a field"
        )]
        _ => String::new(),
    }
}

fn unsupported(placement: &Placement, what: &str) -> String {
    let field = if what.contains("volume claim") {
        "spec.volumes"
    } else if what.contains("resource claim") || what.contains("device") {
        "spec.resourceClaims"
    } else if what.contains("matchFields") || what.contains("affinity") || placement.node_affinity.is_some() {
        "spec.affinity.nodeAffinity"
    } else {
        ""
    };
    field.to_owned()
}

/// Where the pod speaks of a label; where it does not, the pool does.
fn of_label(placement: &Placement, key: &Text) -> String {
    let selected = placement
        .node_selector
        .keys()
        .any(|written| crate::well_known::normalise(written.clone()) == *key);
    if selected {
        return format!("spec.nodeSelector[{key}]");
    }
    let required = placement.node_affinity.iter().flatten();
    if required.clone().any(|term| term.expressions.get(key).is_some()) {
        return "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution".to_owned();
    }
    let volumes = placement.volumes.iter().flat_map(|volume| &volume.alternatives);
    if volumes.clone().any(|one| one.get(key).is_some()) {
        return "spec.volumes".to_owned();
    }
    let wished = &placement.preferred_node_affinity;
    if wished.iter().any(|wish| wish.term.expressions.get(key).is_some()) {
        return "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution".to_owned();
    }
    if placement.spread.iter().any(|spread| spread.topology_key == *key) {
        return "spec.topologySpreadConstraints".to_owned();
    }
    format!("NodePool: spec.template.spec.requirements[{key}]")
}

fn topology(placement: &Placement, rule: &str) -> &'static str {
    let says = |word: &str| rule.contains(word);
    if !placement.anti_affinity.is_empty() && (says("anti") || says("apart") || says("not be")) {
        "spec.affinity.podAntiAffinity"
    } else if !placement.affinity.is_empty() && (says("affinity") || says("beside") || says("together")) {
        "spec.affinity.podAffinity"
    } else if !placement.spread.is_empty() {
        "spec.topologySpreadConstraints"
    } else if !placement.anti_affinity.is_empty() {
        "spec.affinity.podAntiAffinity"
    } else {
        "spec.affinity.podAffinity"
    }
}

fn nearest(misfit: &Misfit) -> String {
    match misfit {
        Misfit::Taint { taint } => format!("tolerate {}", toleration(taint)),
        Misfit::Label { conflict } => match &**conflict {
            Conflict::Undefined { nearest, .. } => nearest.as_ref().map(Text::to_string).unwrap_or_default(),
            Conflict::Disjoint { offered, .. } => offered.to_string(),
        },
        Misfit::Types {
            nearest: Some(nearest),
            ..
        } => nearest.to_string(),
        Misfit::Types { offered, .. } => offered.join(", "),
        Misfit::Limit {
            resource,
            used,
            needed,
            ..
        } => limit_needed(resource, *used, *needed),
        Misfit::MinValues { found, .. } => found.to_string(),
        _ => String::new(),
    }
}
