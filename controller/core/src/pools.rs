//! Conditions and totals of pools.

use jiff::Timestamp;

use crate::conditions::{
    self, Condition, Conditions, NODE_CLASS_READY, NODE_REGISTRATION_HEALTHY, Status, VALIDATION_SUCCEEDED,
    Wanted,
};
use crate::register::Outcome;
use crate::resources::{ResourceName, Resources};
use crate::snapshot::Snapshot;
use crate::text::Text;

/// The class of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassState {
    /// There is none of that name.
    NotFound,
    /// It is being deleted.
    Terminating,
    /// It is there; its condition Ready, where it has one.
    There {
        /// Ready.
        ready: Option<Condition>,
    },
}

/// The conditions of which a pool's Ready is made.
const PARTS: [&str; 2] = [VALIDATION_SUCCEEDED, NODE_CLASS_READY];

/// The conditions of a pool that change: whether its rules hold (`violations` are the texts of those that do not),
/// whether its class is ready, and Ready itself. NodeRegistrationHealthy starts unknown and is no part of Ready.
pub fn conditions(
    there: &Conditions,
    violations: &[Text],
    class: &ClassState,
    now: Timestamp,
) -> Vec<Wanted> {
    let validation = match violations {
        [] => Wanted::yes(VALIDATION_SUCCEEDED),
        texts => {
            let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
            Wanted::no(VALIDATION_SUCCEEDED, "NodePoolValidationFailed", texts.join("; "))
        }
    };
    let class = match class {
        ClassState::NotFound => Wanted::no(
            NODE_CLASS_READY,
            "NodeClassNotFound",
            "NodeClass not found on cluster",
        ),
        ClassState::Terminating => Wanted::no(
            NODE_CLASS_READY,
            "NodeClassTerminating",
            "NodeClass is Terminating",
        ),
        ClassState::There { ready: Some(ready) } => match ready.status {
            Status::True => Wanted::yes(NODE_CLASS_READY),
            Status::False => Wanted::no(NODE_CLASS_READY, ready.reason.clone(), ready.message.clone()),
            Status::Unknown => unknown_class(),
        },
        ClassState::There { ready: None } => unknown_class(),
    };
    let mut wanted = vec![validation, class];
    if there.get(NODE_REGISTRATION_HEALTHY).is_none() {
        let reason = "AwaitingReconciliation";
        wanted.push(Wanted::unknown(
            NODE_REGISTRATION_HEALTHY,
            reason,
            "object is awaiting reconciliation",
        ));
    }
    let mut after = there.clone();
    wanted.iter().for_each(|wanted| after.apply(wanted, now));
    wanted.push(conditions::ready(&after, &PARTS));
    wanted.retain(|wanted| there.differs(wanted));
    wanted
}

fn unknown_class() -> Wanted {
    Wanted::no(
        NODE_CLASS_READY,
        "NodeClassReadinessUnknown",
        "Node Class Readiness Unknown",
    )
}

/// `status.resources` and `status.nodes` of a pool: what its nodes have, those that only just started included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The capacity of all nodes; `nodes` is one of the resources.
    pub resources: Resources,
    /// How many nodes.
    pub nodes: u32,
}

/// Adds up the nodes of `pool`.
pub fn totals(snapshot: &Snapshot, pool: &str) -> Totals {
    let mut totals = Totals::default();
    for node in snapshot
        .nodes
        .iter()
        .filter(|node| node.pool().is_some_and(|name| &**name == pool))
    {
        totals.resources.add(&node.usage());
    }
    totals.nodes = u32::try_from(totals.resources.get(&ResourceName::nodes())).unwrap_or(0);
    totals
}

/// How the last starts of a pool's nodes went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    last: std::collections::VecDeque<Outcome>,
}

impl Health {
    /// How many starts are remembered.
    const MEMORY: usize = 4;

    /// What is known from a condition that an earlier run left.
    pub fn from_condition(status: Option<Status>) -> Health {
        let outcomes = match status {
            Some(Status::True) => vec![Outcome::Registered],
            Some(Status::False) => vec![Outcome::Failed; Health::MEMORY / 2],
            _ => Vec::new(),
        };
        Health {
            last: outcomes.into(),
        }
    }

    /// Remembers one more start and says what the condition should be: unhealthy when at least half of the last four
    /// starts failed, two at the least. `message` says why this one failed.
    pub fn remember(&mut self, outcome: Outcome, message: &str) -> Wanted {
        self.last.push_back(outcome);
        if self.last.len() > Health::MEMORY {
            self.last.pop_front();
        }
        let failed = self
            .last
            .iter()
            .filter(|outcome| **outcome == Outcome::Failed)
            .count();
        match (failed * 2 >= Health::MEMORY, outcome) {
            (true, Outcome::Failed) => Wanted::no(NODE_REGISTRATION_HEALTHY, "RegistrationFailed", message),
            (true, Outcome::Registered) => Wanted::no(
                NODE_REGISTRATION_HEALTHY,
                "RegistrationFailed",
                "Failed to register node",
            ),
            (false, Outcome::Registered) => Wanted::yes(NODE_REGISTRATION_HEALTHY),
            (false, Outcome::Failed) if self.last.contains(&Outcome::Registered) => {
                Wanted::yes(NODE_REGISTRATION_HEALTHY)
            }
            (false, Outcome::Failed) => {
                Wanted::unknown(NODE_REGISTRATION_HEALTHY, "NodeRegistrationUnknown", message)
            }
        }
    }
}
