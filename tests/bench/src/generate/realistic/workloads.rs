//! Workloads: web deployments, batch jobs, data stateful sets, in about the shares that clusters have them.

use serde_json::{Value, json};

use super::{Plan, cpu, memory, weighted};
use crate::draw::Draw;
use crate::objects::{ARCH, CAPACITY_TYPE, HOSTNAME, OwnedBy, ZONE, pending, spec};

/// One workload: pods of one shape.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) namespace: &'static str,
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// How many of its pods wait.
    pub(super) waiting: usize,
    pub(super) milli: u64,
    pub(super) mib: u64,
    /// The value of the taint it bears, of the pool it was made for.
    pub(super) dedicated: Option<&'static str>,
    /// The architecture its image is for; any where none.
    pub(super) arch: Option<&'static str>,
    /// Everything but the containers.
    constraints: Value,
    /// Whether every pod has a volume of its own.
    volume: bool,
}

/// Workloads until all pods of the plan are given out: 55 % web, 35 % batch, 10 % data.
pub(super) fn all(plan: Plan) -> Vec<Workload> {
    let mut draw = Draw::new(plan.seed, "workloads");
    let web = plan.pods * 55 / 100;
    let data = plan.pods / 10;
    let mut all = Vec::new();
    fill(&mut all, web, &mut draw, web_one);
    fill(&mut all, data, &mut draw, data_one);
    fill(&mut all, plan.pods - web - data, &mut draw, batch_one);
    all
}

fn fill(all: &mut Vec<Workload>, mut left: usize, draw: &mut Draw, one: fn(&mut Draw, usize) -> Workload) {
    while left > 0 {
        let mut workload = one(draw, all.len());
        workload.waiting = workload.waiting.min(left);
        left -= workload.waiting;
        all.push(workload);
    }
}

fn web_one(draw: &mut Draw, index: usize) -> Workload {
    let name = format!("web-{index}");
    let milli = weighted(draw, &[(25, 100), (30, 250), (25, 500), (15, 1000), (5, 2000)]);
    // Memory beside the cores: from 1 to 4 GiB a core, never below 128 MiB.
    let mib = (milli * weighted(draw, &[(30, 1024), (50, 2048), (20, 4096)]) / 1000).max(128);
    let arch = weighted(draw, &[(50, Some("amd64")), (40, None), (10, Some("arm64"))]);
    let selector = json!({"matchLabels": {"app": name}});
    let spread = |key: &str, when: &str, skew: u32| json!({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector});
    let mut constraints = json!({});
    let mut spreads = Vec::new();
    if draw.chance(60) {
        spreads.push(spread(ZONE, "DoNotSchedule", 1));
    }
    if draw.chance(25) {
        spreads.push(spread(HOSTNAME, "ScheduleAnyway", 2));
    }
    if !spreads.is_empty() {
        constraints["topologySpreadConstraints"] = json!(spreads);
    }
    if draw.chance(15) {
        constraints["affinity"] = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": {"labelSelector": selector, "topologyKey": HOSTNAME}},
        ]}});
    }
    let steady = draw.chance(10);
    Workload {
        namespace: "web",
        kind: "ReplicaSet",
        waiting: weighted(draw, &[(40, 3), (30, 8), (20, 20), (10, 60)]) + draw.below(3),
        name,
        milli,
        mib,
        dedicated: steady.then_some("steady"),
        arch,
        constraints,
        volume: false,
    }
}

fn batch_one(draw: &mut Draw, index: usize) -> Workload {
    let milli = weighted(draw, &[(35, 500), (30, 1000), (20, 2000), (10, 4000), (5, 8000)]);
    let mib = milli * weighted(draw, &[(30, 1024), (40, 2048), (20, 4096), (10, 7168)]) / 1000;
    let mut constraints = json!({});
    if draw.chance(20) {
        constraints["affinity"] = json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 50, "preference": {"matchExpressions": [{"key": CAPACITY_TYPE, "operator": "In", "values": ["spot"]}]}},
        ]}});
    }
    Workload {
        namespace: "batch",
        kind: "Job",
        name: format!("job-{index}"),
        waiting: weighted(draw, &[(40, 10), (35, 40), (20, 100), (5, 300)]) + draw.below(9),
        milli,
        mib,
        dedicated: Some("batch"),
        arch: weighted(draw, &[(60, None), (40, Some("amd64"))]),
        constraints,
        volume: false,
    }
}

fn data_one(draw: &mut Draw, index: usize) -> Workload {
    let name = format!("db-{index}");
    let milli = weighted(draw, &[(40, 1000), (35, 2000), (20, 4000), (5, 8000)]);
    let selector = json!({"matchLabels": {"app": name}});
    let constraints = json!({
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": selector, "topologyKey": HOSTNAME},
        ]}},
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector},
        ],
    });
    Workload {
        namespace: "data",
        kind: "StatefulSet",
        waiting: weighted(draw, &[(60, 3), (25, 5), (15, 9)]),
        milli,
        mib: milli * weighted(draw, &[(50, 4096), (50, 7168)]) / 1000,
        dedicated: Some("data"),
        arch: weighted(draw, &[(50, None), (50, Some("amd64"))]),
        constraints,
        volume: draw.chance(60),
        name,
    }
}

impl Workload {
    pub(super) fn labels(&self) -> Value {
        json!({"app": self.name})
    }

    pub(super) fn owner(&self) -> OwnedBy<'_> {
        OwnedBy {
            kind: self.kind,
            name: &self.name,
        }
    }

    pub(super) fn spec(&self) -> Value {
        let mut spec = spec(&cpu(self.milli), &memory(self.mib));
        for (key, value) in self.constraints.as_object().into_iter().flatten() {
            spec[key] = value.clone();
        }
        if let (Some(value), Some(tolerations)) = (self.dedicated, spec["tolerations"].as_array_mut()) {
            tolerations.push(
                json!({"key": "dedicated", "operator": "Equal", "value": value, "effect": "NoSchedule"}),
            );
        }
        let mut selector = serde_json::Map::new();
        if let Some(value) = self.dedicated {
            selector.insert("dedicated".into(), json!(value));
        }
        if let Some(arch) = self.arch {
            selector.insert(ARCH.into(), json!(arch));
        }
        if !selector.is_empty() {
            spec["nodeSelector"] = Value::Object(selector);
        }
        spec
    }

    /// Whether every node of another of its pods is ruled out, or its pods are counted by zone.
    pub(super) fn stands_apart(&self) -> bool {
        !self.constraints["affinity"]["podAntiAffinity"].is_null()
    }

    /// The waiting pods and their volume claims.
    pub(super) fn pending(&self) -> Vec<Value> {
        let shape = self.spec();
        let mut objects = Vec::new();
        for index in 0..self.waiting {
            let name = format!("{}-{index}", self.name);
            let mut spec = shape.clone();
            if self.volume {
                let claim = format!("disk-{name}");
                spec["volumes"] = json!([{"name": "disk", "persistentVolumeClaim": {"claimName": claim}}]);
                objects.push(volume_claim(self.namespace, &claim));
            }
            objects.push(pending(self.namespace, &name, &self.labels(), self.owner(), spec));
        }
        objects
    }
}

fn volume_claim(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "gp3", "resources": {"requests": {"storage": "100Gi"}},
        },
        "status": {"phase": "Pending"},
    })
}
