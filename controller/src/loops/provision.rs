//! Pods that wait get nodes: batch, snapshot, schedule, check, make claims, launch. Among them are pods that are sure to come
//! ([`joiner_core::foresee`]), so that the first decision on a workload that is scaled buys for all of it.

mod audit;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use jiff::Timestamp;
use joiner_aws::launch::MAX_BATCH;
use joiner_core::batch::{Batch, Event, NextWake, Settings};
use joiner_core::schedule::{NewClaim, Schedule, schedule};
use joiner_core::snapshot::{PodKey, Snapshot};
use joiner_core::text::Text;
use tracing::{Instrument as _, error, info, warn};

use super::launch;
use crate::act::{self, Act, Under};
use crate::observe::PodEntry;

/// How often pods that still wait are decided on again although nothing has changed. Karpenter's value.
const AGAIN: Duration = Duration::from_secs(10);
/// How soon pods are decided on again when a claim for them could not be made.
const PAUSE: Duration = Duration::from_secs(1);
/// How many claims are made at the same time.
const WIDTH: usize = 16;

/// Runs for ever.
pub(super) async fn run(act: Act, settings: Settings) {
    let bell = &act.index.changes.provision;
    let mut batch = Batch::new(settings);
    let mut next = NextWake::Never;
    let mut stuck = BTreeSet::new();
    loop {
        let (event, at) = match next {
            NextWake::Now => {
                round(&act, &mut stuck).await;
                (Event::Decided, Timestamp::now())
            }
            NextWake::At(due) => {
                let wait = due
                    .duration_since(Timestamp::now())
                    .max(jiff::SignedDuration::ZERO)
                    .unsigned_abs();
                tokio::select! {
                    rung = bell.heard() => (Event::Arrival, rung),
                    () = tokio::time::sleep(wait) => (Event::Tick, Timestamp::now()),
                }
            }
            NextWake::Never => {
                tokio::select! {
                    rung = bell.heard() => (Event::Arrival, rung),
                    () = tokio::time::sleep(AGAIN) => (Event::Arrival, Timestamp::now()),
                }
            }
        };
        next = batch.observe(event, at);
        if event == Event::Arrival && !act.index.has_work() {
            // A change that might have helped a waiting pod, and none waits.
            next = batch.observe(Event::Decided, Timestamp::now());
        }
    }
}

/// One decision and what follows from it.
async fn round(act: &Act, stuck: &mut BTreeSet<PodKey>) {
    // Observe.
    let now = Timestamp::now();
    let snapshot = act.index.snapshot_to_provision(now);
    let known = act.index.unsynced().is_empty() && act.cloud.knows_types();
    if !known || !act.index.has_work() {
        return;
    }
    let catalogue = act.cloud.catalogue(&act.index, now);
    // Decide, beside the threads that serve the watches.
    let started = Instant::now();
    let decision = tokio::task::spawn_blocking(move || {
        let plan = schedule(&snapshot, &catalogue, now);
        let (mut plan, wrong) = audit::sound(plan, |plan| {
            joiner_core::check::schedule(&snapshot, &catalogue, plan, now)
        });
        // Of a pod that only stands for room nobody has to be told.
        let rooms: BTreeSet<PodKey> = rooms(&snapshot);
        plan.unschedulable.retain(|key, _| !rooms.contains(key));
        (snapshot, plan, wrong)
    });
    let Ok((snapshot, plan, wrong)) = decision.await else {
        return;
    };
    report(act, &snapshot, &plan, now, started.elapsed());
    let unschedulable: BTreeSet<PodKey> = plan.unschedulable.keys().cloned().collect();
    if unschedulable != *stuck && !unschedulable.is_empty() {
        warn!(
            pods = unschedulable.len(),
            "could not schedule pods; their events say why"
        );
    }
    *stuck = unschedulable;
    for violation in &wrong {
        act.metrics.violation();
        error!(violation = %violation, "a part of the schedule breaks a rule and is not carried out");
    }
    // Act.
    for (place, pods) in &plan.existing {
        act.index.nominate(pods, place);
    }
    order(act, plan.new_claims).await;
}

/// What claims are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Pods that wait, or a static pool.
    Provisioned,
    /// To take the place of nodes that have drifted; their pods are not told before they have to move.
    Drifted,
}

impl Purpose {
    /// The reason in the metric.
    fn as_str(self) -> &'static str {
        match self {
            Purpose::Provisioned => "provisioned",
            Purpose::Drifted => "drifted",
        }
    }
}

/// Makes claims, those that are equal together; their instances are bought beside the work.
pub(super) async fn order(act: &Act, claims: Vec<NewClaim>) {
    order_for(act, claims, Purpose::Provisioned).await;
}

/// As [`order`], and returns the names of the claims by their index in `claims`; one that could not be made is not among them.
pub(super) async fn order_for(act: &Act, claims: Vec<NewClaim>, purpose: Purpose) -> BTreeMap<usize, Text> {
    let decided = Timestamp::now();
    let orders = together(claims).into_iter();
    let makes = futures::stream::iter(orders).map(|order| make(act.clone(), order, decided, purpose));
    let made: Vec<Vec<(usize, Text)>> = makes.buffer_unordered(WIDTH).collect().await;
    made.into_iter().flatten().collect()
}

/// Claims that are equal but for their pods, with their indices, in orders of a size that EC2 takes; orders and claims keep their order.
fn together(claims: Vec<NewClaim>) -> Vec<Vec<(usize, NewClaim)>> {
    let mut orders: Vec<Vec<(usize, NewClaim)>> = Vec::new();
    for (index, claim) in claims.into_iter().enumerate() {
        let fits = |order: &&mut Vec<(usize, NewClaim)>| {
            order.len() < MAX_BATCH && order.first().is_some_and(|(_, first)| is_equal(first, &claim))
        };
        match orders.iter_mut().find(fits) {
            Some(order) => order.push((index, claim)),
            None => orders.push(vec![(index, claim)]),
        }
    }
    orders
}

fn is_equal(a: &NewClaim, b: &NewClaim) -> bool {
    // Cheap differences first: most claims differ in these.
    a.requests == b.requests
        && a.pool == b.pool
        && *a
            == NewClaim {
                pods: a.pods.clone(),
                ..b.clone()
            }
}

/// Makes the claims of an order and lets their instances be bought; the round does not wait for that.
async fn make(
    act: Act,
    order: Vec<(usize, NewClaim)>,
    decided: Timestamp,
    purpose: Purpose,
) -> Vec<(usize, Text)> {
    let make = |(index, wanted)| {
        let act = act.clone();
        async move { Some((index, make_one(act, wanted, decided, purpose).await?)) }
    };
    let made = futures::stream::iter(order).map(make);
    let made: Vec<Option<(usize, (Text, Under))>> = made.buffer_unordered(WIDTH).collect().await;
    let (mut names, mut claims) = (Vec::new(), Vec::new());
    for (index, (name, under)) in made.into_iter().flatten() {
        names.push((index, name.clone()));
        claims.push((name, under));
    }
    tokio::spawn(launch::launch(act, claims).in_current_span());
    names
}

async fn make_one(act: Act, wanted: NewClaim, decided: Timestamp, purpose: Purpose) -> Option<(Text, Under)> {
    let began = Instant::now();
    let waited = wanted
        .pods
        .iter()
        .filter_map(|key| act.index.pod_entry(key)?.pending_since)
        .min();
    let name = act::fresh_name(&wanted.pool);
    let under = act.launching.begin(&name)?;
    let entry = match act.create_claim(&wanted, &name).await {
        Ok(entry) => entry,
        Err(failed) => {
            error!(NodePool = %wanted.pool, error = %failed.chain(), "nodeclaim was not created");
            let index = act.index.clone();
            tokio::spawn(async move {
                tokio::time::sleep(PAUSE).await;
                index.changes.provision.ring_plain();
            });
            return None;
        }
    };
    act.index.nominate(&wanted.pods, &entry.claim.name);
    if purpose == Purpose::Provisioned {
        act::nominated(&act.events, &act.index, &wanted.pods, &entry.claim.name);
    }
    act.metrics
        .nodeclaim_created(&wanted.pool, purpose.as_str(), wanted.min_values_relaxed);
    let pending = waited.map_or(0.0, |since| Timestamp::now().duration_since(since).as_secs_f64());
    info!(
        NodeClaim = %entry.claim.name, NodePool = %wanted.pool, pods = wanted.pods.len(), requests = %wanted.requests,
        instance_types = wanted.instance_types.len(), price = %wanted.price, seconds_since_pending = pending,
        seconds_to_create = began.elapsed().as_secs_f64(), "created nodeclaim"
    );
    act.stages.created(&entry.claim.name, waited, decided);
    Some((name, under))
}

/// The pods that stand for room.
fn rooms(snapshot: &Snapshot) -> BTreeSet<PodKey> {
    let rooms = snapshot.pending.iter().filter(|pod| pod.is_virtual());
    rooms.map(|pod| pod.key.clone()).collect()
}

/// Events, metrics and the log line of a round.
fn report(act: &Act, snapshot: &Snapshot, plan: &Schedule, now: Timestamp, took: Duration) {
    act.metrics.scheduled("provisioner", took);
    let ignored = snapshot
        .pending
        .iter()
        .filter(|pod| !pod.is_provisionable())
        .count();
    let rooms = rooms(snapshot);
    let foreseen = plan.placed().filter(|key| rooms.contains(key)).count();
    let placed = plan.placed().count() - foreseen;
    act.metrics.batch(
        placed + plan.unschedulable.len(),
        plan.unschedulable.len(),
        ignored,
    );
    for key in plan.placed().chain(plan.unschedulable.keys()) {
        if let Some(PodEntry {
            pending_since: Some(since),
            ..
        }) = act.index.pod_entry(key)
        {
            act.metrics.pod_decided(now.duration_since(since).unsigned_abs());
        }
    }
    act::events_of_schedule(&act.events, snapshot, plan);
    if !plan.new_claims.is_empty() {
        info!(
            pods = placed,
            foreseen = foreseen,
            nodeclaims = plan.new_claims.len(),
            existing = plan.existing.len(),
            unschedulable = plan.unschedulable.len(),
            seconds = took.as_secs_f64(),
            "found provisionable pods"
        );
    }
}

#[cfg(test)]
mod tests {
    use joiner_core::money::Price;
    use joiner_core::resources::Resources;
    use joiner_core::snapshot::{ClassRef, PodKey};

    use super::*;

    pub(super) fn claim(cpu: i64, pod: &str) -> NewClaim {
        NewClaim {
            pool: "default".into(),
            pool_uid: "p".into(),
            class: ClassRef {
                group: "g".into(),
                kind: "k".into(),
                name: "n".into(),
            },
            pods: vec![PodKey::new("shop", pod)],
            requirements: Default::default(),
            instance_types: Vec::new().into(),
            requests: Resources::cpu_memory(cpu, 0),
            price: Price::MAX,
            labels: Default::default(),
            annotations: Default::default(),
            taints: Vec::new(),
            startup_taints: Vec::new(),
            expire_after: None,
            termination_grace_period: None,
            min_values_relaxed: false,
        }
    }

    #[test]
    fn equal_claims_are_ordered_together_up_to_a_size() {
        let sizes = |claims: Vec<NewClaim>| together(claims).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(vec![claim(1, "a"), claim(2, "b"), claim(1, "c")]), [2, 1]);
        assert_eq!(
            sizes((0..MAX_BATCH + 3).map(|n| claim(1, &n.to_string())).collect()),
            [MAX_BATCH, 3]
        );
        assert!(sizes(Vec::new()).is_empty());
    }
}
