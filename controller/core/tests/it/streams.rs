//! A stream of pods that is acted on in pieces: how soon, and at what price beside one decision on all of them at the end.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use joiner_core::batch::{Batch, Event, NextWake, Settings};
use joiner_core::catalogue::InstanceType;
use joiner_core::money::Price;
use joiner_core::schedule::NewClaim;
use joiner_core::snapshot::{Node, Pod, PodKey};

use crate::world::{GI, World, claim, instance, now, pod, pool};

/// What a decision and the making of its claims take.
const DECISION: i64 = 150;
/// How long after a decision its instances are bought, so that their room is known.
const LAUNCH: i64 = 350;

/// Families whose price is that of their cores, in EC2's sizes, with what a node keeps back falling as it grows.
fn types() -> Vec<InstanceType> {
    let mut all = Vec::new();
    for (family, ratio, price) in [("c6", 2, 42_500), ("m6", 4, 48_000), ("r6", 8, 63_000)] {
        for (size, cores) in [
            ("large", 2),
            ("xlarge", 4),
            ("2xlarge", 8),
            ("4xlarge", 16),
            ("8xlarge", 32),
            ("12xlarge", 48),
            ("16xlarge", 64),
            ("24xlarge", 96),
        ] {
            let micros = price * u64::try_from(cores).unwrap();
            all.push(instance(
                &format!("{family}.{size}"),
                "amd64",
                cores * 1000,
                cores * ratio * GI,
                micros,
            ));
        }
    }
    all
}

fn at(millis: i64) -> Timestamp {
    now() + SignedDuration::from_millis(millis)
}

/// What became of a stream.
struct Outcome {
    /// Milliseconds from the first pod to the first claims.
    first: i64,
    /// Milliseconds from the last pod to the last claims.
    last: i64,
    claims: usize,
    price: Price,
}

/// A claim of the stream, as it was made at that time.
struct Made {
    name: String,
    new: NewClaim,
    at: i64,
    pods: Vec<PodKey>,
}

/// The place of a claim at `time`: planned at first, then an instance of its cheapest type.
fn place(made: &Made, types: &[InstanceType], time: i64) -> Node {
    let it = types
        .iter()
        .find(|it| it.name == made.new.instance_types[0])
        .unwrap();
    let phase = if time >= made.at + LAUNCH {
        "launched"
    } else {
        "planned"
    };
    let mut claim = claim(&made.name, "default", it, phase);
    claim.requirements = made.new.requirements.clone();
    claim.requests = made.new.requests.clone();
    let mut node = Node::new(Some(Arc::new(claim)), None).unwrap();
    node.nominated = made.pods.clone();
    node.nominated.sort();
    node
}

fn stream(arrivals: &[i64], make: impl Fn(usize) -> Pod) -> Outcome {
    let types = types();
    let mut batch = Batch::new(Settings::default());
    let mut made: Vec<Made> = Vec::new();
    let (mut arrived, mut time, mut first) = (0, 0, None);
    let mut wake = NextWake::Never;
    loop {
        wake = match wake {
            NextWake::Now => {
                let mut world = World::new()
                    .pool(pool("default"), types.clone())
                    .pods((0..arrived).map(&make));
                world.snapshot.nodes = made.iter().map(|it| place(it, &types, time)).collect();
                world.snapshot.nodes.sort_by(|a, b| a.name().cmp(b.name()));
                let decided = world.schedule();
                time += DECISION;
                for (name, pods) in decided.existing {
                    let it = made.iter_mut().find(|it| *it.name == *name).unwrap();
                    it.pods.extend(pods);
                }
                if !decided.new_claims.is_empty() {
                    first.get_or_insert(time);
                }
                for new in decided.new_claims {
                    let name = format!("claim-{:04}", made.len());
                    made.push(Made {
                        pods: new.pods.clone(),
                        at: time,
                        name,
                        new,
                    });
                }
                batch.observe(Event::Decided, at(time))
            }
            NextWake::At(_) | NextWake::Never if arrivals.get(arrived).is_some_and(|next| *next <= time) => {
                // Those that came while a decision was made.
                let came = arrivals[arrived..]
                    .iter()
                    .take_while(|next| **next <= time)
                    .count();
                arrived += came;
                batch.observe(Event::Arrival, at(arrivals[arrived - 1]))
            }
            NextWake::At(due) if arrivals.get(arrived).is_none_or(|next| due <= at(*next)) => {
                time = time.max(i64::try_from(due.duration_since(now()).as_millis()).unwrap());
                batch.observe(Event::Tick, at(time))
            }
            NextWake::At(_) | NextWake::Never => match arrivals.get(arrived) {
                Some(next) => {
                    time = *next;
                    wake
                }
                None => break,
            },
        };
    }
    Outcome {
        first: first.unwrap() - arrivals[0],
        last: made.last().unwrap().at - arrivals.last().unwrap(),
        claims: made.len(),
        price: made.iter().map(|it| it.new.price).sum(),
    }
}

/// The price of one decision on all of them.
fn late(count: usize, make: impl Fn(usize) -> Pod) -> Price {
    let world = World::new()
        .pool(pool("default"), types())
        .pods((0..count).map(make));
    world.schedule().new_claims.iter().map(|claim| claim.price).sum()
}

#[test]
fn a_stream_is_acted_on_soon_and_costs_little_more_than_waiting_for_its_end() {
    let even = |count: i64, every: i64| (0..count).map(|n| n * every).collect::<Vec<i64>>();
    // As the controller of ReplicaSets makes them: 1, 2, 4, ... with a pause after each lot.
    let lots = |count: usize| {
        let mut all = Vec::new();
        let (mut lot, mut time) = (1, 0);
        while all.len() < count {
            all.extend((0..lot.min(count - all.len())).map(|n| time + 8 * i64::try_from(n).unwrap()));
            time = all.last().unwrap() + 40;
            lot *= 2;
        }
        all
    };
    let small = |n: usize| pod(&format!("pod-{n:04}"), 1000, 2 * GI);
    let mixed = |n: usize| {
        pod(
            &format!("pod-{n:04}"),
            [250, 500, 1000, 1500][n % 4],
            [1, 2, 4][n % 3] * GI,
        )
    };
    for (name, arrivals, make) in [
        ("500 in 10 s", even(500, 20), &small as &dyn Fn(usize) -> Pod),
        ("500 in 4 s", lots(500), &small),
        ("500 mixed in 4 s", lots(500), &mixed),
        ("120 in 2.4 s", even(120, 20), &small),
    ] {
        let outcome = stream(&arrivals, make);
        let late = late(arrivals.len(), make);
        let percent = outcome.price.micros() * 100 / late.micros();
        let told = format!(
            "{name}: {} claims for {} instead of {late} ({percent} %), {} ms after the first pod, {} ms after the last",
            outcome.claims, outcome.price, outcome.first, outcome.last
        );
        assert!(
            outcome.first <= 700 && outcome.last <= 1000 && percent <= 105,
            "{told}"
        );
    }
}
