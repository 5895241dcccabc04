//! How long a claim's stages took, from the first pending pod to the complete node: for logs and one metric.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use joiner_core::text::Text;

use crate::metrics::Metrics;

/// The times of the claims that have not become nodes yet.
#[derive(Debug, Default)]
pub(crate) struct Stages(Mutex<BTreeMap<Text, Times>>);

/// When what happened.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    pending: Option<Timestamp>,
    decided: Option<Timestamp>,
    created: Option<Timestamp>,
    fleet_called: Option<Timestamp>,
    fleet_answered: Option<Timestamp>,
    registered: Option<Timestamp>,
    initialised: Option<Timestamp>,
}

/// Seconds of each stage; zero where one was not seen by this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seconds {
    pub pending_to_decided: f64,
    pub decided_to_created: f64,
    pub created_to_fleet: f64,
    pub fleet: f64,
    pub fleet_to_registered: f64,
    pub registered_to_initialised: f64,
    /// From the pending pod to the call of CreateFleet.
    pub to_fleet: f64,
    pub total: f64,
}

impl Stages {
    /// The claim was made for pods that have been waiting since `pending`.
    pub(crate) fn created(&self, claim: &Text, pending: Option<Timestamp>, decided: Timestamp) {
        let created = Some(Timestamp::now());
        self.all().insert(
            claim.clone(),
            Times {
                pending,
                decided: Some(decided),
                created,
                ..Times::default()
            },
        );
    }

    pub(crate) fn fleet_called(&self, claim: &Text) {
        self.all().entry(claim.clone()).or_default().fleet_called = Some(Timestamp::now());
    }

    /// Returns the seconds so far.
    pub(crate) fn fleet_answered(&self, claim: &Text) -> Seconds {
        let mut all = self.all();
        let times = all.entry(claim.clone()).or_default();
        times.fleet_answered = Some(Timestamp::now());
        times.seconds()
    }

    /// Returns the seconds since the instance was bought.
    pub(crate) fn registered(&self, claim: &Text, metrics: &Metrics) -> f64 {
        let mut all = self.all();
        let times = all.entry(claim.clone()).or_default();
        times.registered = Some(Timestamp::now());
        let seconds = between(times.fleet_answered, times.registered);
        metrics.launch_stage("registration", seconds);
        seconds
    }

    /// The claim is done: returns the seconds of all stages and forgets them.
    pub(crate) fn initialised(&self, claim: &Text, metrics: &Metrics) -> Seconds {
        let mut times = self.all().remove(claim).unwrap_or_default();
        times.initialised = Some(Timestamp::now());
        let seconds = times.seconds();
        for (stage, seconds) in [
            ("decision", seconds.pending_to_decided),
            ("claim", seconds.decided_to_created),
            ("fleet_call", seconds.created_to_fleet),
            ("fleet", seconds.fleet),
            ("initialization", seconds.registered_to_initialised),
            ("total", seconds.total),
        ] {
            metrics.launch_stage(stage, seconds);
        }
        seconds
    }

    /// The claim is gone.
    pub(crate) fn forget(&self, claim: &Text) {
        self.all().remove(claim);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Text, Times>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Times {
    fn seconds(&self) -> Seconds {
        Seconds {
            pending_to_decided: between(self.pending, self.decided),
            decided_to_created: between(self.decided, self.created),
            created_to_fleet: between(self.created, self.fleet_called),
            fleet: between(self.fleet_called, self.fleet_answered),
            fleet_to_registered: between(self.fleet_answered, self.registered),
            registered_to_initialised: between(self.registered, self.initialised),
            to_fleet: between(self.pending.or(self.created), self.fleet_called),
            total: between(self.pending.or(self.created), self.initialised),
        }
    }
}

/// Seconds with three decimals.
fn between(from: Option<Timestamp>, to: Option<Timestamp>) -> f64 {
    let Some((from, to)) = from.zip(to) else {
        return 0.0;
    };
    (to.duration_since(from).as_millis() as f64 / 1000.0).max(0.0)
}
