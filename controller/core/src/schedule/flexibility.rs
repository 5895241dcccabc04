//! `minValues`: how many different values of a label the instance types of one claim must offer.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::InstanceType;
use crate::launch::values_of;
use crate::requirements::{Requirement, Requirements};
use crate::text::Text;

/// A `minValues` that some instance types do not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The label.
    pub(crate) key: Text,
    /// How many values there are.
    pub(crate) found: u32,
    /// How many are wanted.
    pub(crate) wanted: u32,
}

/// Every `minValues` of `requirements` that `types` do not meet, by label.
pub(crate) fn gaps<'a>(
    types: impl Iterator<Item = &'a InstanceType> + Clone,
    requirements: &Requirements,
) -> Vec<Gap> {
    let gap = |requirement: &Requirement| {
        let wanted = requirement.min_values()?;
        let values: BTreeSet<&Text> = types
            .clone()
            .flat_map(|it| allowed_values(it, requirement))
            .collect();
        let found = u32::try_from(values.len()).unwrap_or(u32::MAX);
        (found < wanted).then(|| Gap {
            key: requirement.key().clone(),
            found,
            wanted,
        })
    };
    requirements.iter().filter_map(gap).collect()
}

/// Lowers every `minValues` that `types` do not meet to what they offer. Whether any was lowered.
pub(crate) fn relax<'a>(
    types: impl Iterator<Item = &'a InstanceType> + Clone,
    requirements: &mut Requirements,
) -> bool {
    let gaps = gaps(types, requirements);
    for gap in &gaps {
        if let Some(requirement) = requirements.get(&gap.key).cloned() {
            requirements.replace(requirement.with_min_values(Some(gap.found)));
        }
    }
    !gaps.is_empty()
}

/// At most `most` of `types`, which come cheapest first: those that bring a value that `minValues` still lacks, and
/// of the others the cheapest. The order stays.
pub(crate) fn keep<'a>(
    types: &[&'a InstanceType],
    requirements: &Requirements,
    most: usize,
) -> Vec<&'a InstanceType> {
    if types.len() <= most {
        return types.to_vec();
    }
    let wanting: Vec<(&Requirement, usize)> = requirements
        .iter()
        .filter_map(|requirement| Some((requirement, usize::try_from(requirement.min_values()?).ok()?)))
        .collect();
    let mut seen: BTreeMap<&Text, BTreeSet<&Text>> = BTreeMap::new();
    let mut needed = BTreeSet::new();
    for (index, it) in types.iter().enumerate() {
        for (requirement, wanted) in &wanting {
            let seen = seen.entry(requirement.key()).or_default();
            for value in allowed_values(it, requirement) {
                if seen.len() < *wanted && seen.insert(value) {
                    needed.insert(index);
                }
            }
        }
    }
    let mut room = most.saturating_sub(needed.len());
    let mut keeps = |index: &usize| {
        needed.contains(index) || {
            let fits = room > 0;
            room = room.saturating_sub(1);
            fits
        }
    };
    types
        .iter()
        .enumerate()
        .filter(|(index, _)| keeps(index))
        .map(|(_, it)| *it)
        .collect()
}

fn allowed_values<'a>(it: &'a InstanceType, requirement: &Requirement) -> impl Iterator<Item = &'a Text> {
    values_of(it, requirement.key()).filter(|value| requirement.allows(Some(value)))
}
