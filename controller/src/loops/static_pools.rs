//! Static pools are brought to their number of nodes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use joiner_core::snapshot::Pool;
use joiner_core::static_pools::{Scale, claim, scale};
use joiner_core::text::Text;
use tracing::{info, warn};

use super::provision;
use crate::act::{Act, Event, Failed, Object};

/// A pool's nodes are ordered at most so often: an order that cannot be served is given up and would be given again at once.
const PACE: SignedDuration = SignedDuration::from_secs(1);
/// How soon it is tried again where nothing of a pool is on sale, or its limit is reached. Karpenter's value.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);

/// When nodes of each static pool were ordered last.
#[derive(Debug, Default)]
pub(super) struct Ordered(Mutex<BTreeMap<Text, Timestamp>>);

impl Ordered {
    /// Takes note of an order now; where the last was a moment ago, returns when the next may be.
    fn begin(&self, pool: &Text, now: Timestamp) -> Option<Timestamp> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = all.get(pool).map_or(now, |last| after(*last, PACE));
        if due > now {
            return Some(due);
        }
        all.insert(pool.clone(), now);
        None
    }
}

/// Brings one pool to its number. Returns when to look again, if nothing changes before.
pub(super) async fn see_to(
    act: &Act,
    ordered: &Ordered,
    pool: &Pool,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failed> {
    // Observe.
    if pool.replicas.is_none() || !act.index.unsynced().is_empty() || !act.cloud.knows_types() {
        return Ok(None);
    }
    let snapshot = act.index.snapshot(now);
    // Decide.
    let Scale {
        make,
        delete,
        beyond_limit,
    } = scale(&snapshot, pool, now);
    // Act.
    for name in &delete {
        if let Some(entry) = act.index.claim_entry(name) {
            info!(NodeClaim = %name, NodePool = %pool.name, "static pool has more nodes than replicas, nodeclaim is deleted");
            act.delete_claim(&entry.claim).await?;
        }
    }
    if beyond_limit > 0 {
        let message = format!(
            "NodePool {} wants {beyond_limit} more nodes than its limit allows",
            pool.name
        );
        act.events.publish(Event::warning(
            Object::pool(&pool.name, &pool.uid),
            "NodeLimitReached",
            message,
        ));
    }
    if make == 0 {
        return Ok((beyond_limit > 0).then(|| after(now, AGAIN)));
    }
    if let Some(due) = ordered.begin(&pool.name, now) {
        return Ok(Some(due));
    }
    let catalogue = act.cloud.catalogue(&act.index, now);
    let Some(template) = claim(&snapshot, &catalogue, pool, now) else {
        warn!(NodePool = %pool.name, "nothing that the static pool allows is on sale");
        return Ok(Some(after(now, AGAIN)));
    };
    info!(NodePool = %pool.name, nodeclaims = make, "static pool has fewer nodes than replicas");
    provision::order(act, (0..make).map(|_| template.clone()).collect()).await;
    Ok(None)
}

fn after(time: Timestamp, pause: SignedDuration) -> Timestamp {
    time.saturating_add(pause).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use joiner_core::snapshot::Readiness;
    use serde_json::{Value, json};

    use super::*;
    use crate::act::testing::act;
    use crate::observe::map;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap()
    }

    #[test]
    fn orders_keep_their_pace() {
        let ordered = Ordered::default();
        let pool: Text = "fixed".into();
        for (millis, want) in [(0, None), (10, Some(1000)), (1000, None), (1999, Some(2000))] {
            assert_eq!(ordered.begin(&pool, at(millis)), want.map(at), "{millis}");
        }
    }

    fn claim(name: &str, provider: Option<&str>) -> Value {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": name, "uid": name, "resourceVersion": "1", "labels": {"karpenter.sh/nodepool": "fixed"}},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []},
            "status": {"providerID": provider},
        })
    }

    /// Without what EC2 sells nothing is decided, as what is there may not be known either.
    #[tokio::test]
    async fn nothing_happens_before_everything_is_known() {
        let (act, log) = act(|_| (200, json!({"kind": "Status", "status": "Success"})));
        act.index
            .claim(&serde_json::from_value(claim("fixed-a", None)).unwrap());
        let object = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "fixed"},
            "spec": {"replicas": 0, "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}},
        });
        let mut pool = map::pool(&serde_json::from_value(object).unwrap());
        pool.readiness = Readiness::Ready;
        assert_eq!(
            see_to(&act, &Ordered::default(), &pool, at(0)).await.unwrap(),
            None
        );
        assert!(log.lock().unwrap().is_empty());
    }
}
