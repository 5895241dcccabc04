//! Kubelet settings of old pools: they are their classes' now.
//!
//! A class that pools with different settings share is copied, one copy for each of the other settings; so every node keeps its own.
//! Invariant: what a class itself says stays in it, and a pool that says nothing has what its class says, as before.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::piece::{Harvest, Piece, PoolKubelet, put, says_something};

/// A pool, and the kubelet settings that it has itself: null for those of its class.
struct User {
    pool: String,
    class: String,
    settings: Json,
}

impl User {
    /// The settings that its nodes have, of a class that says `own`.
    fn wanted(&self, own: &Json) -> Json {
        match &self.settings {
            Json::Null => own.clone(),
            settings => settings.clone(),
        }
    }
}

/// Gives the settings of pools to their classes.
pub(super) fn settle(harvest: &mut Harvest) {
    let users = users(harvest);
    let classes: BTreeSet<&str> = users.iter().map(|user| user.class.as_str()).collect();
    for class in classes {
        let of_class: Vec<&User> = users.iter().filter(|user| user.class == class).collect();
        give(harvest, class, &of_class);
    }
}

/// Every pool with its class: those of older versions with their settings, those of the version that is served now without.
fn users(harvest: &mut Harvest) -> Vec<User> {
    let mut users = Vec::new();
    for PoolKubelet {
        pool,
        class,
        mut settings,
        field,
    } in std::mem::take(&mut harvest.kubelets)
    {
        let members = settings.as_object_mut();
        if let Some(runtime) = members.and_then(|members| members.remove("containerRuntime")) {
            let text = format!("{field}.containerRuntime ({runtime}) is gone: nodes have containerd");
            remark(harvest, &pool, &text);
        }
        users.push(User {
            pool,
            class,
            settings: Some(settings).filter(says_something).unwrap_or_default(),
        });
    }
    let known: BTreeSet<String> = users.iter().map(|user| user.pool.clone()).collect();
    let others = harvest.pieces.iter().filter(|piece| piece.kind() == "NodePool");
    users.extend(
        others
            .filter(|piece| !known.contains(piece.name()))
            .map(|piece| User {
                pool: piece.name().to_owned(),
                class: class_of(piece).unwrap_or_default().to_owned(),
                settings: Json::Null,
            }),
    );
    users
}

/// The name of a pool's class; none where it is another kind of class.
fn class_of(pool: &Piece) -> Option<&str> {
    let reference = &pool.manifest["spec"]["template"]["spec"]["nodeClassRef"];
    match reference["kind"].as_str() {
        None | Some("EC2NodeClass") => reference["name"].as_str(),
        Some(_) => None,
    }
}

fn give(harvest: &mut Harvest, class: &str, users: &[&User]) {
    if users.iter().all(|user| user.settings.is_null()) {
        return;
    }
    let Some(original) = find(harvest, "EC2NodeClass", class).cloned() else {
        for User { pool, settings, .. } in users.iter().filter(|user| !user.settings.is_null()) {
            let text = format!(
                "its kubelet settings belong to the class now: add kubelet {settings} to EC2NodeClass {class}, which is not among what was read"
            );
            remark(harvest, pool, &text);
        }
        return;
    };
    let own = original.manifest["spec"]["kubelet"].clone();
    let own = Some(own).filter(says_something).unwrap_or_default();
    let mut distinct: Vec<Json> = Vec::new();
    for settings in users.iter().map(|user| user.wanted(&own)) {
        if !distinct.contains(&settings) {
            distinct.push(settings);
        }
    }
    // The class stays as it is where it says something itself, or where a pool of it says nothing.
    let kept = match distinct.contains(&own) || says_something(&own) {
        true => own.clone(),
        false => distinct.first().cloned().unwrap_or_default(),
    };
    if kept != own
        && let Some(piece) = find_mut(harvest, "EC2NodeClass", class)
    {
        put(&mut piece.manifest["spec"], "kubelet", Some(kept.clone()));
    }
    for settings in distinct.into_iter().filter(|settings| *settings != kept) {
        let pools: Vec<&str> = users
            .iter()
            .filter(|user| user.wanted(&own) == settings)
            .map(|user| user.pool.as_str())
            .collect();
        copy(harvest, &original, &settings, &pools);
    }
}

/// Adds a copy of a class with these settings, and lets the pools refer to it.
fn copy(harvest: &mut Harvest, original: &Piece, settings: &Json, pools: &[&str]) {
    let class = original.name();
    let name = free_name(
        harvest,
        &format!("{class}-{}", pools.first().copied().unwrap_or_default()),
    );
    let mut copy = original.clone();
    copy.manifest["metadata"]["name"] = json!(name);
    copy.exists = false;
    copy.remarks.push(format!(
        "a copy of EC2NodeClass {class} for the kubelet settings of NodePool {}, which belong to the class now and are not those of {class}",
        pools.join(" and ")
    ));
    put(&mut copy.manifest["spec"], "kubelet", Some(settings.clone()));
    harvest.pieces.push(copy);
    for pool in pools {
        if let Some(piece) = find_mut(harvest, "NodePool", pool) {
            piece.manifest["spec"]["template"]["spec"]["nodeClassRef"]["name"] = json!(name);
            piece.remarks.push(format!(
                "it refers to {name} instead of {class}, for its kubelet settings; its nodes will be replaced"
            ));
        }
    }
}

/// `name`, or it with a number where a class has it already.
fn free_name(harvest: &Harvest, name: &str) -> String {
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| find(harvest, "EC2NodeClass", name).is_none())
        .unwrap_or_else(|| name.to_owned())
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
    use super::*;

    /// Pools `p0`, `p1`, ... of the class `c`, which says `own`; those without settings are of the version that is served now.
    fn harvest(own: &Json, settings: &[Option<Json>]) -> Harvest {
        let class = json!({ "kind": "EC2NodeClass", "metadata": { "name": "c" }, "spec": { "role": "r", "kubelet": own } });
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
            harvest
                .kubelets
                .extend(settings.clone().map(|settings| PoolKubelet {
                    pool,
                    class: "c".to_owned(),
                    settings,
                    field: "spec.template.spec.kubelet",
                }));
        }
        settle(&mut harvest);
        harvest
    }

    /// The classes with their settings and whether they exist.
    fn classes(harvest: &Harvest) -> Vec<(&str, &Json, bool)> {
        let classes = harvest
            .pieces
            .iter()
            .filter(|piece| piece.kind() == "EC2NodeClass");
        classes
            .map(|piece| (piece.name(), &piece.manifest["spec"]["kubelet"], piece.exists))
            .collect()
    }

    fn class_of_pools<const N: usize>(harvest: &Harvest, pools: [&str; N]) -> [String; N] {
        pools.map(|pool| {
            let piece = find(harvest, "NodePool", pool).expect("a pool");
            class_of(piece).expect("a class").to_owned()
        })
    }

    #[test]
    fn settings_that_agree_go_to_the_class() {
        let same = json!({ "maxPods": 5, "containerRuntime": "dockerd" });
        let found = harvest(
            &Json::Null,
            &[Some(same.clone()), Some(json!({ "maxPods": 5 })), Some(same)],
        );
        assert_eq!(classes(&found), [("c", &json!({ "maxPods": 5 }), true)]);
        let said = &found.pieces[1].remarks[0];
        assert!(
            said.contains("spec.template.spec.kubelet.containerRuntime (\"dockerd\") is gone"),
            "{said}"
        );
        let none = harvest(&Json::Null, &[Some(Json::Null)]);
        assert_eq!(classes(&none), [("c", &Json::Null, true)]);
    }

    #[test]
    fn settings_that_differ_get_a_class_each() {
        let found = harvest(
            &Json::Null,
            &[
                Some(json!({ "maxPods": 5 })),
                Some(Json::Null),
                Some(json!({ "maxPods": 9 })),
                Some(json!({ "maxPods": 9 })),
            ],
        );
        assert_eq!(
            classes(&found),
            [
                ("c", &Json::Null, true),
                ("c-p0", &json!({ "maxPods": 5 }), false),
                ("c-p2", &json!({ "maxPods": 9 }), false),
            ]
        );
        assert_eq!(
            class_of_pools(&found, ["p0", "p1", "p2", "p3"]),
            ["c-p0", "c", "c-p2", "c-p2"]
        );
    }

    #[test]
    fn a_pool_of_the_version_that_is_served_keeps_its_class_as_it_is() {
        let found = harvest(&Json::Null, &[None, Some(json!({ "maxPods": 5 }))]);
        assert_eq!(
            classes(&found),
            [
                ("c", &Json::Null, true),
                ("c-p1", &json!({ "maxPods": 5 }), false)
            ]
        );
        assert_eq!(class_of_pools(&found, ["p0", "p1"]), ["c", "c-p1"]);
        let said = found.pieces[2].remarks.join("\n");
        assert!(said.contains("refers to c-p1 instead of c"), "{said}");
    }

    #[test]
    fn what_a_class_says_itself_stays() {
        let own = json!({ "maxPods": 3 });
        // Even where no pool that was read has them: others may.
        let found = harvest(&own, &[Some(json!({ "maxPods": 5 }))]);
        assert_eq!(
            classes(&found),
            [("c", &own, true), ("c-p0", &json!({ "maxPods": 5 }), false)]
        );
        // A pool that says nothing, or the same, has them.
        let found = harvest(&own, &[Some(Json::Null), Some(own.clone()), None]);
        assert_eq!(classes(&found), [("c", &own, true)]);
        assert_eq!(class_of_pools(&found, ["p0", "p1", "p2"]), ["c", "c", "c"]);
    }

    #[test]
    fn a_copy_has_a_name_of_its_own() {
        let mut found = harvest(&Json::Null, &[]);
        let taken = json!({ "kind": "EC2NodeClass", "metadata": { "name": "c-p" }, "spec": {} });
        found.pieces.push(Piece::new("EC2NodeClass c-p", taken));
        assert_eq!(
            (free_name(&found, "c-p"), free_name(&found, "c-q")),
            ("c-p-2".to_owned(), "c-q".to_owned())
        );
    }
}
