//! Requirements: what the CRD cannot say about one of them, and whether several exclude each other.

use crate::{Operator, labels};

use super::{Violation, contradiction::Allowed, names, nearest, view::View};

/// Checks a list of requirements. `labels` are a pool's template labels, which are requirements as well.
pub(super) fn check(requirements: &View<'_>, labels: Option<&View<'_>>, found: &mut Vec<Violation>) {
    for requirement in requirements.items() {
        check_one(&requirement, found);
    }
    check_together(requirements, labels, found);
}

fn check_one(requirement: &View<'_>, found: &mut Vec<Violation>) {
    let Some(key) = requirement.field("key") else {
        return;
    };
    let Some(name) = key.value.as_str() else { return };
    if let Some(problem) = names::label_key(name) {
        found.push(key.fail(format!("{name:?} is no label key: {problem}")));
    } else if let Some(hint) = mistyped_label(name) {
        found.push(key.fail(hint));
    }
    let Some(values) = requirement.field("values") else {
        return;
    };
    for value in values.items() {
        if let Some(problem) = value.value.as_str().and_then(names::label_value) {
            found.push(value.fail(problem));
        }
    }
    if requirement.text("operator") == Some(Operator::In.as_str()) && values.is_complete() {
        check_known_values(labels::normalize(name), requirement, &values, found);
    }
}

/// A key in a reserved domain that no instance type has.
fn mistyped_label(key: &str) -> Option<String> {
    let domain = labels::restricted_domain(key)?;
    if key == labels::EC2_NODE_CLASS {
        return None;
    }
    let known = labels::AWS_WELL_KNOWN
        .iter()
        .chain(labels::KUBERNETES_WELL_KNOWN)
        .copied();
    let hint = nearest::hint(key, known);
    Some(format!(
        "{key:?} lies in the reserved domain {domain} and is none of its known labels{hint}"
    ))
}

/// Of a label with a closed set of values at least one, and as many as minValues asks for, must be in the set.
/// Upstream goes on with the valid ones, so a part of them being wrong is no error.
fn check_known_values(key: &str, requirement: &View<'_>, values: &View<'_>, found: &mut Vec<Violation>) {
    let Some((_, known)) = labels::KNOWN_VALUES.iter().find(|(label, _)| *label == key) else {
        return;
    };
    let items = values.items();
    let valid = items
        .iter()
        .filter(|item| item.value.as_str().is_some_and(|v| known.contains(&v)))
        .count();
    let list = known.join(", ");
    let first_wrong = items
        .iter()
        .find_map(|item| item.value.as_str().filter(|v| !known.contains(v)));
    if valid == 0 && !items.is_empty() {
        let hint = first_wrong
            .map(|wrong| nearest::hint(wrong, known.iter().copied()))
            .unwrap_or_default();
        found.push(values.fail(format!(
            "none of the values exists for {key}; use one or more of {list}{hint}"
        )));
    } else if let Some(wanted) = requirement.field("minValues")
        && wanted
            .value
            .as_u64()
            .is_some_and(|wanted| (valid as u64) < wanted)
    {
        found.push(wanted.fail(format!(
            "asks for {} different values, but 'values' lists {valid} that exist for {key} ({list}): lower 'minValues' or add values",
            wanted.value
        )));
    }
}

/// Reports the first requirement that leaves no value for its key.
fn check_together(requirements: &View<'_>, labels: Option<&View<'_>>, found: &mut Vec<Violation>) {
    let mut allowed: std::collections::BTreeMap<String, Allowed> = std::collections::BTreeMap::new();
    for (key, value) in labels.map(View::entries).unwrap_or_default() {
        let Some((value, text)) = value
            .as_ref()
            .and_then(|value| Some((value, value.value.as_str()?)))
        else {
            continue;
        };
        let entry = allowed.entry(labels::normalize(key).to_owned()).or_default();
        entry.narrow(Operator::In, &[text], &value.path);
    }
    for requirement in requirements.items() {
        let (Some(key), Some(operator)) = (requirement.text("key"), operator(&requirement)) else {
            continue;
        };
        let values = requirement
            .field("values")
            .map(|values| (values.is_complete(), values.items()));
        let known: Vec<&str> = values
            .iter()
            .flat_map(|(_, items)| items)
            .filter_map(|item| item.value.as_str())
            .collect();
        let complete = values
            .as_ref()
            .map_or(!requirement.may_have("values"), |(complete, _)| *complete);
        // In with an unknown value may allow anything, and one that lists nothing is reported by the CRD.
        if !complete || (operator == Operator::In && known.is_empty()) {
            continue;
        }
        let key = labels::normalize(key);
        let entry = allowed.entry(key.to_owned()).or_default();
        let was_possible = entry.is_possible();
        let others = entry.describe();
        entry.narrow(operator, &known, &requirement.path);
        if was_possible && !entry.is_possible() {
            let rule = match known.as_slice() {
                [] => operator.to_string(),
                values => format!("{operator} {}", values.join(", ")),
            };
            found.push(requirement.fail(format!(
                "no node can meet \"{key} {rule}\" together with {others}: remove or change one of them"
            )));
        }
    }
}

fn operator(requirement: &View<'_>) -> Option<Operator> {
    let text = requirement.text("operator")?;
    Operator::ALL
        .into_iter()
        .find(|operator| operator.as_str() == text)
}
