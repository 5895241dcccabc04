//! The pools that a plan makes or changes: where one goes, pods may find nodes of these.
//!
//! A core plans resources in an order of its own, so a pool may be planned after the end of the one that it takes the place of.

use super::subject::typed;
use crate::objects::{Custom, Foreseen};
use joiner_api::NodePool;
use joiner_core::snapshot::{Pool, Readiness};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tfplugin::Diagnostics;
use tokio::sync::watch;

/// The pools that were planned so far in this process, by name; none for one that is not wholly known.
pub(super) type Pools = BTreeMap<String, Option<Arc<Pool>>>;

/// The pools that are planned.
#[derive(Default)]
pub(crate) struct Coming(watch::Sender<Pools>);

impl Coming {
    /// Notes a planned pool.
    pub(super) fn add<M: Custom>(&self, planned: &M) -> Result<(), Diagnostics> {
        let object = Foreseen::of(planned)?;
        let pool = match object.is_known() {
            true => typed::<NodePool>(&object.json).map(|object| {
                let mut pool = joiner_map::pool(&object);
                // It has no status yet that would say so.
                pool.readiness = Readiness::Ready;
                Arc::new(pool)
            }),
            false => None,
        };
        let name = planned.common().name().to_owned();
        self.0.send_modify(|pools| drop(pools.insert(name, pool)));
        Ok(())
    }

    /// Those that are planned from now on, and those that are there.
    pub(super) fn watch(&self) -> Watch {
        Watch(self.0.subscribe())
    }
}

/// A view of the planned pools.
pub(super) struct Watch(watch::Receiver<Pools>);

impl Watch {
    /// The pools as they are now.
    pub(super) fn now(&mut self) -> Pools {
        self.0.borrow_and_update().clone()
    }

    /// Whether more are planned than [`Watch::now`] last told, before `limit` is over.
    pub(super) async fn more(&mut self, limit: Duration) -> bool {
        matches!(tokio::time::timeout(limit, self.0.changed()).await, Ok(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn more_is_waited_for_no_longer_than_it_may_take() {
        let coming = Coming::default();
        let mut watch = coming.watch();
        assert!(watch.now().is_empty());
        assert!(!watch.more(Duration::ZERO).await);
        let add = async {
            coming
                .0
                .send_modify(|pools| drop(pools.insert("p".to_owned(), None)))
        };
        let (more, ()) = tokio::join!(watch.more(Duration::from_secs(60)), add);
        assert!(more && watch.now().contains_key("p"));
        assert!(!watch.more(Duration::ZERO).await, "that is known");
    }
}
