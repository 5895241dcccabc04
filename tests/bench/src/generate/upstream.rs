//! The distribution of Karpenter's own scheduling benchmark: fifths of generic pods, zone spread, hostname spread, zone
//! affinity and hostname anti-affinity, 400 types, one pool, nothing there yet; and its variant with preferences.

use serde_json::{Value, json};

use super::{Set, fake};
use crate::draw::Draw;
use crate::objects::{HOSTNAME, OwnedBy, ZONE, pending, pool, spec};

const TYPES: u32 = 400;
const CPU: [&str; 5] = ["100m", "250m", "500m", "1000m", "1500m"];
const MEMORY: [&str; 6] = ["100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"];
const VALUES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// Fifths of each kind, filled up with generic pods.
pub fn diverse(count: usize, seed: u64) -> Set {
    let mut draw = Draw::new(seed, "diverse");
    let fifth = count / 5;
    let mut pods: Vec<Value> = Vec::with_capacity(count);
    let mut add = |kind: &str, number: usize, draw: &mut Draw| {
        for _ in 0..number {
            let (labels, mut spec) = (label(kind, draw), sized(draw));
            constrain(kind, &labels, &mut spec, draw);
            pods.push(pod(pods.len(), &labels, spec));
        }
    };
    for kind in [
        "generic",
        "zone-spread",
        "host-spread",
        "zone-affinity",
        "host-anti-affinity",
    ] {
        add(kind, fifth, &mut draw);
    }
    add("generic", count - 5 * fifth, &mut draw);
    set(pods)
}

/// Pods of one size that prefer a zone, prefer not to share a zone (which cannot be had) and prefer not to share a node.
pub fn preferences(count: usize, seed: u64) -> Set {
    let mut draw = Draw::new(seed, "preferences");
    let labels = json!({"app": "nginx"});
    let apart = |weight: u32, key: &str| json!({"weight": weight, "podAffinityTerm": {"labelSelector": {"matchLabels": labels}, "topologyKey": key}});
    let mut shape = sized(&mut draw);
    shape["affinity"] = json!({
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 1,
            "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["test-zone-1"]}]},
        }]},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [apart(10, ZONE), apart(1, HOSTNAME)]},
    });
    set((0..count)
        .map(|index| pod(index, &labels, shape.clone()))
        .collect())
}

fn set(mut pods: Vec<Value>) -> Set {
    let mut only = pool("default", Vec::new());
    only["spec"]["limits"] = json!({"cpu": "10000000", "memory": "10000000Gi"});
    pods.push(only);
    Set {
        objects: pods,
        catalogue: fake::types(TYPES),
    }
}

fn pod(index: usize, labels: &Value, spec: Value) -> Value {
    let owner = OwnedBy {
        kind: "ReplicaSet",
        name: "bench",
    };
    pending("default", &format!("pod-{index}"), labels, owner, spec)
}

fn sized(draw: &mut Draw) -> Value {
    let cpu = draw.word(&CPU);
    spec(cpu, draw.word(&MEMORY))
}

fn label(kind: &str, draw: &mut Draw) -> Value {
    match kind {
        "host-anti-affinity" => json!({"app": "nginx"}),
        "zone-affinity" => json!({"my-affinity": draw.pick(&VALUES)}),
        _ => json!({"my-label": draw.pick(&VALUES)}),
    }
}

fn constrain(kind: &str, labels: &Value, spec: &mut Value, draw: &mut Draw) {
    let with = |key: &str| json!([{"labelSelector": {"matchLabels": labels}, "topologyKey": key}]);
    match kind {
        "zone-spread" | "host-spread" => {
            // Upstream's pods spread over pods of another drawn label, not of their own.
            let others = json!({"my-label": draw.pick(&VALUES)});
            spec["topologySpreadConstraints"] = json!([{
                "maxSkew": 1,
                "topologyKey": if kind == "zone-spread" { ZONE } else { HOSTNAME },
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": others},
            }]);
        }
        "zone-affinity" => {
            spec["affinity"] =
                json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": with(ZONE)}});
        }
        "host-anti-affinity" => {
            spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": with(HOSTNAME)}});
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{diverse, preferences};

    #[test]
    fn every_size_holds_as_many_pods_as_asked_for() {
        for count in [1, 4, 5, 99, 100, 1003] {
            let set = diverse(count, 42);
            assert_eq!((set.count("Pod"), set.count("NodePool")), (count, 1));
        }
        assert_eq!(preferences(40, 42).count("Pod"), 40);
    }

    #[test]
    fn a_fifth_of_the_pods_is_apart_from_each_other() {
        let set = diverse(1000, 42);
        let apart = set
            .objects
            .iter()
            .filter(|object| !object["spec"]["affinity"]["podAntiAffinity"].is_null());
        assert_eq!(apart.count(), 200);
    }
}
