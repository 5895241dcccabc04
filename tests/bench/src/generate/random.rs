//! Small random snapshots for the differential runs: few objects, every kind of constraint, many of them in conflict.

mod nodes;
mod pods;
mod pools;
mod terms;
mod types;

use serde_json::{Value, json};

use super::Set;
use crate::draw::Draw;
use crate::objects::namespace;

/// The zones; the last has only few offerings.
const ZONES: [&str; 3] = ["z1", "z2", "z3"];
/// A label that pools and nodes may carry and that no provider knows.
const TEAM: &str = "example.com/team";
const TEAMS: [&str; 3] = ["a", "b", "c"];
/// Names of apps, which selectors of other apps refer to.
const APPS: [&str; 4] = ["one", "two", "three", "four"];
const NAMESPACES: [(&str, &str); 2] = [("default", "x"), ("other", "y")];

/// The random snapshot of a seed.
pub fn snapshot(seed: u64) -> Set {
    let mut draw = Draw::new(seed, "random");
    let mut objects: Vec<Value> = NAMESPACES
        .iter()
        .map(|(name, tier)| namespace(name, json!({"tier": tier})))
        .collect();
    let catalogue = types::catalogue(&mut draw);
    let pools = pools::all(&mut draw);
    objects.extend(nodes::all(&mut draw, &pools));
    objects.extend(pods::all(&mut draw));
    objects.extend(pools);
    objects.extend(daemons(&mut draw));
    Set { objects, catalogue }
}

fn daemons(draw: &mut Draw) -> Vec<Value> {
    let mut all = Vec::new();
    for index in 0..[0, 0, 1, 2][draw.below(4)] {
        let mut spec = crate::objects::spec(["100m", "500m", "1"][draw.below(3)], "128Mi");
        spec["tolerations"] = json!([]);
        if draw.chance(50) {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        }
        if draw.chance(40) {
            spec["nodeSelector"] = terms::label_pair(draw);
        }
        if draw.chance(20) {
            spec["containers"][0]["ports"] =
                json!([{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]);
        }
        all.push(crate::objects::daemon_set(
            "kube-system",
            &format!("daemon-{index}"),
            spec,
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::snapshot;

    #[test]
    fn a_seed_always_gives_the_same_snapshot() {
        for seed in 0..50 {
            assert_eq!(snapshot(seed).objects, snapshot(seed).objects, "{seed}");
        }
    }

    #[test]
    fn every_kind_of_constraint_comes_up() {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let words = [
            "nodeSelector",
            "matchExpressions",
            "topologySpreadConstraints",
            "minDomains",
            "nodeTaintsPolicy",
            "matchLabelKeys",
            "podAffinity",
            "podAntiAffinity",
            "namespaceSelector",
            "hostPort",
            "initContainers",
            "persistentVolumeClaim",
            "minValues",
            "limits",
            "weight",
            "startupTaints",
            "PreferNoSchedule",
            "Gt",
            "Lt",
            "NotIn",
            "DoesNotExist",
            "reservationCapacity",
        ];
        for seed in 0..400 {
            let set = snapshot(seed);
            let text = format!("{} {}", super::super::list(&set.objects), set.catalogue);
            seen.extend(words.iter().filter(|word| text.contains(**word)));
        }
        assert_eq!(seen.len(), words.len(), "only {seen:?}");
    }
}
