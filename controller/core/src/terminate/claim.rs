//! A claim that is being deleted.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Instance;
use crate::conditions::{INSTANCE_TERMINATING, Wanted};
use crate::register::TERMINATION_FINALIZER;
use crate::snapshot::{Claim, NodeObject};
use crate::text::Text;

/// When a node's termination grace period ends, as RFC 3339.
pub(crate) const DEADLINE_ANNOTATION: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// How often a terminating instance is looked at.
const INSTANCE_POLL: SignedDuration = SignedDuration::from_secs(5);

/// What to do for a claim that is being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimStep {
    /// The annotation with the end of its grace, where it is to be set: key and value.
    pub annotation: Option<(&'static str, Text)>,
    /// Nodes to delete; their own finalizer drains them.
    pub delete_nodes: Vec<Text>,
    /// Conditions that change.
    pub conditions: Vec<Wanted>,
    /// What comes next.
    pub next: ClaimNext,
}

/// What comes next for a claim that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimNext {
    /// Not being deleted, or released already.
    Nothing,
    /// Its nodes have to go first; their going is the event to wait for.
    AwaitNodes,
    /// Ask the cloud to terminate the instance, then decide again with its answer.
    TerminateInstance,
    /// Look again then.
    Wait(Timestamp),
    /// Remove the finalizer.
    Release,
}

/// Moves a claim that is being deleted on. `nodes` are all nodes with its provider id; `instance` is what the cloud
/// says of its instance, which need only be asked after [`ClaimNext::TerminateInstance`].
pub fn finalize_claim(
    claim: &Claim,
    nodes: &[Arc<NodeObject>],
    instance: Instance,
    now: Timestamp,
) -> ClaimStep {
    let step = |next| ClaimStep {
        annotation: None,
        delete_nodes: Vec::new(),
        conditions: Vec::new(),
        next,
    };
    let Some(deletion) = claim.deletion else {
        return step(ClaimNext::Nothing);
    };
    if !claim.finalizers.iter().any(|it| &**it == TERMINATION_FINALIZER) {
        return step(ClaimNext::Nothing);
    }
    let annotation = match (
        claim.termination_grace_period,
        claim.annotations.contains_key(DEADLINE_ANNOTATION),
    ) {
        (Some(grace), false) => {
            let end = deletion.checked_add(grace).unwrap_or(Timestamp::MAX);
            Some((
                DEADLINE_ANNOTATION,
                Text::from(end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            ))
        }
        _ => None,
    };
    let delete_nodes: Vec<Text> = nodes
        .iter()
        .filter(|node| node.deletion.is_none())
        .map(|node| node.name.clone())
        .collect();
    let terminating = || {
        let wanted = Wanted::yes(INSTANCE_TERMINATING);
        if claim.conditions.differs(&wanted) {
            vec![wanted]
        } else {
            Vec::new()
        }
    };
    let (next, conditions) = if !nodes.is_empty() {
        (ClaimNext::AwaitNodes, Vec::new())
    } else if claim.provider_id.is_none() || instance == Instance::Gone {
        (ClaimNext::Release, Vec::new())
    } else if instance == Instance::Exists && claim.conditions.is_true(INSTANCE_TERMINATING) {
        (
            ClaimNext::Wait(now.checked_add(INSTANCE_POLL).unwrap_or(now)),
            Vec::new(),
        )
    } else {
        (ClaimNext::TerminateInstance, terminating())
    };
    ClaimStep {
        annotation,
        delete_nodes,
        conditions,
        next,
    }
}

/// When the claim's node must be gone, where that was set.
pub(super) fn deadline(claim: &Claim) -> Option<Timestamp> {
    claim.annotations.get(DEADLINE_ANNOTATION)?.parse().ok()
}
