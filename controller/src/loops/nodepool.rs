//! A pool's hash, conditions and totals, and the nodes of a static one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use joiner_api::labels::{NODEPOOL_HASH, NODEPOOL_HASH_VERSION};
use joiner_api::{EC2NodeClass, hash};
use joiner_core::conditions::{DRIFTED, READY};
use joiner_core::pools::{ClassState, Totals, conditions, totals};
use joiner_core::resources::Resources;
use joiner_core::text::{Labels, Text};

use super::keyed::Done;
use super::prepare::Prepared;
use super::static_pools::{self, Ordered};
use crate::act::{Act, Failed, PoolStatus};
use crate::observe::{PoolEntry, map};

/// How often a pool's nodes are counted at most: in a burst every claim changes the totals several times.
const COUNT: SignedDuration = SignedDuration::from_secs(1);

/// Whether static pools get their nodes; Karpenter's gate `StaticCapacity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StaticCapacity {
    On,
    #[default]
    Off,
}

/// What is remembered of pools.
#[derive(Debug, Default)]
pub(super) struct Known {
    static_capacity: StaticCapacity,
    ordered: Ordered,
    prepared: Arc<Prepared>,
    pools: Mutex<BTreeMap<Text, Of>>,
}

/// What is remembered of one.
#[derive(Clone, Debug, Default)]
struct Of {
    checked: Option<Checked>,
    counted: Option<Timestamp>,
}

/// What the rules said; to ask them costs more than all the rest.
#[derive(Clone, Debug)]
struct Checked {
    uid: Text,
    generation: Option<i64>,
    violations: Vec<Text>,
}

impl Known {
    pub(super) fn new(static_capacity: StaticCapacity) -> Known {
        Known {
            static_capacity,
            ..Known::default()
        }
    }

    fn violations(&self, entry: &PoolEntry) -> Vec<Text> {
        let (name, uid) = (&entry.pool.name, &entry.pool.uid);
        let generation = entry.object.metadata.generation;
        let known = self.pools().get(name).and_then(|of| of.checked.clone());
        if let Some(known) = known.filter(|it| it.uid == *uid && it.generation == generation) {
            return known.violations;
        }
        let violations = map::violations(&entry.object);
        self.pools().entry(name.clone()).or_default().checked = Some(Checked {
            uid: uid.clone(),
            generation,
            violations: violations.clone(),
        });
        violations
    }

    /// Takes note that the pool is counted now; if that was done a moment ago, returns when it may be done again.
    fn count(&self, name: &Text, now: Timestamp) -> Option<Timestamp> {
        let mut pools = self.pools();
        let of = pools.entry(name.clone()).or_default();
        let again = of.counted.and_then(|counted| counted.checked_add(COUNT).ok());
        match again.filter(|again| *again > now) {
            Some(again) => Some(again),
            None => {
                of.counted = Some(now);
                None
            }
        }
    }

    fn forget(&self, name: &Text) {
        self.pools().remove(name);
    }

    fn pools(&self) -> MutexGuard<'_, BTreeMap<Text, Of>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings one pool up to date.
pub(super) async fn step(act: Act, known: Arc<Known>, name: Text) -> Done {
    // Observe.
    let now = Timestamp::now();
    let Some(entry) = act.index.pool_entry(&name) else {
        known.forget(&name);
        return Ok(None);
    };
    if act.index.unsynced().contains(&"ec2nodeclasses") {
        return Ok(None);
    }
    hash_of(&act, &entry).await?;
    let Some(entry) = act.index.pool_entry(&name) else {
        return Ok(None);
    };
    let class = act.index.class_entry(&entry.pool.class.name);
    let there = map::pool_conditions(&entry.object);
    // Decide.
    let wanted = conditions(
        &there,
        &known.violations(&entry),
        &class_state(class.as_deref()),
        now,
    );
    let status = entry.object.status.clone().unwrap_or_default();
    let later = known.count(&name, now);
    let usage = later.is_none().then(|| {
        let Totals { resources, nodes } = totals(&act.index.snapshot(now), &name);
        (i64::from(nodes), resources)
    });
    let changed = |(nodes, resources): &(i64, Resources)| {
        status.nodes != Some(*nodes) || map::from_api(&status.resources) != *resources
    };
    let generation = class.as_ref().and_then(|class| class.metadata.generation);
    // Act.
    let change = PoolStatus {
        conditions: wanted,
        usage: usage.filter(changed),
        class_generation: generation.filter(|it| status.node_class_observed_generation != Some(*it)),
    };
    if change != PoolStatus::default() {
        act.set_pool_status(&entry, &change, now).await?;
    }
    let prepare = known.prepared.see_to(&act, &name, now);
    let fixed = match (known.static_capacity, act.index.pool_entry(&name)) {
        (StaticCapacity::On, Some(entry)) => {
            static_pools::see_to(&act, &known.ordered, &entry.pool, now).await?
        }
        _ => None,
    };
    Ok([later, prepare, fixed].into_iter().flatten().min())
}

fn class_state(class: Option<&EC2NodeClass>) -> ClassState {
    match class {
        None => ClassState::NotFound,
        Some(class) if class.metadata.deletion_timestamp.is_some() => ClassState::Terminating,
        Some(class) => ClassState::There {
            ready: map::class_conditions(class).get(READY).cloned(),
        },
    }
}

/// Keeps the hash of the template on the pool. Where the rule of hashing has changed (another version, or Karpenter before
/// us) its claims get the new hash, too, unless they have drifted already: nothing drifts by a change of rule.
async fn hash_of(act: &Act, entry: &PoolEntry) -> Result<(), Failed> {
    let value = hash::node_pool(&entry.object);
    let annotations = entry.object.metadata.annotations.as_ref();
    let written = |key: &str| annotations.and_then(|all| all.get(key)).map(String::as_str);
    let same_rule = written(NODEPOOL_HASH_VERSION) == Some(hash::VERSION);
    if same_rule && written(NODEPOOL_HASH) == Some(&value) {
        return Ok(());
    }
    if !same_rule {
        let annotations: Labels = [
            (Text::from(NODEPOOL_HASH), Text::from(value.as_str())),
            (Text::from(NODEPOOL_HASH_VERSION), Text::from(hash::VERSION)),
        ]
        .into();
        let outdated = act.index.claim_entries().into_iter().filter(|claim| {
            let claim = &claim.claim;
            claim.pool() == Some(&entry.pool.name)
                && claim
                    .annotations
                    .get(NODEPOOL_HASH_VERSION)
                    .is_none_or(|it| **it != *hash::VERSION)
                && !claim.conditions.is_true(DRIFTED)
        });
        for claim in outdated {
            act.label_claim(&claim.claim.name, &Labels::new(), &annotations)
                .await?;
        }
    }
    act.annotate_pool(
        &entry.pool.name,
        &[(NODEPOOL_HASH, &value), (NODEPOOL_HASH_VERSION, hash::VERSION)],
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_counted_once_a_second() {
        let known = Known::default();
        let name: Text = "default".into();
        let at = |millis: i64| Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap();
        for (millis, want) in [
            (0, None),
            (10, Some(1000)),
            (999, Some(1000)),
            (1000, None),
            (1001, Some(2000)),
        ] {
            assert_eq!(known.count(&name, at(millis)), want.map(at), "{millis}");
        }
        known.forget(&name);
        assert_eq!(known.count(&name, at(1002)), None);
    }
}
