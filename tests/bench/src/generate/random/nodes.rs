//! Nodes that are there, of pools or not, with pods on them.

use serde_json::{Map, Value, json};

use super::pods::{app_labels, exclusive};
use super::{NAMESPACES, TEAM, TEAMS, ZONES, pools, types};
use crate::draw::Draw;
use crate::objects::{
    ARCH, CAPACITY_TYPE, INSTANCE_TYPE, Machine, OS, OwnedBy, ZONE, machine, running, spec,
};

pub(super) fn all(draw: &mut Draw, pools: &[Value]) -> Vec<Value> {
    let mut objects = Vec::new();
    for index in 0..[0, 0, 0, 1, 2, 4][draw.below(6)] {
        objects.extend(one(draw, index, pools));
    }
    objects
}

fn one(draw: &mut Draw, index: usize, pools: &[Value]) -> Vec<Value> {
    let pool = draw.pick(pools).clone();
    let managed = draw.chance(75);
    let cores = draw.between(1, 8);
    let mut labels = Map::new();
    let mut put = |key: &str, value: &str| labels.insert(key.into(), json!(value));
    put(ZONE, draw.word(&ZONES));
    put(ARCH, "amd64");
    put(OS, "linux");
    if managed {
        put(INSTANCE_TYPE, &types::name(draw.below(3)));
        put(CAPACITY_TYPE, draw.word(&["spot", "on-demand"]));
        put("size", if cores > 4 { "large" } else { "small" });
        put("integer", &cores.to_string());
    }
    let pool_team = pool["spec"]["template"]["metadata"]["labels"][TEAM].as_str();
    match pool_team.filter(|_| managed) {
        Some(team) => drop(put(TEAM, team)),
        None if draw.chance(20) => drop(put(TEAM, draw.word(&TEAMS))),
        None => {}
    }
    let taints = match pool["spec"]["template"]["spec"]["taints"].as_array() {
        Some(taints) if managed => taints.clone(),
        _ if draw.chance(15) => vec![pools::taint(draw)],
        _ => Vec::new(),
    };
    let pods = draw.pick(&["2", "10", "110"]).to_string();
    let resources = json!({"cpu": cores.to_string(), "memory": format!("{}Gi", cores * 2), "pods": pods, "ephemeral-storage": "20Gi"});
    let name = format!("node-{index}");
    let mut objects = machine(&Machine {
        name: name.clone(),
        pool: managed.then(|| pool["metadata"]["name"].as_str().unwrap_or("").to_owned()),
        labels,
        taints,
        capacity: resources.clone(),
        allocatable: resources,
    });
    let going = managed && draw.chance(10);
    if going {
        for object in objects.iter_mut().filter(|it| it["kind"] == "NodeClaim") {
            object["metadata"]["deletionTimestamp"] = json!("2026-08-02T12:00:00Z");
        }
    }
    let mut left = cores * 1000;
    for number in 0..draw.below(4) {
        let milli = *draw.pick(&[100usize, 250, 500, 1000]);
        if milli > left || number >= 2 && pods == "2" {
            break;
        }
        left -= milli;
        let (labels, app) = app_labels(draw);
        let mut shape = spec(&format!("{milli}m"), "128Mi");
        // One pod that bears no company is enough on a node, or the snapshot would not keep the rules itself.
        if number == 0 && draw.chance(15) {
            shape["affinity"] = exclusive(draw, app);
        }
        let owner = OwnedBy {
            kind: "ReplicaSet",
            name: "there",
        };
        let (space, _) = *draw.pick(&NAMESPACES);
        objects.push(running(
            space,
            &format!("there-{index}-{number}"),
            &labels,
            owner,
            shape,
            &name,
        ));
    }
    objects
}
