//! Commands become calls: one file a command. The only place that writes to the cluster or the cloud.
//!
//! Nothing here decides: what is written comes from a decision, and where a call fails the answer says so and the decision is
//! made again. Every command is idempotent: carried out twice it leaves what it leaves when carried out once.

mod buffer_patch;
mod claim_create;
mod claim_delete;
mod claim_patch;
mod class_patch;
mod conditions;
mod events;
mod launch;
mod node_patch;
mod overlay_patch;
mod pod_evict;
mod pool_patch;
mod terminate;
mod transitions;

pub(crate) use claim_create::fresh_name;
pub(crate) use claim_patch::ClaimStatus;
pub(crate) use events::{Event, Events, Object, nominated, of_schedule as events_of_schedule};
pub(crate) use launch::{Got, Launching, Under};
pub(crate) use node_patch::NodeChange;
pub(crate) use pod_evict::Evicted;
pub(crate) use pool_patch::PoolStatus;

use std::sync::Arc;

use joiner_api::labels::{
    CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE, CAPACITY_TYPE,
};
use joiner_core::catalogue::CapacityType;
use kube::Client;
use serde_json::{Value, json};

use crate::cloud::Cloud;
use crate::metrics::Metrics;
use crate::observe::Index;
use crate::registration_health::RegistrationHealth;
use crate::stages::Stages;

/// Who writes what Joiner writes, in `managedFields`.
pub(crate) const FIELD_MANAGER: &str = "joiner-controller";

/// All that commands need.
#[derive(Clone)]
pub(crate) struct Act {
    pub client: Client,
    pub index: Arc<Index>,
    pub cloud: Arc<Cloud>,
    pub events: Events,
    pub metrics: Arc<Metrics>,
    pub stages: Arc<Stages>,
    pub health: Arc<RegistrationHealth>,
    pub launching: Arc<Launching>,
}

/// The patch that makes reserved capacity on-demand capacity.
fn on_demand() -> Value {
    json!({"metadata": {"labels": {
        CAPACITY_TYPE: CapacityType::OnDemand.as_str(),
        CAPACITY_RESERVATION_ID: null,
        CAPACITY_RESERVATION_TYPE: null,
        CAPACITY_RESERVATION_INTERRUPTIBLE: null,
    }}})
}

/// A call that gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// Somebody else wrote the object meanwhile; decide again.
    #[error("{what} was changed by someone else meanwhile")]
    Conflict { what: String },
    /// The object is not there (any more).
    #[error("{what} does not exist")]
    NotFound { what: String },
    /// The API server refused or could not be reached.
    #[error("{what}: the API server did not carry out the request")]
    Api {
        what: String,
        #[source]
        cause: kube::Error,
    },
    /// AWS refused or could not be reached.
    #[error("{what}: AWS did not carry out the request")]
    Cloud {
        what: String,
        #[source]
        cause: joiner_aws::Error,
    },
}

impl Failed {
    /// Sorts an answer of the API server about `what` (`node ip-10-0-1-5`).
    pub(crate) fn api(what: impl Into<String>, cause: kube::Error) -> Failed {
        let what = what.into();
        match &cause {
            kube::Error::Api(status) if status.code == 409 => Failed::Conflict { what },
            kube::Error::Api(status) if status.code == 404 => Failed::NotFound { what },
            _ => Failed::Api { what, cause },
        }
    }

    /// The whole chain of causes in one line, for a log.
    pub(crate) fn chain(&self) -> String {
        chain(self)
    }
}

/// An error and its causes in one line; a cause that the text already holds is not repeated.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}

/// A thing that is gone is what a deletion wants.
pub(crate) fn gone_is_fine(result: Result<(), Failed>) -> Result<(), Failed> {
    match result {
        Err(Failed::NotFound { .. }) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
