//! Requirements whose words are not those that nodes have.

use super::finding::{Finding, element, spec};
use super::requirements::meant;
use joiner_api::labels::{self, AWS_WELL_KNOWN, KUBERNETES_WELL_KNOWN, NORMALIZED, OS, domain, normalize};
use joiner_api::rules::{JsonPath, nearest};
use joiner_api::{NodePool, Operator, Requirement};
use std::collections::BTreeSet;

/// The operating systems of nodes (`runtime.GOOS` of a kubelet).
const SYSTEMS: [&str; 2] = ["linux", "windows"];
/// A name so short says too little to be the beginning of another.
const SHORT: usize = 3;

/// Looks at each requirement of a pool. Types are no matter here.
pub(super) fn check(pool: &NodePool, found: &mut Vec<Finding>) {
    let list = spec(&["template", "spec", "requirements"]);
    let own = pool
        .spec
        .template
        .metadata
        .as_ref()
        .map(|metadata| &metadata.labels);
    for (index, written) in pool.spec.template.spec.requirements.iter().enumerate() {
        if !own.is_some_and(|labels| labels.contains_key(&written.key)) {
            check_key(written, index, &list, found);
        }
        check_values(written, index, &list, found);
        if normalize(&written.key) == OS {
            check_system(written, index, &list, found);
        }
    }
}

/// Values that an operator does not look at.
fn check_values(written: &Requirement, index: usize, list: &JsonPath, found: &mut Vec<Finding>) {
    let instead = match written.operator {
        Operator::Exists => "In",
        Operator::DoesNotExist => "NotIn",
        _ => return,
    };
    if !written.values.is_empty() {
        found.push(Finding::doubtful(
            element(list, index, "values"),
            "The values count for nothing",
            format!(
                "{} asks for the label alone, whatever its value. Write {instead} to go by the values, or remove them.",
                written.operator.as_str()
            ),
        ));
    }
}

/// Operating systems that there are not.
fn check_system(written: &Requirement, index: usize, list: &JsonPath, found: &mut Vec<Finding>) {
    const SUMMARY: &str = "There is no such operating system";
    let known: BTreeSet<String> = SYSTEMS.map(str::to_owned).into();
    let wrong: Vec<String> = written
        .values
        .iter()
        .filter(|value| !known.contains(*value))
        .map(|value| match meant(value, &known) {
            Some(near) => format!("{value:?} (did you mean {near:?}?)"),
            None => format!("{value:?}"),
        })
        .collect();
    if wrong.is_empty() {
        return;
    }
    let all = wrong.len() == written.values.len();
    let detail = format!(
        "{} of {} is on no node: they have linux or windows.",
        wrong.join(", "),
        written.key
    );
    let path = element(list, index, "values");
    match written.operator {
        Operator::In if all => found.push(Finding::wrong(path, SUMMARY, detail)),
        Operator::In | Operator::NotIn => found.push(Finding::doubtful(path, SUMMARY, detail)),
        _ => {}
    }
}

/// A key that is nearly one that nodes have.
fn check_key(written: &Requirement, index: usize, list: &JsonPath, found: &mut Vec<Finding>) {
    let Some(near) = near(&written.key) else { return };
    found.push(Finding::doubtful(
        element(list, index, "key"),
        "The label may be misspelt",
        format!(
            "No instance type has a label {:?}, so it chooses none of them, and is put on nodes as a label of your own; did you mean {near:?}? \
             If it is your own, define it among the labels of the pool's template.",
            written.key
        ),
    ));
}

/// The label that a key stands for most likely: of the same domain with a similar name, or of the same name in a similar domain.
fn near(key: &str) -> Option<&'static str> {
    // Another in a reserved domain breaks a rule of the API.
    if labels::is_well_known(key) || normalize(key) != key || labels::restricted_domain(key).is_some() {
        return None;
    }
    let name = |key: &'_ str| key.rsplit('/').next().unwrap_or_default().to_owned();
    let (own_domain, own_name) = (domain(key), name(key));
    let known = || {
        let aliases = NORMALIZED.iter().map(|(alias, _)| *alias);
        KUBERNETES_WELL_KNOWN
            .iter()
            .chain(AWS_WELL_KNOWN)
            .copied()
            .chain(aliases)
    };
    let begins = |one: &str, other: &str| one.len() > SHORT && other.starts_with(one);
    let of_domain = known().filter(|known| domain(known) == own_domain).find(|known| {
        let known = name(known);
        nearest(&own_name, [known.as_str()]).is_some()
            || begins(&own_name, &known)
            || begins(&known, &own_name)
    });
    let is_kubernetes = own_domain.ends_with("kubernetes.io") || own_domain.is_empty();
    of_domain.or_else(|| {
        known().find(|known| {
            name(known) == own_name && (is_kubernetes || nearest(own_domain, [domain(known)]).is_some())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_label_of_nodes_is_known() {
        for (key, want) in [
            ("kubernetes.io/architecture", Some("kubernetes.io/arch")),
            ("kubernetes.io/archh", Some("kubernetes.io/arch")),
            ("kuberntes.io/arch", Some("kubernetes.io/arch")),
            ("kubernetes.io/zone", Some("topology.kubernetes.io/zone")),
            (
                "node.kubernetes.io/instance_type",
                Some("node.kubernetes.io/instance-type"),
            ),
            ("instance-type", Some("node.kubernetes.io/instance-type")),
            ("kubernetes.io/arch", None),
            ("beta.kubernetes.io/arch", None),
            ("team", None),
            ("example.com/arch", None),
            ("kubernetes.io/role", None),
            ("karpenter.sh/capacity-typ", None),
        ] {
            assert_eq!(near(key), want, "{key}");
        }
    }
}
