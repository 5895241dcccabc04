//! A pool's hash, conditions and totals.

use jiff::Timestamp;
use joiner_api::labels::{NODEPOOL_HASH, NODEPOOL_HASH_VERSION};
use joiner_api::{EC2NodeClass, hash};
use joiner_core::conditions::{DRIFTED, READY};
use joiner_core::pools::{ClassState, Totals, conditions, totals};
use joiner_core::text::{Labels, Text};

use super::keyed::Done;
use crate::act::{Act, Failed, PoolStatus};
use crate::observe::{PoolEntry, map};

/// Brings one pool up to date.
pub(super) async fn step(act: Act, name: Text) -> Done {
    // Observe.
    let now = Timestamp::now();
    let Some(entry) = act.index.pool_entry(&name) else {
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
        &map::violations(&entry.object),
        &class_state(class.as_deref()),
        now,
    );
    let Totals { resources, nodes } = totals(&act.index.snapshot(now), &name);
    let status = entry.object.status.clone().unwrap_or_default();
    let counted = status.nodes == Some(nodes.into()) && map::from_api(&status.resources) == resources;
    let generation = class.as_ref().and_then(|class| class.metadata.generation);
    // Act.
    let change = PoolStatus {
        conditions: wanted,
        usage: (!counted).then(|| (nodes.into(), resources)),
        class_generation: generation.filter(|it| status.node_class_observed_generation != Some(*it)),
    };
    if change != PoolStatus::default() {
        act.set_pool_status(&entry, &change, now).await?;
    }
    Ok(None)
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
    let written = &entry.pool.hash;
    if *written.value == *value && *written.version == *hash::VERSION {
        return Ok(());
    }
    if *written.version != *hash::VERSION {
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
