//! A refusal in parts: which field is in the way, what comes nearest, and the smallest change that would help.

use crate::requirements::Conflict;
use crate::resources::Shortfall;
use crate::schedule::Misfit;
use crate::snapshot::Pod;

/// A refusal in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The whole in words.
    pub reason: String,
    /// The field in the way, as a path into the pod (`spec.…`) or the pool (`NodePool spec.…`).
    pub field: String,
    /// What comes nearest to what is asked; empty where nothing does.
    pub nearest: String,
    /// The smallest change that would help; empty where none is known.
    pub change: String,
}

/// The parts of a refusal of `pod`.
pub fn detail(misfit: &Misfit, pod: Option<&Pod>) -> Detail {
    let (field, nearest, change) = match misfit {
        Misfit::Unsupported { what } => (
            "spec".into(),
            String::new(),
            format!("remove what is not supported: {what}"),
        ),
        Misfit::NotReady { reason } => (
            "NodePool status.conditions[Ready]".into(),
            String::new(),
            format!("make the pool ready: {reason}"),
        ),
        Misfit::Deleting => (
            "NodePool metadata.deletionTimestamp".into(),
            String::new(),
            "create the pool anew once it is gone".into(),
        ),
        Misfit::Contradiction { key, said } => (
            format!("NodePool spec.template.spec.requirements[{key}]"),
            String::new(),
            format!("let labels and requirements of the pool go together: {said}"),
        ),
        Misfit::Static { replicas } => (
            "NodePool spec.replicas".into(),
            replicas.to_string(),
            "remove spec.replicas from the pool, or raise it".into(),
        ),
        Misfit::Taint { taint } => (
            "spec.tolerations".into(),
            taint.to_string(),
            format!("tolerate {taint} in the pod, or take the taint off the pool"),
        ),
        Misfit::Label { conflict } => label(conflict, pod),
        Misfit::NoTypes => (
            "NodePool spec.template.spec.nodeClassRef".into(),
            String::new(),
            "look at the status of the node class; widen the pool's requirements".into(),
        ),
        Misfit::Types {
            label,
            offered,
            too_small,
            nearest,
            unavailable,
            ..
        } => match (nearest, label) {
            (Some(near), _) if *too_small > 0 => (
                format!(
                    "spec.containers[].resources.requests[{}]",
                    first(&near.shortfalls)
                ),
                near.to_string(),
                smaller(&near.shortfalls),
            ),
            (_, Some(label)) if *unavailable == 0 => (
                path(label, pod),
                offered.join(", "),
                match offered.first() {
                    Some(value) => format!("allow another value of {label}, such as {value}"),
                    None => format!("allow another value of {label}"),
                },
            ),
            _ => (
                "NodePool spec.template.spec.requirements".into(),
                format!("{unavailable} types fit and are not on sale now"),
                "allow more zones, capacity types or instance types".into(),
            ),
        },
        Misfit::Limit {
            resource,
            limit,
            used,
            needed,
        } => (
            format!("NodePool spec.limits[{resource}]"),
            resource.display(*limit),
            format!(
                "raise the limit of {resource} to {}",
                resource.display(used.saturating_add(*needed))
            ),
        ),
        Misfit::MinValues { key, found, .. } => (
            format!("NodePool spec.template.spec.requirements[{key}].minValues"),
            found.to_string(),
            format!("lower minValues to {found}, or ask for less so that more types fit"),
        ),
        Misfit::Topology { rule } => topology(rule),
        Misfit::Port { port } => (
            "spec.containers[].ports[].hostPort".into(),
            String::new(),
            format!("use another host port than {}/{}", port.port, port.protocol),
        ),
    };
    Detail {
        reason: misfit.to_string(),
        field,
        nearest,
        change,
    }
}

fn label(conflict: &Conflict, pod: Option<&Pod>) -> (String, String, String) {
    let field = path(conflict.key(), pod);
    match conflict {
        Conflict::Undefined {
            wanted,
            nearest: Some(nearest),
        } => (
            field,
            nearest.to_string(),
            format!("ask for {nearest}, or define {} in the pool", wanted.key()),
        ),
        Conflict::Undefined {
            wanted,
            nearest: None,
        } => (
            field,
            String::new(),
            format!("define {} in the pool's labels or requirements", wanted.key()),
        ),
        Conflict::Disjoint { wanted, offered } => (
            field,
            offered.to_string(),
            format!("let the pool allow {wanted}, or the pod {offered}"),
        ),
    }
}

/// Where a pod asks for a label.
fn path(key: &str, pod: Option<&Pod>) -> String {
    let Some(pod) = pod else {
        return format!("spec.nodeSelector[{key}]");
    };
    let it = &pod.placement;
    let selects = it
        .node_selector
        .keys()
        .any(|own| *crate::well_known::normalise(own.clone()) == *key);
    let affinity = it
        .node_affinity
        .iter()
        .flatten()
        .any(|term| term.expressions.get(key).is_some());
    let volume = it
        .volumes
        .iter()
        .any(|volume| volume.alternatives.iter().any(|one| one.get(key).is_some()));
    if selects {
        format!("spec.nodeSelector[{key}]")
    } else if affinity {
        format!("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution[{key}]")
    } else if volume {
        format!("spec.volumes[{key}]")
    } else {
        format!("NodePool spec.template.spec.requirements[{key}]")
    }
}

fn first(shortfalls: &[Shortfall]) -> String {
    shortfalls
        .first()
        .map_or_else(String::new, |row| row.resource.to_string())
}

fn smaller(shortfalls: &[Shortfall]) -> String {
    let parts: Vec<String> = shortfalls
        .iter()
        .map(|row| format!("{} {}", row.resource, row.resource.display(row.available)))
        .collect();
    format!(
        "ask for at most {}, or allow larger instance types",
        parts.join(", ")
    )
}

fn topology(rule: &str) -> (String, String, String) {
    let (field, change) = if rule.starts_with("topology spread") {
        (
            "spec.topologySpreadConstraints",
            "raise maxSkew, or allow nodes in more places",
        )
    } else if rule.starts_with("pod affinity") {
        (
            "spec.affinity.podAffinity",
            "start the pods it looks for, or make the affinity preferred",
        )
    } else if rule.starts_with("pod anti-affinity") {
        (
            "spec.affinity.podAntiAffinity",
            "allow nodes in more places, or make the anti-affinity preferred",
        )
    } else {
        ("spec.affinity", "allow nodes in more places")
    };
    (field.to_owned(), String::new(), change.to_owned())
}
