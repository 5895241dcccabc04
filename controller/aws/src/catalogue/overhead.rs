//! What a node keeps back from pods, by the formulas that the images use where the node class sets nothing.

use super::capacity::{amount, pods_by_interfaces};
use super::facts::TypeFacts;
use crate::family::features;
use crate::node_class::NodeClass;
use joiner_api::labels as names;
use joiner_core::catalogue::Overhead;
use joiner_core::resources::Resources;
use std::collections::BTreeMap;

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;
/// Kept free before the kubelet evicts, where nothing is set.
const EVICTION_MEMORY: i64 = 100 * MIB;
const EVICTION_STORAGE_PERCENT: i64 = 10;

/// Processors kept for the kubelet: from, to (thousandths of a core), share in hundredths of a percent.
const CPU_SHARES: [(i64, i64, i64); 4] = [
    (0, 1000, 600),
    (1000, 2000, 100),
    (2000, 4000, 50),
    (4000, 1 << 31, 25),
];

/// All three parts. `memory` and `storage` in bytes.
pub(super) fn overhead(
    kind: &TypeFacts,
    class: &NodeClass,
    memory: i64,
    storage: i64,
    pods: i64,
) -> Overhead {
    let counted = if features(class.family).memory_reserved_by_interfaces {
        pods_by_interfaces(kind, class, 0)
    } else {
        pods
    };
    Overhead {
        kube_reserved: kube_reserved(
            i64::from(kind.vcpus) * 1000,
            counted,
            &class.kubelet.kube_reserved,
        ),
        system_reserved: amounts(&class.kubelet.system_reserved).into_iter().collect(),
        eviction_threshold: eviction(memory, storage, &class.kubelet.eviction_hard),
    }
}

fn kube_reserved(milli_cpus: i64, pods: i64, set: &BTreeMap<String, String>) -> Resources {
    let cpu = CPU_SHARES
        .iter()
        .filter(|(from, _, _)| milli_cpus >= *from)
        .map(|(from, to, share)| (milli_cpus.min(*to) - from) * share / 10_000)
        .sum();
    let computed =
        Resources::cpu_memory(cpu, (11 * pods + 255) * MIB).with(names::RESOURCE_EPHEMERAL_STORAGE, GIB);
    amounts(set)
        .into_iter()
        .fold(computed, |all, (name, amount)| all.with(name, amount))
}

fn eviction(memory: i64, storage: i64, set: &BTreeMap<String, String>) -> Resources {
    let signal = |name: &str, capacity: i64, default: i64| {
        set.get(name)
            .and_then(|text| threshold(text, capacity))
            .unwrap_or(default)
    };
    Resources::new()
        .with(
            names::RESOURCE_MEMORY,
            signal("memory.available", memory, EVICTION_MEMORY),
        )
        .with(
            names::RESOURCE_EPHEMERAL_STORAGE,
            signal(
                "nodefs.available",
                storage,
                percent(storage, EVICTION_STORAGE_PERCENT * 100),
            ),
        )
}

/// A quantity, or a percentage of `capacity` rounded up; 100% switches the threshold off.
fn threshold(text: &str, capacity: i64) -> Option<i64> {
    match text.strip_suffix('%') {
        None => amount(names::RESOURCE_MEMORY, text),
        Some(number) => {
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            let fraction: String = format!("{fraction:0<2}").chars().take(2).collect();
            let hundredths = whole
                .parse::<i64>()
                .ok()?
                .checked_mul(100)?
                .checked_add(fraction.parse::<i64>().ok()?)?;
            Some(if hundredths == 10_000 {
                0
            } else {
                percent(capacity, hundredths)
            })
        }
    }
}

/// `hundredths` of a percent of `capacity`, rounded up.
fn percent(capacity: i64, hundredths: i64) -> i64 {
    let product = i128::from(capacity) * i128::from(hundredths);
    i64::try_from(product.div_euclid(10_000) + i128::from(product.rem_euclid(10_000) != 0))
        .unwrap_or(i64::MAX)
}

fn amounts(set: &BTreeMap<String, String>) -> Vec<(&str, i64)> {
    set.iter()
        // Process ids are not a resource that pods ask for.
        .filter(|(name, _)| name.as_str() != "pid")
        .filter_map(|(name, text)| Some((name.as_str(), amount(name, text)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_kept_in_falling_shares() {
        for (cpus, want) in [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (96, 310)] {
            let kept = kube_reserved(cpus * 1000, 0, &BTreeMap::new());
            assert_eq!(
                kept,
                Resources::cpu_memory(want, 255 * MIB).with("ephemeral-storage", GIB),
                "{cpus}"
            );
        }
    }

    #[test]
    fn what_is_set_wins() {
        let set = [
            ("cpu".to_owned(), "250m".to_owned()),
            ("pid".to_owned(), "100".to_owned()),
        ]
        .into();
        assert_eq!(
            kube_reserved(4000, 10, &set),
            Resources::cpu_memory(250, 365 * MIB).with("ephemeral-storage", GIB)
        );
    }

    #[test]
    fn thresholds_are_quantities_or_shares() {
        for (text, want) in [
            ("100Mi", Some(100 * MIB)),
            ("5%", Some(50)),
            ("5.5%", Some(55)),
            ("0.05%", Some(1)),
            ("100%", Some(0)),
            ("100.00%", Some(0)),
            ("much", None),
            ("x%", None),
        ] {
            assert_eq!(threshold(text, 1000), want, "{text}");
        }
    }
}
