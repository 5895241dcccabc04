//! Which types could carry what a node carries, asked of the snapshot and the catalogue alone: whether a node that lists few
//! could have listed more.

use std::collections::BTreeMap;

use joiner_core::catalogue::{Catalogue, InstanceType};
use joiner_core::launch;
use joiner_core::resources::Resources;
use joiner_core::schedule::NewClaim;
use joiner_core::snapshot::{DaemonSet, Pod, PodKey, Pool, Snapshot};
use joiner_core::taints::untolerated;
use joiner_core::text::Labels;
use joiner_core::well_known;

/// The types of its pool that suit a claim, whichever it lists, and that hold its pods beside the daemons.
pub fn carriers(snapshot: &Snapshot, catalogue: &Catalogue, claims: &[NewClaim]) -> Vec<Vec<String>> {
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pending.iter().map(|pod| (&pod.key, &**pod)).collect();
    let of = |claim: &NewClaim| {
        let Some(pool) = snapshot.pool(&claim.pool) else {
            return Vec::new();
        };
        let mut wanted = claim.requirements.and(&pool.template_requirements());
        wanted.remove(well_known::INSTANCE_TYPE);
        let load = claim.pods.iter().filter_map(|key| pods.get(key));
        let load: Resources = load.map(|pod| &pod.requests).sum();
        let types = catalogue.types(&claim.pool).iter();
        let carrying = types.filter(|it| it.suits(&wanted) && holds(it, &load, pool, snapshot));
        carrying.map(|it| it.name.to_string()).collect()
    };
    claims.iter().map(of).collect()
}

/// Whether a type has room for a load and the daemons, whichever way it is bought.
fn holds(it: &InstanceType, load: &Resources, pool: &Pool, snapshot: &Snapshot) -> bool {
    it.offerings
        .iter()
        .filter(|offering| offering.available)
        .all(|offering| {
            let mut labels = pool.template_labels();
            labels.extend(launch::labels(it, offering));
            let mut all = load.clone();
            let daemons = snapshot
                .daemon_sets
                .iter()
                .filter(|daemon| runs(daemon, pool, &labels));
            daemons.for_each(|daemon| all.add(&daemon.requests));
            all.fits(&it.allocatable())
        })
}

fn runs(daemon: &DaemonSet, pool: &Pool, labels: &Labels) -> bool {
    let placement = &daemon.placement;
    let selected = placement
        .node_selector
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value));
    let terms = placement.node_affinity.as_ref();
    let allowed = terms.is_none_or(|terms| terms.iter().any(|term| term.expressions.allow_labels(labels)));
    let mut refused = untolerated(&pool.taints, &placement.tolerations).filter(|taint| taint.is_hard());
    selected && allowed && refused.next().is_none()
}

#[cfg(test)]
mod tests {
    use joiner_core::snapshot::Strategy;
    use joiner_map::Answer;
    use serde_json::json;

    use crate::cases::Preferences;
    use crate::generate::{Set, fake};
    use crate::judge::Judge;
    use crate::objects::{INSTANCE_TYPE, NODE_POOL, OwnedBy, daemon_set, pending, pool, requirement, spec};

    /// Types of 1 to 6 cores, two pods of a core, and a daemon that takes half a core of nodes without a taint: three cores hold
    /// both, five the one of the two pools allows at most, and the list of the node does not count.
    #[test]
    fn what_carries_pods_and_daemons_is_found_beyond_the_list() {
        let owner = OwnedBy {
            kind: "ReplicaSet",
            name: "x",
        };
        let labels = json!({"app": "x"});
        let few = requirement("integer", "In", &["1", "2", "3", "4", "5"]);
        let mut tainted = pool("tainted", vec![few.clone()]);
        tainted["spec"]["template"]["spec"]["taints"] =
            json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]);
        let set = Set {
            objects: vec![
                pool("plain", vec![few]),
                tainted,
                daemon_set("kube-system", "agent", spec("500m", "10Mi")),
                pending("default", "a", &labels, owner, spec("1", "10Mi")),
                pending("default", "b", &labels, owner, spec("850m", "10Mi")),
            ],
            catalogue: fake::types(6),
        };
        let judge = Judge::new(&set, Strategy::FirstFit, Preferences::Respect).unwrap();
        let large = ["fake-it-2", "fake-it-3", "fake-it-4"];
        for (pool, more, want) in [
            ("plain", vec![], &large[..]),
            (
                "plain",
                vec![requirement("integer", "In", &["4", "6"])],
                &["fake-it-3"],
            ),
            (
                "tainted",
                vec![],
                &["fake-it-1", "fake-it-2", "fake-it-3", "fake-it-4"],
            ),
            ("unknown", vec![], &[]),
        ] {
            let mut requirements = more.clone();
            requirements.push(requirement(NODE_POOL, "In", &[pool]));
            requirements.push(requirement(INSTANCE_TYPE, "In", &["fake-it-5"]));
            let mut answer = serde_json::to_value(Answer::default()).unwrap();
            answer["newNodes"] = json!([{
                "name": "n", "nodePool": pool, "instanceTypes": ["fake-it-5"], "requirements": requirements,
                "taints": [], "labels": {}, "requests": {}, "price": 1.0, "pods": ["default/a", "default/b"],
            }]);
            assert_eq!(
                judge.carriers(&answer.to_string()).unwrap(),
                [want],
                "{pool} {more:?}"
            );
        }
    }
}
