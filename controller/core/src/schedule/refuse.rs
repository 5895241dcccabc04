//! Why no instance type is left: how many were lost where, and which came nearest.

use std::collections::{BTreeMap, BTreeSet};

use super::misfit::{Misfit, Nearest};
use crate::catalogue::InstanceType;
use crate::requirements::{Requirement, Requirements, Values};
use crate::resources::{Resources, Shortfall};
use crate::text::Text;

/// Why none of `types` suits `requirements`, holds `requests` and is on sale.
pub(crate) fn refuse_types(
    types: &[InstanceType],
    requirements: &Requirements,
    requests: &Resources,
) -> Misfit {
    let usable: Vec<(&InstanceType, Resources)> = types.iter().map(|it| (it, it.allocatable())).collect();
    refuse(
        usable.iter().map(|(it, usable)| (*it, usable)),
        requirements,
        requests,
    )
}

/// As [`refuse_types`], with what each type has left for pods.
pub(super) fn refuse<'a>(
    types: impl Iterator<Item = (&'a InstanceType, &'a Resources)>,
    requirements: &Requirements,
    requests: &Resources,
) -> Misfit {
    let (mut total, mut incompatible, mut unavailable) = (0, 0, 0);
    let mut labels: BTreeMap<Text, usize> = BTreeMap::new();
    let mut small: Vec<Nearest> = Vec::new();
    let mut offered: BTreeMap<Text, BTreeSet<Text>> = BTreeMap::new();
    for (it, usable) in types {
        total += 1;
        if let Some(clash) = it.clash(requirements) {
            incompatible += 1;
            *labels.entry(clash.key().clone()).or_default() += 1;
            if let Some(Values::Only(values)) = it.requirements.get(clash.key()).map(Requirement::values) {
                let known = offered.entry(clash.key().clone()).or_default();
                known.extend(values.iter().cloned());
            }
            continue;
        }
        let mut shortfalls = requests.shortfalls(usable);
        let overdrawn = usable
            .iter()
            .filter(|(name, amount)| *amount < 0 && shortfalls.iter().all(|row| row.resource != *name));
        let overdrawn: Vec<Shortfall> = overdrawn
            .map(|(resource, available)| Shortfall {
                wanted: requests.get(&resource),
                resource,
                available,
            })
            .collect();
        shortfalls.extend(overdrawn);
        if shortfalls.is_empty() {
            unavailable += 1;
        } else {
            small.push(Nearest {
                instance_type: it.name.clone(),
                shortfalls,
            });
        }
    }
    if total == 0 {
        return Misfit::NoTypes;
    }
    let too_small = small.len();
    let nearest = small
        .into_iter()
        .min_by(|a, b| distance(a).cmp(&distance(b)))
        .map(Box::new);
    let label = labels
        .into_iter()
        .max_by(|(a, an), (b, bn)| (an, b).cmp(&(bn, a)))
        .map(|(label, _)| label);
    let like = |label: &Text| {
        let wanted = requirements.get(label).and_then(Requirement::single);
        nearest_values(offered.remove(label).unwrap_or_default(), wanted)
    };
    Misfit::Types {
        total,
        incompatible,
        offered: label.as_ref().map_or_else(Vec::new, like),
        label,
        too_small,
        nearest,
        unavailable,
    }
}

/// A few of `values`, those most like `wanted` first.
fn nearest_values(values: BTreeSet<Text>, wanted: Option<&Text>) -> Vec<Text> {
    const SHOWN: usize = 5;
    let mut all: Vec<Text> = values.into_iter().collect();
    if let Some(wanted) = wanted {
        all.sort_by_cached_key(|value| (edits(value, wanted), value.clone()));
    }
    all.truncate(SHOWN);
    all
}

/// How many letters must be put in, taken out or changed to make one text of another.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let change = diagonal + usize::from(one != *other);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// How far a type is off: in how many resources, and by how many thousandths of what is wanted at the worst.
fn distance(nearest: &Nearest) -> (usize, i128, &Text) {
    let worst = nearest.shortfalls.iter().map(|row| {
        let (wanted, available) = (i128::from(row.wanted), i128::from(row.available));
        (wanted - available) * 1000 / wanted.max(1)
    });
    (
        nearest.shortfalls.len(),
        worst.max().unwrap_or(0),
        &nearest.instance_type,
    )
}

#[cfg(test)]
mod tests {
    use super::{edits, nearest_values};

    #[test]
    fn what_is_most_like_it_comes_first() {
        assert_eq!(
            (edits("kitten", "sitting"), edits("", "ab"), edits("a", "a")),
            (3, 2, 0)
        );
        let values = ["us-west-2a", "us-east-1a", "eu-west-1b"];
        let all = values.into_iter().map(Into::into).collect();
        let found = nearest_values(all, Some(&"us-west-2x".into()));
        assert_eq!(found, ["us-west-2a", "eu-west-1b", "us-east-1a"].map(Into::into));
    }
}
