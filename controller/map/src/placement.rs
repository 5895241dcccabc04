//! Everything of a pod's spec that says where it may run.

use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{
    HostPort, InclusionPolicy, NodeTerm, Placement, PodSelector, PodTerm, Preferred, Spread, Strength,
};
use joiner_core::text::{Labels, Text};
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

use crate::taints::toleration;

/// Placement of a pod with `labels` in `namespace`.
pub(crate) fn placement(spec: &k8s::PodSpec, labels: &Labels, namespace: &str) -> Placement {
    let mut unsupported = Vec::new();
    let affinity = spec.affinity.as_ref();
    let node = affinity.and_then(|affinity| affinity.node_affinity.as_ref());
    let beside = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
    let apart = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let required = |terms: Option<&Vec<k8s::PodAffinityTerm>>| {
        terms
            .into_iter()
            .flatten()
            .map(|term| pod_term(term, labels, namespace))
            .collect()
    };
    let wished = |terms: Option<&Vec<k8s::WeightedPodAffinityTerm>>| {
        let terms = terms.into_iter().flatten();
        terms
            .map(|it| Preferred {
                weight: it.weight,
                term: pod_term(&it.pod_affinity_term, labels, namespace),
            })
            .collect()
    };
    Placement {
        node_selector: crate::labels(spec.node_selector.as_ref()),
        node_affinity: node
            .and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref())
            .map(|selector| {
                selector
                    .node_selector_terms
                    .iter()
                    .map(|term| node_term(term, &mut unsupported))
                    .collect()
            }),
        preferred_node_affinity: node
            .and_then(|node| node.preferred_during_scheduling_ignored_during_execution.as_ref())
            .into_iter()
            .flatten()
            .map(|it| Preferred {
                weight: it.weight,
                term: node_term(&it.preference, &mut Vec::new()),
            })
            .collect(),
        affinity: required(
            beside.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref()),
        ),
        preferred_affinity: wished(
            beside.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_ref()),
        ),
        anti_affinity: required(
            apart.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref()),
        ),
        preferred_anti_affinity: wished(
            apart.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_ref()),
        ),
        spread: spec
            .topology_spread_constraints
            .iter()
            .flatten()
            .map(|it| spread(it, labels))
            .collect(),
        tolerations: spec.tolerations.iter().flatten().filter_map(toleration).collect(),
        host_ports: host_ports(spec),
        volumes: Vec::new(),
        devices: Vec::new(),
        unsupported,
    }
}

fn node_term(term: &k8s::NodeSelectorTerm, unsupported: &mut Vec<Text>) -> NodeTerm {
    let mut expressions = Requirements::new();
    for row in term.match_expressions.iter().flatten() {
        let values = row.values.iter().flatten().map(String::as_str);
        match Requirement::parse(row.key.as_str(), &row.operator, values) {
            Ok(requirement) => expressions.add(requirement),
            Err(error) => unsupported.push(format!("its node affinity cannot be read: {error}").into()),
        }
    }
    let fields = term
        .match_fields
        .iter()
        .flatten()
        .map(|row| row.key.as_str().into())
        .collect();
    NodeTerm { expressions, fields }
}

/// A term whose namespaces are chosen by a selector speaks of every namespace here; the surroundings narrow it.
fn pod_term(term: &k8s::PodAffinityTerm, labels: &Labels, own_namespace: &str) -> PodTerm {
    let namespaces = match &term.namespace_selector {
        Some(_) => None,
        None => Some(named_namespaces(term, own_namespace)),
    };
    let mut counted = selector(term.label_selector.as_ref());
    // The API server writes these into the selector when a pod is made; a pod in a file may not have been through it.
    for key in term.match_label_keys.iter().flatten() {
        if let Some(value) = labels.get(key.as_str()) {
            counted.labels.add(Requirement::is(key.as_str(), value.clone()));
        }
    }
    for key in term.mismatch_label_keys.iter().flatten() {
        if let Some(value) = labels.get(key.as_str()) {
            counted
                .labels
                .add(Requirement::is_not_in(key.as_str(), [value.clone()]));
        }
    }
    PodTerm {
        topology_key: joiner_core::well_known::normalise(term.topology_key.as_str().into()),
        selector: counted,
        namespaces,
    }
}

/// The namespaces that a term names; the pod's own where it names none and has no selector of namespaces either.
pub(crate) fn named_namespaces(term: &k8s::PodAffinityTerm, own_namespace: &str) -> Vec<Text> {
    let named: Vec<Text> = term
        .namespaces
        .iter()
        .flatten()
        .map(|name| name.as_str().into())
        .collect();
    if named.is_empty() && term.namespace_selector.is_none() {
        return vec![own_namespace.into()];
    }
    named
}

fn spread(constraint: &k8s::TopologySpreadConstraint, labels: &Labels) -> Spread {
    let mut counted = selector(constraint.label_selector.as_ref());
    for key in constraint.match_label_keys.iter().flatten() {
        if let Some(value) = labels.get(key.as_str()) {
            counted.labels.add(Requirement::is(key.as_str(), value.clone()));
        }
    }
    let policy = |written: Option<&str>, absent| match written {
        Some("Honor") => InclusionPolicy::Honor,
        Some("Ignore") => InclusionPolicy::Ignore,
        _ => absent,
    };
    Spread {
        topology_key: joiner_core::well_known::normalise(constraint.topology_key.as_str().into()),
        max_skew: u32::try_from(constraint.max_skew).unwrap_or(1),
        strength: if constraint.when_unsatisfiable == "ScheduleAnyway" {
            Strength::Preferred
        } else {
            Strength::Required
        },
        selector: counted,
        min_domains: constraint.min_domains.and_then(|count| u32::try_from(count).ok()),
        node_affinity_policy: policy(constraint.node_affinity_policy.as_deref(), InclusionPolicy::Honor),
        node_taints_policy: policy(constraint.node_taints_policy.as_deref(), InclusionPolicy::Ignore),
    }
}

/// A label selector; none selects nothing, an empty one everything.
pub(crate) fn selector(written: Option<&LabelSelector>) -> PodSelector {
    let Some(written) = written else {
        return PodSelector {
            labels: Requirements::new(),
            matches_nothing: true,
        };
    };
    let equal = written
        .match_labels
        .iter()
        .flatten()
        .map(|(key, value)| Requirement::is(key.as_str(), value.as_str()));
    let rows = written.match_expressions.iter().flatten();
    let mut matches_nothing = false;
    let mut labels: Requirements = equal.collect();
    for LabelSelectorRequirement {
        key,
        operator,
        values,
    } in rows
    {
        match Requirement::parse(
            key.as_str(),
            operator,
            values.iter().flatten().map(String::as_str),
        ) {
            Ok(requirement) => labels.add(requirement),
            Err(_) => matches_nothing = true,
        }
    }
    PodSelector {
        labels,
        matches_nothing,
    }
}

/// Ports of the node that containers and sidecars take. With the node's network every port of a container is one of the
/// node's.
fn host_ports(spec: &k8s::PodSpec) -> Vec<HostPort> {
    let sidecars = spec
        .init_containers
        .iter()
        .flatten()
        .filter(|container| container.restart_policy.as_deref() == Some("Always"));
    let ports = spec
        .containers
        .iter()
        .chain(sidecars)
        .flat_map(|container| container.ports.iter().flatten());
    ports
        .filter_map(|port| {
            let shared = (spec.host_network == Some(true)).then_some(port.container_port);
            let number = u16::try_from(port.host_port.or(shared)?)
                .ok()
                .filter(|number| *number != 0)?;
            Some(HostPort {
                ip: crate::text(port.host_ip.as_ref()),
                port: number,
                protocol: port.protocol.as_deref().unwrap_or("TCP").into(),
            })
        })
        .collect()
}
