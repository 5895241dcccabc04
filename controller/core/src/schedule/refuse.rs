//! Why no instance type is left: how many were lost where, and which came nearest.

use std::collections::BTreeMap;

use super::misfit::{Misfit, Nearest};
use crate::catalogue::InstanceType;
use crate::requirements::Requirements;
use crate::resources::Resources;
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
    for (it, usable) in types {
        total += 1;
        if let Some(clash) = it.clash(requirements) {
            incompatible += 1;
            *labels.entry(clash.key().clone()).or_default() += 1;
            continue;
        }
        let shortfalls = requests.shortfalls(usable);
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
    Misfit::Types {
        total,
        incompatible,
        label,
        too_small,
        nearest,
        unavailable,
    }
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
