//! From a bought instance to a complete node: registration, initialisation, and giving up on what never comes.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::conditions::{self, Conditions, INITIALIZED, LAUNCHED, REGISTERED, Status, Wanted};
use crate::snapshot::{Claim, NodeObject};
use crate::taints::{self, Effect, Taint};
use crate::text::{Labels, Text};
use crate::well_known;

/// How long a claim may wait for its instance.
pub const LAUNCH_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);
/// How long a claim may wait for its node.
pub const REGISTRATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);
/// The finalizer on claims and nodes.
pub const TERMINATION_FINALIZER: &str = "karpenter.sh/termination";

/// The taint that a node carries until it has registered.
pub fn unregistered_taint() -> Taint {
    Taint::new("karpenter.sh/unregistered", "", Effect::NoExecute)
}

/// What to do for a claim that is not being deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Conditions that change; Ready among them.
    pub conditions: Vec<Wanted>,
    /// The change to the node.
    pub node: Option<NodePatch>,
    /// `status.nodeName`, where it is to be set.
    pub node_name: Option<Text>,
    /// Why to delete the claim, where it is to be deleted.
    pub give_up: Option<GiveUp>,
    /// What the pool should remember.
    pub outcome: Option<Outcome>,
    /// Whether the node came without the taint that guards it until it has registered.
    pub unregistered_taint_missing: bool,
    /// When to look again, if nothing happens before.
    pub wake: Option<Timestamp>,
}

/// What a registered or initialised node gets. Everything else of it stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePatch {
    /// The node.
    pub name: Text,
    /// Labels to set.
    pub labels: Labels,
    /// Annotations to set.
    pub annotations: Labels,
    /// All its taints.
    pub taints: Vec<Taint>,
    /// Whether it needs [`TERMINATION_FINALIZER`] and the claim as its owner; a patch repeats harmlessly.
    pub adopt: bool,
}

/// Why a claim is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// No instance within [`LAUNCH_TIMEOUT`].
    LaunchTimeout,
    /// No node within [`REGISTRATION_TIMEOUT`].
    RegistrationTimeout,
}

impl GiveUp {
    /// The reason as metrics name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            GiveUp::LaunchTimeout => "launch_timeout",
            GiveUp::RegistrationTimeout => "registration_timeout",
        }
    }
}

/// How a claim's start went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its node joined.
    Registered,
    /// It was given up.
    Failed,
}

/// What is known of the devices on a claim's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// Nobody looks at devices (`IGNORE_DRA_REQUESTS`), so nothing waits for them.
    Ignored,
    /// The drivers that have published all there is on the node.
    By(BTreeSet<Text>),
}

impl Published {
    /// The first driver of the devices that the claim's pods were promised that has not published them.
    fn missing<'a>(&self, claim: &'a Claim) -> Option<&'a str> {
        let Published::By(drivers) = self else { return None };
        let promised = claim.annotations.get(well_known::REQUESTED_DRA_DRIVERS)?;
        let mut promised = promised
            .split(',')
            .map(str::trim)
            .filter(|driver| !driver.is_empty());
        promised.find(|driver| !drivers.contains(*driver))
    }
}

/// The conditions of which Ready is made.
const PARTS: [&str; 3] = [LAUNCHED, REGISTERED, INITIALIZED];

/// Moves a claim on. `nodes` are all nodes with the claim's provider id, `published` is what drivers say of the only one.
pub fn advance(claim: &Claim, nodes: &[Arc<NodeObject>], published: &Published, now: Timestamp) -> Step {
    if claim.deletion.is_some() {
        return Step::default();
    }
    let mut step = Step::default();
    let mut wanted = Vec::new();
    if !claim.conditions.is_true(REGISTERED) {
        register(claim, nodes, &mut wanted, &mut step);
    } else if !claim.conditions.is_true(INITIALIZED) {
        initialise(claim, nodes, published, &mut wanted, &mut step);
    }
    let mut after = claim.conditions.clone();
    wanted.iter().for_each(|wanted| after.apply(wanted, now));
    wanted.push(conditions::ready(&after, &PARTS));
    watch_over(claim, &after, now, &mut step);
    step.conditions = wanted
        .into_iter()
        .filter(|wanted| claim.conditions.differs(wanted))
        .collect();
    step
}

fn register(claim: &Claim, nodes: &[Arc<NodeObject>], wanted: &mut Vec<Wanted>, step: &mut Step) {
    if claim.conditions.get(LAUNCHED).is_none() {
        wanted.push(Wanted::unknown(
            LAUNCHED,
            "AwaitingReconciliation",
            "object is awaiting reconciliation",
        ));
    }
    let node = match nodes {
        [node] if claim.is_launched() => node,
        [_, _, ..] if claim.is_launched() => {
            let message = "Invariant violated, matched multiple nodes";
            wanted.push(Wanted::no(REGISTERED, "MultipleNodesFound", message));
            wanted.push(awaiting(INITIALIZED));
            return;
        }
        _ => {
            let waiting = match claim.is_launched() {
                true => Wanted::unknown(REGISTERED, "NodeNotFound", "Node not registered with cluster"),
                false => awaiting(REGISTERED),
            };
            wanted.extend([waiting, awaiting(INITIALIZED)]);
            return;
        }
    };
    let guard = unregistered_taint();
    let labelled = node.labels.contains_key(well_known::REGISTERED);
    step.unregistered_taint_missing = !labelled && !node.taints.iter().any(|taint| taint.is_same(&guard));
    let mut taints = node.taints.clone();
    if node
        .labels
        .get(well_known::DO_NOT_SYNC_TAINTS)
        .is_none_or(|value| &**value != "true")
    {
        taints = taints::merge(&taints, &claim.taints);
        // A startup taint is put on once; whoever removes it before registration is done must not see it again.
        if !labelled {
            taints = taints::merge(&taints, &claim.startup_taints);
        }
    }
    taints.retain(|taint| !taint.is_same(&guard));
    let mut labels = claim.labels.clone();
    labels.insert(well_known::REGISTERED.into(), "true".into());
    step.node = Some(NodePatch {
        name: node.name.clone(),
        labels,
        annotations: claim.annotations.clone(),
        taints,
        adopt: true,
    });
    step.node_name = Some(node.name.clone());
    step.outcome = Some(Outcome::Registered);
    wanted.extend([Wanted::yes(REGISTERED), awaiting(INITIALIZED)]);
}

fn initialise(
    claim: &Claim,
    nodes: &[Arc<NodeObject>],
    published: &Published,
    wanted: &mut Vec<Wanted>,
    step: &mut Step,
) {
    let not_yet = |reason: &str, message: String| Wanted::unknown(INITIALIZED, reason, message);
    let [node] = nodes else {
        wanted.push(not_yet("NodeNotFound", "Node not registered with cluster".into()));
        return;
    };
    let startup = node
        .taints
        .iter()
        .find(|taint| claim.startup_taints.iter().any(|it| it.is_same(taint)));
    let ephemeral = node.taints.iter().find(|taint| taint.is_ephemeral());
    let missing = claim
        .requests
        .iter()
        .find(|(name, amount)| *amount > 0 && node.allocatable.get(name) == 0);
    if !node.ready {
        wanted.push(not_yet("NodeNotReady", "Node status is NotReady".into()));
    } else if let Some(taint) = startup {
        wanted.push(not_yet(
            "StartupTaintsExist",
            format!("StartupTaint \"{taint}\" still exists"),
        ));
    } else if let Some(taint) = ephemeral {
        wanted.push(not_yet(
            "KnownEphemeralTaintsExist",
            format!("KnownEphemeralTaint \"{taint}\" still exists"),
        ));
    } else if let Some((name, _)) = missing {
        let message = format!("Resource \"{name}\" was requested but not registered");
        wanted.push(not_yet("ResourceNotRegistered", message));
    } else if let Some(driver) = published.missing(claim) {
        let message = format!("DRA driver \"{driver}\" has not published a complete resource pool");
        wanted.push(not_yet("DRADriverPoolsNotPublished", message));
    } else {
        let labels = [(well_known::INITIALIZED.into(), Text::from("true"))].into();
        step.node = Some(NodePatch {
            name: node.name.clone(),
            labels,
            annotations: Labels::new(),
            taints: node.taints.clone(),
            adopt: false,
        });
        wanted.push(Wanted::yes(INITIALIZED));
    }
}

/// Gives up on a claim that has waited too long, else says when that would be.
fn watch_over(claim: &Claim, after: &Conditions, now: Timestamp, step: &mut Step) {
    let since = |kind: &str| after.get(kind).map_or(claim.created, |condition| condition.since);
    let (reason, deadline) = match (after.status(LAUNCHED), after.status(REGISTERED)) {
        (_, Some(Status::True)) => return,
        (Some(Status::True), _) => (
            GiveUp::RegistrationTimeout,
            since(REGISTERED)
                .max(since(LAUNCHED))
                .checked_add(REGISTRATION_TIMEOUT),
        ),
        _ => (GiveUp::LaunchTimeout, since(LAUNCHED).checked_add(LAUNCH_TIMEOUT)),
    };
    let Ok(deadline) = deadline else { return };
    if deadline > now {
        step.wake = Some(deadline);
        return;
    }
    step.give_up = Some(reason);
    step.outcome = Some(Outcome::Failed);
}

fn awaiting(kind: &'static str) -> Wanted {
    Wanted::unknown(
        kind,
        "AwaitingReconciliation",
        "object is awaiting reconciliation",
    )
}
