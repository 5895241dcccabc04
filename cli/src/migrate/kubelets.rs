//! Kubelet settings of old pools: they are their classes' now.
//!
//! A class that pools with different settings share is copied, one copy for each of the other settings; so every node keeps its own.

use serde_json::{Value as Json, json};

use super::piece::{Harvest, Piece, put, says_something};

/// Gives the settings of pools to their classes.
pub(super) fn settle(harvest: &mut Harvest) {
    let kubelets = std::mem::take(&mut harvest.kubelets);
    let mut classes: Vec<&str> = kubelets.iter().map(|kubelet| kubelet.class.as_str()).collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        let of_class: Vec<(&str, &Json)> = kubelets
            .iter()
            .filter(|kubelet| kubelet.class == class)
            .map(|kubelet| (kubelet.pool.as_str(), &kubelet.settings))
            .collect();
        give(harvest, class, &of_class);
    }
}

fn give(harvest: &mut Harvest, class: &str, pools: &[(&str, &Json)]) {
    if pools.iter().all(|(_, settings)| !says_something(settings)) {
        return;
    }
    let Some(original) = find(harvest, "EC2NodeClass", class).cloned() else {
        for (pool, settings) in pools.iter().filter(|(_, settings)| says_something(settings)) {
            remark(
                harvest,
                pool,
                &format!(
                    "its kubelet settings belong to the class now: add kubelet {settings} to EC2NodeClass {class}, which is not among what was read"
                ),
            );
        }
        return;
    };
    let mut distinct: Vec<&Json> = Vec::new();
    for &(_, settings) in pools {
        if !distinct.contains(&settings) {
            distinct.push(settings);
        }
    }
    // Pools without settings keep the class as it is.
    distinct.sort_by_key(|settings| says_something(settings));
    for (index, settings) in distinct.into_iter().enumerate() {
        let users: Vec<&str> = pools
            .iter()
            .filter(|(_, of_pool)| *of_pool == settings)
            .map(|(pool, _)| *pool)
            .collect();
        if index == 0 {
            if let Some(piece) = find_mut(harvest, "EC2NodeClass", class) {
                put_kubelet(piece, settings);
            }
            continue;
        }
        let first = users.first().copied().unwrap_or_default();
        let name = format!("{class}-{first}");
        let mut copy = original.clone();
        copy.manifest["metadata"]["name"] = json!(name);
        copy.exists = false;
        copy.remarks.push(format!(
            "a copy of EC2NodeClass {class}: the pools that share it had different kubelet settings, which belong to the class now"
        ));
        put_kubelet(&mut copy, settings);
        harvest.pieces.push(copy);
        for pool in users {
            if let Some(piece) = find_mut(harvest, "NodePool", pool) {
                piece.manifest["spec"]["template"]["spec"]["nodeClassRef"]["name"] = json!(name);
                piece.remarks.push(format!(
                    "it refers to {name} instead of {class}, for its kubelet settings; its nodes will be replaced"
                ));
            }
        }
    }
}

fn put_kubelet(class: &mut Piece, settings: &Json) {
    let mut settings = settings.clone();
    if let Some(runtime) = settings
        .as_object_mut()
        .and_then(|members| members.remove("containerRuntime"))
    {
        class.remarks.push(format!(
            "kubelet.containerRuntime ({runtime}) is gone: nodes have containerd"
        ));
    }
    let settings = Some(settings).filter(says_something);
    put(&mut class.manifest["spec"], "kubelet", settings);
}

fn remark(harvest: &mut Harvest, pool: &str, text: &str) {
    if let Some(piece) = find_mut(harvest, "NodePool", pool) {
        piece.remarks.push(text.to_owned());
    }
}

fn find<'a>(harvest: &'a Harvest, kind: &str, name: &str) -> Option<&'a Piece> {
    harvest
        .pieces
        .iter()
        .find(|piece| piece.kind() == kind && piece.name() == name)
}

fn find_mut<'a>(harvest: &'a mut Harvest, kind: &str, name: &str) -> Option<&'a mut Piece> {
    harvest
        .pieces
        .iter_mut()
        .find(|piece| piece.kind() == kind && piece.name() == name)
}

#[cfg(test)]
mod tests {
    use super::super::piece::PoolKubelet;
    use super::*;

    fn harvest(settings: &[Json]) -> Harvest {
        let class = json!({ "kind": "EC2NodeClass", "metadata": { "name": "c" }, "spec": { "role": "r" } });
        let mut harvest = Harvest::default();
        harvest.pieces.push(Piece {
            exists: true,
            ..Piece::new("EC2NodeClass c", class)
        });
        for (index, settings) in settings.iter().enumerate() {
            let pool = format!("p{index}");
            let manifest = json!({
                "kind": "NodePool", "metadata": { "name": pool }, "spec": { "template": { "spec": { "nodeClassRef": { "name": "c" } } } },
            });
            harvest.pieces.push(Piece::new("NodePool", manifest));
            harvest.kubelets.push(PoolKubelet {
                pool,
                class: "c".to_owned(),
                settings: settings.clone(),
            });
        }
        settle(&mut harvest);
        harvest
    }

    #[test]
    fn settings_that_agree_go_to_the_class() {
        let same = json!({ "maxPods": 5, "containerRuntime": "dockerd" });
        let found = harvest(&[same.clone(), same]);
        assert_eq!(found.pieces.len(), 3);
        assert_eq!(
            found.pieces[0].manifest["spec"]["kubelet"],
            json!({ "maxPods": 5 })
        );
        assert!(found.pieces[0].remarks[0].contains("containerRuntime"));
        assert!(harvest(&[json!(null)]).pieces[0].manifest["spec"]["kubelet"].is_null());
    }

    #[test]
    fn settings_that_differ_get_a_class_each() {
        let found = harvest(&[
            json!({ "maxPods": 5 }),
            json!(null),
            json!({ "maxPods": 9 }),
            json!({ "maxPods": 9 }),
        ]);
        let classes: Vec<(&str, &Json, bool)> = found
            .pieces
            .iter()
            .filter(|piece| piece.kind() == "EC2NodeClass")
            .map(|piece| (piece.name(), &piece.manifest["spec"]["kubelet"], piece.exists))
            .collect();
        assert_eq!(
            classes,
            [
                ("c", &json!(null), true),
                ("c-p0", &json!({ "maxPods": 5 }), false),
                ("c-p2", &json!({ "maxPods": 9 }), false),
            ]
        );
        let class_of = |pool: &str| {
            let piece = found
                .pieces
                .iter()
                .find(|piece| piece.name() == pool)
                .expect("a pool");
            piece.manifest["spec"]["template"]["spec"]["nodeClassRef"]["name"].clone()
        };
        assert_eq!(
            ["p0", "p1", "p2", "p3"].map(class_of),
            ["c-p0", "c", "c-p2", "c-p2"].map(|name| json!(name))
        );
    }
}
