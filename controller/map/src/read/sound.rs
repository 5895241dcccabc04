//! What the API server would have refused in an object, and what mapping would pass over in silence.

use std::collections::BTreeMap;

use joiner_api::Quantity;
use joiner_core::requirements::{Operator, Requirement};
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Written;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::error::Fault;

type Checked = Result<(), Fault>;

pub(super) fn pod(pod: &k8s::Pod) -> Checked {
    pod_spec(pod.spec.as_ref(), "spec")
}

pub(super) fn node(node: &k8s::Node) -> Checked {
    if let Some(status) = &node.status {
        quantities(status.capacity.as_ref(), "status.capacity")?;
        quantities(status.allocatable.as_ref(), "status.allocatable")?;
    }
    Ok(())
}

pub(super) fn pod_spec(spec: Option<&k8s::PodSpec>, path: &str) -> Checked {
    let Some(spec) = spec else { return Ok(()) };
    containers(&spec.containers, &|| format!("{path}.containers"))?;
    if let Some(init) = &spec.init_containers {
        containers(init, &|| format!("{path}.initContainers"))?;
    }
    if spec.overhead.is_some() {
        quantities(spec.overhead.as_ref(), &format!("{path}.overhead"))?;
    }
    if let Some(level) = &spec.resources {
        both(level, &|| format!("{path}.resources"))?;
    }
    for (index, row) in spec.tolerations.iter().flatten().enumerate() {
        let path = || format!("{path}.tolerations[{index}]");
        one_of(
            row.operator.as_deref(),
            &["", "Equal", "Exists", "Lt", "Gt"],
            &|| path() + ".operator",
        )?;
        let effects = ["", "NoSchedule", "PreferNoSchedule", "NoExecute"];
        one_of(row.effect.as_deref(), &effects, &|| path() + ".effect")?;
    }
    for (index, row) in spec.topology_spread_constraints.iter().flatten().enumerate() {
        let path = || format!("{path}.topologySpreadConstraints[{index}]");
        if row.max_skew < 1 {
            return Err(expected(
                &path(),
                ".maxSkew",
                &row.max_skew.to_string(),
                "a number of at least 1",
            ));
        }
        if row.topology_key.is_empty() {
            return Err(expected(&path(), ".topologyKey", "\"\"", "a label's key"));
        }
        let ways = ["DoNotSchedule", "ScheduleAnyway"];
        one_of(Some(&row.when_unsatisfiable), &ways, &|| {
            path() + ".whenUnsatisfiable"
        })?;
        let policies = ["Honor", "Ignore"];
        one_of(row.node_affinity_policy.as_deref(), &policies, &|| {
            path() + ".nodeAffinityPolicy"
        })?;
        one_of(row.node_taints_policy.as_deref(), &policies, &|| {
            path() + ".nodeTaintsPolicy"
        })?;
        selector(row.label_selector.as_ref(), &|| path() + ".labelSelector")?;
    }
    match &spec.affinity {
        Some(affinity) => self::affinity(affinity, &format!("{path}.affinity")),
        None => Ok(()),
    }
}

fn containers(list: &[k8s::Container], path: &dyn Fn() -> String) -> Checked {
    for (index, container) in list.iter().enumerate() {
        if let Some(resources) = &container.resources {
            both(resources, &|| format!("{}[{index}].resources", path()))?;
        }
        for (port, row) in container.ports.iter().flatten().enumerate() {
            if row
                .host_port
                .is_some_and(|number| !(0..=65_535).contains(&number))
            {
                let value = row.host_port.unwrap_or_default().to_string();
                let path = format!("{}[{index}].ports[{port}]", path());
                return Err(expected(&path, ".hostPort", &value, "a port from 1 to 65535"));
            }
        }
    }
    Ok(())
}

fn both(resources: &k8s::ResourceRequirements, path: &dyn Fn() -> String) -> Checked {
    for (list, name) in [(&resources.requests, ".requests"), (&resources.limits, ".limits")] {
        if let Some((name_of, fault)) = first_bad(list.as_ref()) {
            return Err(Fault::new(format!("{}{name}.{name_of}", path()), fault));
        }
    }
    Ok(())
}

fn quantities(list: Option<&BTreeMap<String, Written>>, path: &str) -> Checked {
    match first_bad(list) {
        Some((name, fault)) => Err(Fault::new(format!("{path}.{name}"), fault)),
        None => Ok(()),
    }
}

fn first_bad(list: Option<&BTreeMap<String, Written>>) -> Option<(&str, String)> {
    list.into_iter()
        .flatten()
        .find_map(|(name, written)| match written.0.parse::<Quantity>() {
            Err(error) => Some((name.as_str(), error.to_string())),
            Ok(amount) if amount.nanos() < 0 => Some((
                name.as_str(),
                format!("{:?} is less than nothing; an amount is wanted", written.0),
            )),
            Ok(_) => None,
        })
}

fn affinity(affinity: &k8s::Affinity, path: &str) -> Checked {
    if let Some(node) = &affinity.node_affinity {
        let path = format!("{path}.nodeAffinity");
        if let Some(required) = &node.required_during_scheduling_ignored_during_execution {
            for (index, term) in required.node_selector_terms.iter().enumerate() {
                let path = || {
                    format!(
                        "{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
                    )
                };
                expressions(term, &path)?;
            }
        }
        let preferred = node
            .preferred_during_scheduling_ignored_during_execution
            .iter()
            .flatten();
        for (index, wish) in preferred.enumerate() {
            let path =
                || format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference");
            expressions(&wish.preference, &path)?;
        }
    }
    let beside = affinity.pod_affinity.as_ref();
    let apart = affinity.pod_anti_affinity.as_ref();
    pod_terms(
        beside.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_deref()),
        beside.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_deref()),
        &format!("{path}.podAffinity"),
    )?;
    pod_terms(
        apart.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_deref()),
        apart.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_deref()),
        &format!("{path}.podAntiAffinity"),
    )
}

fn pod_terms(
    required: Option<&[k8s::PodAffinityTerm]>,
    preferred: Option<&[k8s::WeightedPodAffinityTerm]>,
    path: &str,
) -> Checked {
    let required = required.into_iter().flatten().map(|term| (term, "required", ""));
    let preferred = preferred
        .into_iter()
        .flatten()
        .map(|wish| (&wish.pod_affinity_term, "preferred", ".podAffinityTerm"));
    for (index, (term, strength, within)) in required.enumerate().chain(preferred.enumerate()) {
        let path = || format!("{path}.{strength}DuringSchedulingIgnoredDuringExecution[{index}]{within}");
        if term.topology_key.is_empty() {
            return Err(expected(&path(), ".topologyKey", "\"\"", "a label's key"));
        }
        selector(term.label_selector.as_ref(), &|| path() + ".labelSelector")?;
        selector(term.namespace_selector.as_ref(), &|| {
            path() + ".namespaceSelector"
        })?;
    }
    Ok(())
}

fn expressions(term: &k8s::NodeSelectorTerm, path: &dyn Fn() -> String) -> Checked {
    for (index, row) in term.match_expressions.iter().flatten().enumerate() {
        let values = row.values.as_deref().unwrap_or_default();
        expression(&row.key, &row.operator, values, &Operator::parse, &|| {
            format!("{}.matchExpressions[{index}]", path())
        })?;
    }
    Ok(())
}

fn selector(written: Option<&LabelSelector>, path: &dyn Fn() -> String) -> Checked {
    let rows = written
        .iter()
        .flat_map(|selector| selector.match_expressions.iter().flatten());
    for (index, row) in rows.enumerate() {
        let values = row.values.as_deref().unwrap_or_default();
        let known = |operator: &str| {
            Operator::parse(operator).filter(|it| {
                matches!(
                    it,
                    Operator::In | Operator::NotIn | Operator::Exists | Operator::DoesNotExist
                )
            })
        };
        expression(&row.key, &row.operator, values, &known, &|| {
            format!("{}.matchExpressions[{index}]", path())
        })?;
    }
    Ok(())
}

fn expression(
    key: &str,
    operator: &str,
    values: &[String],
    known: &dyn Fn(&str) -> Option<Operator>,
    path: &dyn Fn() -> String,
) -> Checked {
    if key.is_empty() {
        return Err(expected(&path(), ".key", "\"\"", "a label's key"));
    }
    let Some(parsed) = known(operator) else {
        let wanted = "an operator such as In, NotIn, Exists or DoesNotExist";
        return Err(expected(&path(), ".operator", &format!("{operator:?}"), wanted));
    };
    if parsed == Operator::In && values.is_empty() {
        return Err(expected(&path(), ".values", "[]", "at least one value for In"));
    }
    match Requirement::new(key, parsed, values.iter().map(String::as_str)) {
        Ok(_) => Ok(()),
        Err(_) => Err(expected(
            &path(),
            ".values",
            &format!("{values:?}"),
            &format!("one whole number for {operator}"),
        )),
    }
}

fn one_of(value: Option<&str>, known: &[&str], path: &dyn Fn() -> String) -> Checked {
    match value {
        Some(value) if !known.contains(&value) => {
            let words: Vec<&str> = known.iter().copied().filter(|word| !word.is_empty()).collect();
            Err(expected(
                &path(),
                "",
                &format!("{value:?}"),
                &format!("one of {}", words.join(", ")),
            ))
        }
        _ => Ok(()),
    }
}

fn expected(path: &str, member: &str, value: &str, wanted: &str) -> Fault {
    Fault::new(
        format!("{path}{member}"),
        format!("{value} found, {wanted} wanted"),
    )
}
