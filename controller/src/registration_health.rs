//! How the last starts of each pool's nodes went, for the condition NodeRegistrationHealthy.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use joiner_core::conditions::{NODE_REGISTRATION_HEALTHY, Wanted};
use joiner_core::pools::Health;
use joiner_core::register::Outcome;
use joiner_core::text::Text;

use crate::observe::{PoolEntry, map};

/// The records, by the pool's uid and generation: a changed pool starts anew.
#[derive(Debug, Default)]
pub(crate) struct RegistrationHealth(Mutex<BTreeMap<Text, (i64, Health)>>);

impl RegistrationHealth {
    /// Remembers how a start went; says what the condition should be.
    pub(crate) fn remember(&self, pool: &PoolEntry, outcome: Outcome, message: &str) -> Wanted {
        let generation = pool.object.metadata.generation.unwrap_or_default();
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || {
            let status = map::pool_conditions(&pool.object).status(NODE_REGISTRATION_HEALTHY);
            (generation, Health::from_condition(status))
        };
        let record = records.entry(pool.pool.uid.clone()).or_insert_with(fresh);
        if record.0 != generation {
            *record = (generation, Health::default());
        }
        record.1.remember(outcome, message)
    }
}
