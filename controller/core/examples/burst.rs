//! How fast a burst is decided on: 10,000 generic pods, 400 instance types, nothing there yet.
//!
//! `cargo run --release -p joiner-core --example burst [pods]`

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock and an output"
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
    ClassRef, ConsolidationPolicy, Disruption, Pod, PodKey, Pool, PoolHash, Readiness, Snapshot,
};
use joiner_core::text::Labels;

const MI: i64 = 1 << 20;

fn main() {
    let count = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000);
    let catalogue: Catalogue = [("default".into(), types().into())].into_iter().collect();
    let snapshot = Snapshot {
        pools: vec![Arc::new(pool())],
        pending: pods(count).into_iter().map(Arc::new).collect(),
        ..Snapshot::default()
    };
    for _ in 0..3 {
        let start = Instant::now();
        let decided = schedule(&snapshot, &catalogue, Timestamp::UNIX_EPOCH);
        let took = start.elapsed();
        let price: Price = decided.new_claims.iter().map(|claim| claim.price).sum();
        println!(
            "{count} pods, {} types: {took:?}, {:.0} pods/s, {} claims, {price}, {} left",
            catalogue.types("default").len(),
            f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / took.as_secs_f64(),
            decided.new_claims.len(),
            decided.unschedulable.len()
        );
        let start = Instant::now();
        let violations = joiner_core::check::schedule(&snapshot, &catalogue, &decided, Timestamp::UNIX_EPOCH);
        println!("  audit: {} violations, {:?}", violations.len(), start.elapsed());
    }
}

/// Sizes as upstream's benchmark mixes them.
fn pods(count: usize) -> Vec<Pod> {
    let cpu = [100, 250, 500, 1000, 1500];
    let memory = [100, 256, 512, 1024, 2048, 4096];
    let one = |index: usize| {
        let requests = Resources::cpu_memory(cpu[index % 5], memory[(index / 5) % 6] * MI);
        Pod::new(
            PodKey::new("default", format!("pod-{index}")),
            requests,
            Timestamp::UNIX_EPOCH,
        )
    };
    (0..count).map(one).collect()
}

fn types() -> Vec<InstanceType> {
    (0..400u32)
        .map(|index| instance(i64::from(index / 4 + 1), ["c", "m", "r", "g"][index as usize % 4]))
        .collect()
}

fn instance(cores: i64, family: &str) -> InstanceType {
    let (ratio, price) = match family {
        "c" => (2, 42_000),
        "m" => (4, 48_000),
        "r" => (8, 63_000),
        _ => (4, 38_500),
    };
    let name = format!("{family}9.{cores}x");
    let zones = ["a", "b", "c"];
    let offering = |zone: &str, capacity_type, micros| Offering {
        zone: zone.into(),
        zone_id: format!("id-{zone}").into(),
        capacity_type,
        price: Price::from_micros(micros),
        available: true,
        reservation: None,
        extra: Requirements::new(),
    };
    let micros = price * u64::try_from(cores).unwrap_or(1);
    InstanceType {
        requirements: [
            Requirement::is("node.kubernetes.io/instance-type", name.clone()),
            Requirement::is(
                "kubernetes.io/arch",
                if family == "g" { "arm64" } else { "amd64" },
            ),
            Requirement::is("kubernetes.io/os", "linux"),
            Requirement::is("topology.kubernetes.io/region", "r"),
            Requirement::is_in("topology.kubernetes.io/zone", zones),
            Requirement::is_in("karpenter.sh/capacity-type", ["spot", "on-demand"]),
            Requirement::is("karpenter.k8s.aws/instance-family", format!("{family}9")),
            Requirement::is("karpenter.k8s.aws/instance-cpu", cores.to_string()),
        ]
        .into_iter()
        .collect(),
        name: name.into(),
        capacity: Resources::cpu_memory(cores * 1000, cores * ratio * 1024 * MI)
            .with("pods", 110 + cores * 10),
        overhead: Overhead {
            kube_reserved: Resources::cpu_memory(70 + cores * 3, 400 * MI),
            ..Overhead::default()
        },
        offerings: zones
            .iter()
            .flat_map(|zone| {
                [
                    offering(zone, CapacityType::OnDemand, micros),
                    offering(zone, CapacityType::Spot, micros / 3),
                ]
            })
            .collect(),
        attach_limits: std::collections::BTreeMap::new(),
        devices: Vec::new(),
    }
}

fn pool() -> Pool {
    Pool {
        name: "default".into(),
        uid: "uid".into(),
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
            policy: ConsolidationPolicy::WhenEmptyOrUnderutilized,
            budgets: Vec::new(),
        },
        readiness: Readiness::Ready,
        deleting: false,
        hash: PoolHash::default(),
    }
}
