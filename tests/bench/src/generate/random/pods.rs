//! Pods that wait: a few groups, each of one shape, each shape with a few constraints.

use serde_json::{Value, json};

use super::terms::{label_pair, term};
use super::{APPS, NAMESPACES, ZONES};
use crate::draw::Draw;
use crate::objects::{CAPACITY_TYPE, HOSTNAME, OwnedBy, ZONE, pending, spec};

pub(super) fn all(draw: &mut Draw) -> Vec<Value> {
    let mut objects = Vec::new();
    for group in 0..draw.between(1, 4) {
        let (space, _) = *draw.pick(&NAMESPACES);
        let (labels, app) = app_labels(draw);
        let shape = shape(draw, app);
        let volume = draw.chance(8).then(|| volume(draw, group));
        for index in 0..draw.between(1, 5) {
            let mut spec = shape.clone();
            let name = format!("pod-{group}-{index}");
            if let Some(volume) = &volume {
                objects.extend(volume.objects(space, &name));
                spec["volumes"] =
                    json!([{"name": "disk", "persistentVolumeClaim": {"claimName": format!("disk-{name}")}}]);
            }
            let owner = OwnedBy {
                kind: "ReplicaSet",
                name: "group",
            };
            objects.push(pending(space, &name, &labels, owner, spec));
        }
    }
    // A class is the same object for all who use it.
    let mut seen = std::collections::BTreeSet::new();
    objects.retain(|it| it["kind"] != "StorageClass" || seen.insert(it["metadata"]["name"].to_string()));
    objects
}

/// Labels of a pod and the app they name.
pub(super) fn app_labels(draw: &mut Draw) -> (Value, &'static str) {
    let app = draw.word(&APPS);
    (json!({"app": app, "version": draw.pick(&["1", "2"])}), app)
}

/// Required anti-affinity to an app.
pub(super) fn exclusive(draw: &mut Draw, app: &str) -> Value {
    let term = company(draw, app);
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
}

fn shape(draw: &mut Draw, app: &str) -> Value {
    let cpu = draw.word(&["50m", "100m", "500m", "900m", "1", "1500m", "2", "4"]);
    let mut spec = spec(cpu, draw.word(&["64Mi", "256Mi", "1Gi", "2Gi", "6Gi"]));
    spec["tolerations"] = json!([]);
    if draw.chance(20) {
        spec["nodeSelector"] = label_pair(draw);
    }
    if draw.chance(35) {
        spec["tolerations"] = json!([toleration(draw)]);
    }
    let mut affinity = json!({});
    if draw.chance(20) {
        let terms: Vec<Value> = (0..draw.between(1, 2)).map(|_| term(draw)).collect();
        affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": terms});
    }
    if draw.chance(12) {
        affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json!([{"weight": draw.between(1, 100), "preference": term(draw)}]);
    }
    for (kind, share) in [("podAffinity", 15), ("podAntiAffinity", 18)] {
        if draw.chance(share) {
            // Most pods seek or flee their own kind; some another.
            let other = if draw.chance(60) { app } else { draw.word(&APPS) };
            let term = company(draw, other);
            if draw.chance(75) {
                affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([term]);
            } else {
                affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"] =
                    json!([{"weight": draw.between(1, 100), "podAffinityTerm": term}]);
            }
        }
    }
    if affinity != json!({}) {
        spec["affinity"] = affinity;
    }
    if draw.chance(30) {
        let count = if draw.chance(20) { 2 } else { 1 };
        let spreads: Vec<Value> = (0..count).map(|index| spread(draw, app, index)).collect();
        spec["topologySpreadConstraints"] = json!(spreads);
    }
    if draw.chance(8) {
        let port = json!({"containerPort": 80, "hostPort": draw.pick(&[8080, 9090]), "protocol": draw.pick(&["TCP", "UDP"])});
        spec["containers"][0]["ports"] = json!([port]);
    }
    if draw.chance(8) {
        let mut first = json!({"name": "first", "image": "registry.example/init:1", "resources": {"requests": {"cpu": draw.pick(&["100m", "2", "3"])}}});
        if draw.chance(50) {
            first["restartPolicy"] = json!("Always");
        }
        spec["initContainers"] = json!([first]);
    }
    if draw.chance(4) {
        spec["overhead"] = json!({"cpu": "250m"});
    }
    spec
}

fn toleration(draw: &mut Draw) -> Value {
    match draw.below(4) {
        0 => json!({"operator": "Exists"}),
        1 => json!({"key": "dedicated", "operator": "Exists"}),
        2 => json!({"key": "dedicated", "operator": "Equal", "value": draw.pick(&["a", "b"])}),
        _ => {
            json!({"key": "dedicated", "operator": "Equal", "value": draw.pick(&["a", "b"]), "effect": "NoSchedule"})
        }
    }
}

/// A pod affinity term on an app's pods.
fn company(draw: &mut Draw, app: &str) -> Value {
    let mut term = json!({
        "labelSelector": {"matchLabels": {"app": app}},
        "topologyKey": draw.pick(&[HOSTNAME, HOSTNAME, ZONE, ZONE, CAPACITY_TYPE]),
    });
    match draw.below(8) {
        0 => term["namespaces"] = json!(["default", "other"]),
        1 => term["namespaceSelector"] = json!({"matchLabels": {"tier": draw.pick(&["x", "y"])}}),
        2 => term["namespaceSelector"] = json!({}),
        3 => term["matchLabelKeys"] = json!(["version"]),
        _ => {}
    }
    term
}

fn spread(draw: &mut Draw, app: &str, index: usize) -> Value {
    // Two constraints of a pod must differ in key or rule.
    let key = if index == 1 {
        HOSTNAME
    } else {
        *draw.pick(&[ZONE, ZONE, HOSTNAME, CAPACITY_TYPE, "size"])
    };
    let hard = draw.chance(75);
    let other = if draw.chance(85) { app } else { draw.word(&APPS) };
    let mut made = json!({
        "maxSkew": draw.between(1, 2),
        "topologyKey": key,
        "whenUnsatisfiable": if hard { "DoNotSchedule" } else { "ScheduleAnyway" },
        "labelSelector": {"matchLabels": {"app": other}},
    });
    if hard && draw.chance(10) {
        made["minDomains"] = json!(draw.between(1, 3));
    }
    if draw.chance(10) {
        made["nodeTaintsPolicy"] = json!("Honor");
    }
    if draw.chance(10) {
        made["nodeAffinityPolicy"] = json!("Ignore");
    }
    if draw.chance(10) {
        made["matchLabelKeys"] = json!(["version"]);
    }
    made
}

/// A volume that each pod of a group has.
enum Volume {
    /// Bound to a disk in a zone.
    Bound(&'static str),
    /// Made where the pod goes, in some zones.
    Waits(Vec<&'static str>, String),
    /// Its claim does not exist.
    Missing,
}

fn volume(draw: &mut Draw, group: usize) -> Volume {
    match draw.below(5) {
        0 | 1 => Volume::Bound(draw.word(&ZONES)),
        2 | 3 => Volume::Waits(draw.some(&ZONES), format!("class-{group}")),
        _ => Volume::Missing,
    }
}

impl Volume {
    fn objects(&self, namespace: &str, pod: &str) -> Vec<Value> {
        let name = format!("disk-{pod}");
        let claim = |spec: Value| json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": namespace, "name": name}, "spec": spec});
        match self {
            Volume::Missing => Vec::new(),
            Volume::Bound(zone) => {
                let mut bound =
                    claim(json!({"volumeName": format!("pv-{name}"), "storageClassName": "static"}));
                bound["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
                bound["status"] = json!({"phase": "Bound"});
                let terms =
                    json!([{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]);
                vec![
                    bound,
                    json!({
                        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": format!("pv-{name}")},
                        "spec": {
                            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": name},
                            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                        },
                    }),
                ]
            }
            Volume::Waits(zones, class) => vec![
                json!({
                    "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
                    "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
                    "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}],
                }),
                claim(json!({"storageClassName": class})),
            ],
        }
    }
}
