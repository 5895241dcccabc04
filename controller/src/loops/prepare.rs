//! Launch templates are made as soon as a pool and its class are ready, beside the work, so that the first pod does not wait for
//! them; and looked after, so that they are not taken for unused while nothing is bought.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use joiner_api::EC2NodeClass;
use joiner_aws::node_class::NodeClass;
use joiner_core::snapshot::Readiness;
use joiner_core::text::Text;
use tracing::{Instrument as _, debug, info, warn};

use super::rehearse::Rehearsal;
use crate::act::{Act, chain};
use crate::observe::PoolEntry;

/// How often templates of a pool that has not changed are looked after: unused ones are deleted after 30 minutes.
const AGAIN: SignedDuration = SignedDuration::from_mins(10);
/// Most launch templates for one pool.
const MOST: usize = 32;
/// Most for all pools together, once all have been looked after: EC2 allows 5,000 in a region.
const ALL: usize = 1000;
/// How soon it is tried again when AWS refused.
const RETRY: Duration = Duration::from_secs(60);
/// How often a process that has just started looks whether it knows what EC2 sells.
const PAUSE: Duration = Duration::from_millis(200);

/// What is prepared, by pool.
#[derive(Debug, Default)]
pub(super) struct Prepared(Mutex<BTreeMap<Text, (Of, Timestamp)>>);

/// What templates depend on: pool and class, each by uid and what changes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Of {
    pool: (Text, Option<i64>),
    class: (Option<String>, Option<String>),
}

impl Prepared {
    /// Starts the preparation of a pool if it is ready and due. Returns when it is due next.
    pub(super) fn see_to(self: &Arc<Self>, act: &Act, name: &Text, now: Timestamp) -> Option<Timestamp> {
        let Some(entry) = act.index.pool_entry(name) else {
            self.all().remove(name);
            return None;
        };
        let class = act.index.class_entry(&entry.pool.class.name)?;
        let is_open = entry.pool.readiness == Readiness::Ready && !entry.pool.deleting;
        if !is_open || class.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let of = Of {
            pool: (entry.pool.uid.clone(), entry.object.metadata.generation),
            class: (
                class.metadata.uid.clone(),
                class.metadata.resource_version.clone(),
            ),
        };
        let due = self.begin(name, &of, now);
        if due.is_none() {
            let (prepared, act, name) = (self.clone(), act.clone(), name.clone());
            let work = async move {
                let most = share(prepared.all().len());
                if !prepare(&act, &entry, &class, most).await {
                    tokio::time::sleep(RETRY).await;
                    prepared.all().remove(&name);
                    act.index.changes.pools.ring(&name);
                }
            };
            tokio::spawn(work.in_current_span());
        }
        Some(due.unwrap_or_else(|| after(now, AGAIN)))
    }

    /// Takes note that `of` is prepared from now on; where that was done lately, returns when it is due again instead.
    fn begin(&self, name: &Text, of: &Of, now: Timestamp) -> Option<Timestamp> {
        let mut all = self.all();
        match all.get(name) {
            Some((known, due)) if known == of && *due > now => Some(*due),
            _ => {
                all.insert(name.clone(), (of.clone(), after(now, AGAIN)));
                None
            }
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Text, (Of, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many launch templates each of so many pools may have.
fn share(pools: usize) -> usize {
    (ALL / pools.max(1)).clamp(1, MOST)
}

/// False: AWS refused.
async fn prepare(act: &Act, entry: &PoolEntry, class: &EC2NodeClass, most: usize) -> bool {
    let pool = &entry.pool;
    while !act.cloud.knows_types() {
        tokio::time::sleep(PAUSE).await;
    }
    let started = Instant::now();
    let now = Timestamp::now();
    let (Ok(resolved), Some(types)) = (NodeClass::try_from(class), act.cloud.types(class, now)) else {
        return true;
    };
    let resolved = act.cloud.complete(resolved);
    let Some(rehearsal) = Rehearsal::of_pool(pool, resolved, &types, now) else {
        debug!(NodePool = %pool.name, "pool would buy nothing; no launch templates are made");
        return true;
    };
    let rehearsal = rehearsal.with_all_types();
    let order = rehearsal.order(&act.cloud.cluster.join, &[]);
    let is_there = || {
        let class = act.index.class_entry(&pool.class.name);
        class.is_some_and(|class| class.metadata.deletion_timestamp.is_none())
    };
    let made = act
        .cloud
        .launcher
        .prepare(&order, most, &act.cloud.shortages(), now, is_there)
        .await;
    match made {
        Ok(count) => {
            info!(
                NodePool = %pool.name, launch_templates = count, seconds = started.elapsed().as_secs_f64(),
                "prepared launch templates"
            );
            true
        }
        Err(cause) => {
            warn!(NodePool = %pool.name, error = %chain(&cause), "launch templates were not prepared");
            false
        }
    }
}

fn after(now: Timestamp, pause: SignedDuration) -> Timestamp {
    now.saturating_add(pause).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pools_share_what_ec2_allows() {
        for (pools, each) in [(0, 32), (1, 32), (31, 32), (100, 10), (5000, 1)] {
            assert_eq!(share(pools), each, "{pools} pools");
        }
    }

    #[test]
    fn a_pool_is_due_when_it_or_its_class_has_changed_and_every_while() {
        let prepared = Prepared::default();
        let name: Text = "default".into();
        let of = |generation: i64, version: &str| Of {
            pool: ("p".into(), Some(generation)),
            class: (Some("c".to_owned()), Some(version.to_owned())),
        };
        let at = |minute: i64| Timestamp::from_second(1_800_000_000 + 60 * minute).unwrap();
        for (minute, of, due) in [
            (0, of(1, "5"), true),
            (1, of(1, "5"), false),
            (2, of(2, "5"), true),
            (3, of(2, "6"), true),
            (12, of(2, "6"), false),
            (13, of(2, "6"), true),
        ] {
            assert_eq!(
                prepared.begin(&name, &of, at(minute)).is_none(),
                due,
                "minute {minute}"
            );
        }
    }
}
