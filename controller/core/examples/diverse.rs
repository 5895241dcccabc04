//! Times the scheduler on two made-up clusters: the distribution of Karpenter's own scheduling benchmark (fifths of
//! generic, zone spread, hostname spread, zone affinity and hostname anti-affinity pods; 400 types), and a realistic one.
//!
//! `cargo run --release -p joiner-core --example diverse -- fifths 10000 price`

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement"
)]

use std::sync::Arc;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use joiner_core::catalogue::{CapacityType, Catalogue, InstanceType, Offering, Overhead};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::{Limits, Resources};
use joiner_core::schedule::schedule;
use joiner_core::snapshot::{
    ClassRef, ConsolidationPolicy, DaemonSet, Disruption, InclusionPolicy, Node, NodeObject, Placement, Pod,
    PodKey, PodSelector, PodState, PodTerm, Pool, PoolHash, Readiness, Snapshot, Spread, Strategy, Strength,
};
use joiner_core::text::{Labels, Text};

const MI: i64 = 1 << 20;
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())]
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |index: usize, other: &str| args.get(index).cloned().unwrap_or_else(|| other.to_owned());
    let count: usize = arg(1, "10000").parse().unwrap_or(10_000);
    let strategy = Strategy::parse(&arg(2, "price")).unwrap_or(Strategy::Price);
    let nodes: usize = arg(3, "0").parse().unwrap_or(0);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut snapshot, catalogue) = match arg(0, "fifths").as_str() {
        "fifths" => fifths(count, &mut dice),
        kind => realistic(count, kind == "spot", &mut dice),
    };
    existing(&mut snapshot, nodes, &catalogue, &mut dice);
    snapshot.settings.strategy = strategy;
    snapshot.settings.bound = arg(4, "bound") == "bound";
    if let Ok(effort) = arg(5, "").parse() {
        snapshot.settings.effort = effort;
    }
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap_or_default();
    for _ in 0..2 {
        let start = Instant::now();
        let decided = schedule(&snapshot, &catalogue, now);
        let took = start.elapsed();
        let violations = joiner_core::check::schedule(&snapshot, &catalogue, &decided, now);
        println!(
            "{took:?} to decide, {} claims at {}, bound {:?}, ratio {:.4}, {} without a place, {} on nodes, {} violations {:?}",
            decided.new_claims.len(),
            decided.price,
            decided.lower_bound.map(|bound| bound.to_string()),
            decided
                .lower_bound
                .map_or(0.0, |bound| decided.price.micros() as f64 / bound.micros() as f64),
            decided.unschedulable.len(),
            decided.existing.values().map(Vec::len).sum::<usize>(),
            violations.len(),
            violations.first(),
        );
    }
}

fn selector(key: &str, value: &str) -> PodSelector {
    PodSelector {
        labels: [Requirement::is(key, value)].into_iter().collect(),
        matches_nothing: false,
    }
}

fn spread(key: &str, selector: PodSelector) -> Spread {
    Spread {
        topology_key: key.into(),
        max_skew: 1,
        strength: Strength::Required,
        selector,
        min_domains: None,
        node_affinity_policy: InclusionPolicy::Honor,
        node_taints_policy: InclusionPolicy::Ignore,
    }
}

fn term(key: &str, selector: PodSelector) -> PodTerm {
    PodTerm {
        topology_key: key.into(),
        selector,
        namespaces: Some(vec!["default".into()]),
    }
}

fn fifths(count: usize, dice: &mut Dice) -> (Snapshot, Catalogue) {
    let letters = ["a", "b", "c", "d", "e", "f", "g"];
    let mut snapshot = Snapshot::default();
    for index in 0..count {
        let requests = Resources::cpu_memory(
            dice.of(&[100, 250, 500, 1000, 1500]),
            dice.of(&[100, 256, 512, 1024, 2048, 4096]) * MI,
        );
        let mut pod = Pod::new(
            PodKey::new("default", format!("pod-{index}")),
            requests,
            Timestamp::UNIX_EPOCH,
        );
        let own = dice.of(&letters);
        let placement = &mut pod.placement;
        match index * 5 / count {
            0 => drop(pod.labels.insert("my-label".into(), own.into())),
            1 | 2 => {
                let key = if index * 5 / count == 1 { ZONE } else { HOST };
                placement
                    .spread
                    .push(spread(key, selector("my-label", dice.of(&letters))));
                pod.labels.insert("my-label".into(), own.into());
            }
            3 => {
                placement
                    .affinity
                    .push(term(ZONE, selector("my-affininity", own)));
                pod.labels.insert("my-affininity".into(), own.into());
            }
            _ => {
                placement.anti_affinity.push(term(HOST, selector("app", "nginx")));
                pod.labels.insert("app".into(), "nginx".into());
            }
        }
        snapshot.pending.push(Arc::new(pod));
    }
    let types: Vec<InstanceType> = (1..=400)
        .map(|size| {
            let price = 100_000 * size + (size * 2 * 1024 * 1024 * 1024) / 10_000;
            fake(
                &format!("fake-it-{}", size - 1),
                size as i64 * 1000,
                size as i64 * 2048 * MI,
                size as i64 * 10,
                price,
                &mut Vec::new(),
            )
        })
        .collect();
    snapshot.pools.push(Arc::new(pool("default")));
    let catalogue = [(Text::from("default"), types.into())].into_iter().collect();
    (snapshot, catalogue)
}

fn fake(name: &str, cpu: i64, memory: i64, pods: i64, price: u64, spot: &mut Vec<u64>) -> InstanceType {
    let zones = ["test-zone-1", "test-zone-2", "test-zone-3"];
    let mut offerings = Vec::new();
    for zone in zones {
        for capacity_type in [CapacityType::Spot, CapacityType::OnDemand] {
            let price = match (capacity_type, spot.pop()) {
                (CapacityType::Spot, Some(spot)) => spot,
                (_, other) => {
                    spot.extend(other);
                    price
                }
            };
            offerings.push(Offering {
                zone: zone.into(),
                zone_id: "".into(),
                capacity_type,
                price: Price::from_micros(price),
                available: true,
                reservation: None,
                extra: Requirements::new(),
            });
        }
    }
    InstanceType {
        name: name.into(),
        requirements: [
            Requirement::is("node.kubernetes.io/instance-type", name),
            Requirement::is(
                "kubernetes.io/arch",
                if name.contains('g') && name.contains('.') {
                    "arm64"
                } else {
                    "amd64"
                },
            ),
            Requirement::is("kubernetes.io/os", "linux"),
            Requirement::is_in(ZONE, zones),
            Requirement::is_in("karpenter.sh/capacity-type", ["spot", "on-demand"]),
        ]
        .into_iter()
        .collect(),
        capacity: Resources::cpu_memory(cpu, memory).with("pods", pods),
        overhead: Overhead {
            kube_reserved: Resources::cpu_memory(100, 10 * MI),
            ..Overhead::default()
        },
        offerings,
        attach_limits: Default::default(),
        devices: Vec::new(),
    }
}

/// Web, batch and data workloads; families of types from 1 to 192 cores.
fn realistic(count: usize, with_spot: bool, dice: &mut Dice) -> (Snapshot, Catalogue) {
    let mut snapshot = Snapshot::default();
    let mut left = count;
    let mut workload = 0;
    while left > 0 {
        let replicas = (1 + dice.roll(40) * dice.roll(4)).min(left);
        left -= replicas;
        workload += 1;
        let name = format!("app-{workload}");
        let kind = dice.roll(10);
        let (cpu, memory) = match kind {
            0..=4 => (dice.of(&[100, 250, 500, 1000]), dice.of(&[256, 512, 1024, 2048])),
            5..=7 => (dice.of(&[1000, 2000, 4000]), dice.of(&[1024, 2048, 4096, 8192])),
            _ => (dice.of(&[500, 1000, 2000]), dice.of(&[4096, 8192, 16_384])),
        };
        let bind = dice.roll(10);
        for replica in 0..replicas {
            let mut pod = Pod::new(
                PodKey::new("default", format!("{name}-{replica}")),
                Resources::cpu_memory(cpu, memory * MI),
                Timestamp::UNIX_EPOCH,
            );
            pod.labels.insert("app".into(), name.as_str().into());
            match (kind, bind) {
                (0..=4, 0..=3) => pod.placement.spread.push(spread(ZONE, selector("app", &name))),
                (_, 4) if replicas < 20 => pod
                    .placement
                    .anti_affinity
                    .push(term(HOST, selector("app", &name))),
                (_, 5) => drop(
                    pod.placement
                        .node_selector
                        .insert("kubernetes.io/arch".into(), "amd64".into()),
                ),
                (_, 6) => drop(
                    pod.placement
                        .node_selector
                        .insert("karpenter.sh/capacity-type".into(), "on-demand".into()),
                ),
                _ => {}
            }
            snapshot.pending.push(Arc::new(pod));
        }
    }
    let families = [
        ("c6i", 2, 42_500),
        ("c7g", 2, 36_250),
        ("c5", 2, 42_500),
        ("c6a", 2, 38_250),
        ("c7i", 2, 44_625),
        ("m6i", 4, 48_000),
        ("m7g", 4, 40_800),
        ("m5", 4, 48_000),
        ("m6a", 4, 43_200),
        ("m7i", 4, 50_400),
        ("r6i", 8, 63_000),
        ("r7g", 8, 53_550),
        ("r5", 8, 63_000),
        ("r6a", 8, 56_700),
        ("r7i", 8, 66_150),
        ("c5d", 2, 48_000),
        ("m5d", 4, 56_500),
        ("r5d", 8, 72_000),
        ("c6gn", 2, 43_200),
        ("m6gd", 4, 45_200),
    ];
    let sizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192];
    let mut types = Vec::new();
    for (family, ratio, price) in families {
        for cores in sizes {
            let price = price * cores;
            let mut spot: Vec<u64> = (0..3)
                .map(|_| price * (28 + dice.roll(47) as u64) / 100)
                .collect();
            if !with_spot {
                spot.clear();
            }
            let cores = cores as i64;
            let mut it = fake(
                &format!("{family}.{cores}x"),
                cores * 1000,
                cores * ratio * 1024 * MI,
                (cores * 15).clamp(30, 737),
                price,
                &mut spot,
            );
            if !with_spot {
                it.offerings
                    .retain(|one| one.capacity_type == CapacityType::OnDemand);
            }
            it.overhead.kube_reserved =
                Resources::cpu_memory(60 + cores * 3, (255 + 11 * it.capacity.get(&"pods".into())) * MI);
            types.push(it);
        }
    }
    for (name, cpu, memory) in [
        ("cni", 50, 64),
        ("csi", 30, 60),
        ("logs", 100, 200),
        ("proxy", 100, 50),
    ] {
        snapshot.daemon_sets.push(Arc::new(DaemonSet {
            name: name.into(),
            requests: Resources::cpu_memory(cpu, memory * MI).with("pods", 1),
            placement: Placement::default(),
        }));
    }
    snapshot.pools.push(Arc::new(pool("default")));
    let catalogue = [(Text::from("default"), types.into())].into_iter().collect();
    (snapshot, catalogue)
}

fn existing(snapshot: &mut Snapshot, count: usize, catalogue: &Catalogue, dice: &mut Dice) {
    let types = catalogue.types("default");
    for index in 0..count {
        let it = &types[dice.roll(types.len().min(16))];
        let name = Text::from(format!("node-{index:05}"));
        let mut labels = joiner_core::launch::labels(it, &it.offerings[dice.roll(it.offerings.len())]);
        labels.insert(HOST.into(), name.clone());
        labels.insert("karpenter.sh/nodepool".into(), "default".into());
        let object = NodeObject {
            name: name.clone(),
            uid: name.clone(),
            created: Timestamp::UNIX_EPOCH,
            deletion: None,
            provider_id: None,
            labels,
            annotations: Labels::new(),
            finalizers: Vec::new(),
            taints: Vec::new(),
            ready: true,
            capacity: it.capacity.clone(),
            allocatable: it.allocatable(),
        };
        let Some(mut node) = Node::new(None, Some(Arc::new(object))) else {
            continue;
        };
        for pod in 0..8 {
            let mut pod = Pod::new(
                PodKey::new("default", format!("{name}-{pod}")),
                Resources::cpu_memory(it.allocatable().get(&"cpu".into()) / 8 - 1, 10 * MI),
                Timestamp::UNIX_EPOCH,
            );
            pod.state = PodState::Bound { started: None };
            node.pods.push(Arc::new(pod));
        }
        snapshot.nodes.push(node);
    }
}

fn pool(name: &str) -> Pool {
    Pool {
        name: name.into(),
        uid: name.into(),
        class: ClassRef {
            group: "karpenter.k8s.aws".into(),
            kind: "EC2NodeClass".into(),
            name: "default".into(),
        },
        weight: 0,
        requirements: Requirements::new(),
        labels: Labels::new(),
        annotations: Labels::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        limits: Limits::default(),
        replicas: None,
        expire_after: None,
        termination_grace_period: None,
        disruption: Disruption {
            consolidate_after: Some(SignedDuration::ZERO),
            policy: ConsolidationPolicy::WhenEmpty,
            budgets: Vec::new(),
        },
        readiness: Readiness::Ready,
        deleting: false,
        hash: PoolHash::default(),
    }
}
