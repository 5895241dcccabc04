//! What plans of this process have found out beside the state, so that nothing is asked twice.

use joiner_aws::Aws;
use joiner_aws::instances::{self, Instance};
use joiner_aws::quotas::{self, Quota};
use joiner_aws::selectors::FoundReservation;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// What was found out. Each part is empty until somebody asks.
#[derive(Default)]
pub(crate) struct Found {
    /// The capacity reservations of planned node classes, by the class' name.
    reservations: Mutex<HashMap<String, Arc<[FoundReservation]>>>,
    quotas: tokio::sync::Mutex<Quotas>,
    /// What runs in the account's region, when it is few enough to look at, and the credentials may.
    running: OnceCell<Option<Vec<Instance>>>,
    /// Installed definitions by name, such as `nodepools.karpenter.sh`; none where there is none, or where it could not be read.
    definitions: tokio::sync::Mutex<HashMap<String, Option<Arc<Json>>>>,
    /// Whether a plan of this process installs or upgrades definitions.
    brings_definitions: AtomicBool,
}

#[derive(Default)]
struct Quotas {
    known: BTreeMap<&'static str, Option<u64>>,
    /// The account did not answer, and is not asked again.
    silent: bool,
}

impl Found {
    /// Keeps in mind which reservations a planned class may use.
    pub(crate) fn found_reservations(&self, class: &str, found: &[FoundReservation]) {
        let mut all = self.reservations.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(class.to_owned(), found.into());
    }

    /// The reservations of a class, if the account was asked for them before.
    pub(crate) fn reservations(&self, class: &str) -> Option<Arc<[FoundReservation]>> {
        let all = self.reservations.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(class).cloned()
    }

    /// The vCPUs that a quota allows; `None` where that is not known. Each quota is asked for once, and none any more after a
    /// refusal, which is told in the log alone: whoever may plan need not be allowed to look at quotas.
    pub(crate) async fn quota(&self, aws: &Aws, quota: Quota) -> Option<u64> {
        let mut all = self.quotas.lock().await;
        if let Some(known) = all.known.get(quota.code) {
            return *known;
        }
        if all.silent {
            return None;
        }
        match quotas::vcpus(aws, quota).await {
            Ok(vcpus) => {
                all.known.insert(quota.code, vcpus);
                vcpus
            }
            Err(error) => {
                all.silent = true;
                tracing::info!(%error, "pools were not compared with the account's quotas");
                None
            }
        }
    }

    /// What runs in the region, listed at the first call; `None` where it is too much to look at in a plan, or where it may not be listed,
    /// which is told in the log alone.
    pub(crate) async fn running(&self, aws: &Aws) -> Option<&[Instance]> {
        let list = || async {
            instances::running(aws).await.unwrap_or_else(|error| {
                tracing::info!(%error, "pools were not compared with what runs already");
                None
            })
        };
        self.running.get_or_init(list).await.as_deref()
    }

    /// An installed definition, read by `read` at the first call.
    pub(crate) async fn definition<F>(&self, name: &str, read: impl FnOnce() -> F) -> Option<Arc<Json>>
    where
        F: Future<Output = Option<Json>>,
    {
        let mut all = self.definitions.lock().await;
        if let Some(known) = all.get(name) {
            return known.clone();
        }
        let found = read().await.map(Arc::new);
        all.insert(name.to_owned(), found.clone());
        found
    }

    /// Keeps in mind that the apply installs or upgrades definitions: what is installed now says nothing of then.
    pub(crate) fn will_bring_definitions(&self) {
        self.brings_definitions.store(true, Ordering::Relaxed);
    }

    /// Whether a plan of this process installs or upgrades definitions.
    pub(crate) fn brings_definitions(&self) -> bool {
        self.brings_definitions.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn a_definition_is_read_once() {
        let found = Found::default();
        let read = || async { Some(json!({ "a": 1 })) };
        assert!(found.definition("x", read).await.is_some());
        let again = found.definition("x", || async { None }).await;
        assert_eq!(again.as_deref(), Some(&json!({ "a": 1 })));
        assert!(found.definition("y", || async { None }).await.is_none());
        assert!(
            found.definition("y", read).await.is_none(),
            "that there is none is known, too"
        );
    }
}
