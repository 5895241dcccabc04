//! Small clusters to decide on.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use joiner_core::catalogue::{CapacityType, Catalogue, InstanceType, Offering, Overhead};
use joiner_core::conditions::{Condition, Conditions, Status};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::{Limits, Resources};
use joiner_core::schedule::{Schedule, schedule};
use joiner_core::snapshot::{
    Claim, ClassRef, ConsolidationPolicy, DaemonSet, Disruption, Node, NodeObject, Placement, Pod, PodKey,
    PodState, Pool, PoolHash, Readiness, Snapshot,
};
use joiner_core::text::{Labels, Text, labels};

pub(crate) const GI: i64 = 1 << 30;
pub(crate) const MI: i64 = 1 << 20;

/// The moment at which everything is decided.
pub(crate) fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// So many seconds before [`now`].
pub(crate) fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

pub(crate) fn class() -> ClassRef {
    ClassRef {
        group: "karpenter.k8s.aws".into(),
        kind: "EC2NodeClass".into(),
        name: "default".into(),
    }
}

/// A ready pool without wishes.
pub(crate) fn pool(name: &str) -> Pool {
    Pool {
        name: name.into(),
        uid: format!("uid-{name}").into(),
        class: class(),
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

/// An instance type in three zones, on-demand at `micros` and spot at a third of it.
pub(crate) fn instance(name: &str, arch: &str, cpu: i64, memory: i64, micros: u64) -> InstanceType {
    let zones = ["us-west-2a", "us-west-2b", "us-west-2c"];
    let offering = |zone: &str, capacity_type, price| Offering {
        zone: zone.into(),
        zone_id: zone.replace("us-west-2", "usw2-az").into(),
        capacity_type,
        price: Price::from_micros(price),
        available: true,
        reservation: None,
        extra: Requirements::new(),
    };
    let offerings = zones.iter().flat_map(|zone| {
        [
            offering(zone, CapacityType::OnDemand, micros),
            offering(zone, CapacityType::Spot, micros / 3),
        ]
    });
    let family = name.split('.').next().unwrap_or(name);
    InstanceType {
        name: name.into(),
        requirements: [
            Requirement::is("node.kubernetes.io/instance-type", name),
            Requirement::is("kubernetes.io/arch", arch),
            Requirement::is("kubernetes.io/os", "linux"),
            Requirement::is("topology.kubernetes.io/region", "us-west-2"),
            Requirement::is_in("topology.kubernetes.io/zone", zones),
            Requirement::is_in("karpenter.sh/capacity-type", ["spot", "on-demand"]),
            Requirement::is("karpenter.k8s.aws/instance-family", family),
            Requirement::is("karpenter.k8s.aws/instance-category", &family[..1]),
            Requirement::is("karpenter.k8s.aws/instance-cpu", (cpu / 1000).to_string()),
            Requirement::does_not_exist("karpenter.k8s.aws/instance-gpu-name"),
            Requirement::is_in("karpenter.k8s.aws/instance-tenancy", ["default", "dedicated"]),
        ]
        .into_iter()
        .collect(),
        capacity: Resources::cpu_memory(cpu, memory)
            .with("pods", 110)
            .with("ephemeral-storage", 20 * GI),
        overhead: Overhead {
            kube_reserved: Resources::cpu_memory(80, 400 * MI),
            ..Overhead::default()
        },
        offerings: offerings.collect(),
        attach_limits: std::collections::BTreeMap::new(),
        devices: Vec::new(),
    }
}

/// Three families on two architectures, from 1 to 16 cores.
pub(crate) fn types() -> Vec<InstanceType> {
    let sizes = [
        ("medium", 1),
        ("large", 2),
        ("xlarge", 4),
        ("2xlarge", 8),
        ("4xlarge", 16),
    ];
    let families = [
        ("c5", "amd64", 2, 42_500),
        ("m5", "amd64", 4, 48_000),
        ("r5", "amd64", 8, 63_000),
        ("m6g", "arm64", 4, 38_500),
    ];
    let of = |(family, arch, ratio, price): (&str, &str, i64, u64)| {
        sizes
            .map(|(size, cores)| {
                let price = price * u64::try_from(cores).unwrap();
                instance(
                    &format!("{family}.{size}"),
                    arch,
                    cores * 1000,
                    cores * ratio * GI,
                    price,
                )
            })
            .to_vec()
    };
    families.into_iter().flat_map(of).collect()
}

/// A pod that waits.
pub(crate) fn pod(name: &str, cpu: i64, memory: i64) -> Pod {
    Pod::new(
        PodKey::new("default", name),
        Resources::cpu_memory(cpu, memory),
        ago(10),
    )
}

pub(crate) fn select(mut pod: Pod, key: &str, value: &str) -> Pod {
    pod.placement.node_selector.insert(key.into(), value.into());
    pod
}

pub(crate) fn daemon(name: &str, cpu: i64, memory: i64) -> DaemonSet {
    let requests = Resources::cpu_memory(cpu, memory).with("pods", 1);
    DaemonSet {
        name: name.into(),
        requests,
        placement: Placement::default(),
    }
}

/// A claim that has become `phase`: "planned", "launched", "registered" or "initialized".
pub(crate) fn claim(name: &str, pool: &str, it: &InstanceType, phase: &str) -> Claim {
    let launched = phase != "planned";
    let mut all = labels([
        ("karpenter.sh/nodepool", pool),
        ("karpenter.k8s.aws/ec2nodeclass", "default"),
    ]);
    if launched {
        all.extend(joiner_core::launch::labels(it, &it.offerings[0]));
    }
    let reached = |wanted: &[&str]| wanted.contains(&phase);
    let condition = |holds: bool| Condition {
        status: if holds { Status::True } else { Status::Unknown },
        reason: "Test".into(),
        message: "".into(),
        since: ago(600),
    };
    let conditions: Conditions = [
        ("Launched", condition(launched)),
        ("Registered", condition(reached(&["registered", "initialized"]))),
        ("Initialized", condition(reached(&["initialized"]))),
    ]
    .into_iter()
    .collect();
    Claim {
        name: name.into(),
        uid: format!("uid-{name}").into(),
        created: ago(700),
        deletion: None,
        labels: all,
        annotations: Labels::new(),
        finalizers: vec!["karpenter.sh/termination".into()],
        class: class(),
        requirements: [Requirement::is(
            "node.kubernetes.io/instance-type",
            it.name.clone(),
        )]
        .into_iter()
        .collect(),
        requests: Resources::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        expire_after: None,
        termination_grace_period: None,
        provider_id: launched.then(|| provider_id(name)),
        node_name: reached(&["registered", "initialized"]).then(|| format!("node-{name}").into()),
        capacity: if launched {
            it.capacity.clone()
        } else {
            Resources::new()
        },
        allocatable: if launched {
            it.allocatable()
        } else {
            Resources::new()
        },
        last_pod_event: None,
        conditions,
    }
}

pub(crate) fn provider_id(name: &str) -> Text {
    format!("aws:///us-west-2a/i-{name}").into()
}

/// The node object of a claim.
pub(crate) fn object(claim: &Claim, it: &InstanceType) -> NodeObject {
    let mut all = claim.labels.clone();
    let name: Text = format!("node-{}", claim.name).into();
    all.insert("kubernetes.io/hostname".into(), name.clone());
    for (condition, label) in [
        ("Registered", "karpenter.sh/registered"),
        ("Initialized", "karpenter.sh/initialized"),
    ] {
        if claim.conditions.is_true(condition) {
            all.insert(label.into(), "true".into());
        }
    }
    NodeObject {
        uid: format!("uid-{name}").into(),
        name,
        created: ago(650),
        deletion: None,
        provider_id: claim.provider_id.clone(),
        labels: all,
        annotations: Labels::new(),
        finalizers: vec!["karpenter.sh/termination".into()],
        taints: Vec::new(),
        ready: true,
        capacity: it.capacity.clone(),
        allocatable: it.allocatable(),
    }
}

/// A place at `phase` with nothing on it.
pub(crate) fn node(name: &str, pool: &str, it: &InstanceType, phase: &str) -> Node {
    let claim = claim(name, pool, it, phase);
    let joined = matches!(phase, "registered" | "initialized");
    let object = joined.then(|| Arc::new(object(&claim, it)));
    Node::new(Some(Arc::new(claim)), object).unwrap()
}

pub(crate) fn bound(mut pod: Pod) -> Arc<Pod> {
    pod.state = PodState::Bound {
        started: Some(ago(300)),
    };
    Arc::new(pod)
}

/// A cluster under construction.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) catalogue: Catalogue,
}

impl World {
    pub(crate) fn new() -> World {
        World::default()
    }

    /// With a pool that sells `types`.
    pub(crate) fn pool(mut self, pool: Pool, types: Vec<InstanceType>) -> World {
        self.catalogue.pools.insert(pool.name.clone(), types.into());
        self.snapshot.pools.push(Arc::new(pool));
        self
    }

    pub(crate) fn pods(mut self, pods: impl IntoIterator<Item = Pod>) -> World {
        self.snapshot.pending.extend(pods.into_iter().map(Arc::new));
        self
    }

    pub(crate) fn node(mut self, node: Node) -> World {
        self.snapshot.nodes.push(node);
        self
    }

    pub(crate) fn daemon(mut self, daemon: DaemonSet) -> World {
        self.snapshot.daemon_sets.push(Arc::new(daemon));
        self
    }

    /// Decides, has the decision audited and returns it.
    pub(crate) fn schedule(&self) -> Schedule {
        let decided = schedule(&self.snapshot, &self.catalogue, now());
        let violations = joiner_core::check::schedule(&self.snapshot, &self.catalogue, &decided, now());
        assert!(violations.is_empty(), "{violations:#?}\n{decided:#?}");
        decided
    }

    /// The refusal of every pod, in words.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let decided = self.schedule();
        decided
            .unschedulable
            .iter()
            .map(|(pod, why)| format!("{pod}: {}", joiner_core::explain::refusal(why)))
            .collect()
    }
}

/// What a schedule comes to: for each claim its cheapest type and how many pods, then places with their pods.
pub(crate) fn summary(decided: &Schedule) -> String {
    let claims = decided.new_claims.iter().map(|claim| {
        format!(
            "{}:{}x{}",
            claim.pool,
            claim.instance_types.first().map_or("?", |name| name),
            claim.pods.len()
        )
    });
    let places = decided
        .existing
        .iter()
        .map(|(place, pods)| format!("{place}+{}", pods.len()));
    let mut all: Vec<String> = claims.chain(places).collect();
    if !decided.unschedulable.is_empty() {
        all.push(format!("left {}", decided.unschedulable.len()));
    }
    all.join(" ")
}
