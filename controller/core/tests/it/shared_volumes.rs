//! A driver attaches a volume to a node once, however many pods use it there.

use joiner_core::snapshot::{Attachment, Pod, VolumeNeed};
use joiner_core::text::Text;

use crate::world::{MI, World, bound, node, pod, pool, summary, types};

const DRIVER: &str = "ebs.csi.aws.com";

/// A pod with these volumes.
fn with_volumes(name: &str, volumes: &[&str]) -> Pod {
    let mut pod = pod(name, 100, 64 * MI);
    pod.placement.volumes = volumes
        .iter()
        .map(|volume| VolumeNeed {
            claim: (*volume).into(),
            alternatives: Vec::new(),
            attach: Some(Attachment {
                driver: DRIVER.into(),
                volume: Text::from(format!("default/{volume}")),
            }),
        })
        .collect();
    pod
}

/// A world whose nodes attach so many volumes.
fn world(limit: u32) -> World {
    let mut types = types();
    for it in &mut types {
        it.attach_limits.insert(DRIVER.into(), limit);
    }
    World::new().pool(pool("p"), types)
}

#[test]
fn volumes_are_counted_once_on_a_node() {
    for (name, limit, pods, want) in [
        ("one volume, many pods", 1, vec![vec!["a"]; 5], "p:m6g.mediumx5"),
        (
            "each its own",
            1,
            vec![vec!["a"], vec!["b"], vec!["c"]],
            "p:m6g.mediumx1 p:m6g.mediumx1 p:m6g.mediumx1",
        ),
        (
            "one together and one each",
            2,
            vec![vec!["s", "a"], vec!["s", "b"]],
            "p:m6g.mediumx1 p:m6g.mediumx1",
        ),
        (
            "one together and one each, room for all",
            3,
            vec![vec!["s", "a"], vec!["s", "b"]],
            "p:m6g.mediumx2",
        ),
        ("named twice in a pod", 1, vec![vec!["a", "a"]], "p:m6g.mediumx1"),
        ("too many in one pod", 1, vec![vec!["a", "b"]], "left 1"),
        (
            "too many that are shared",
            1,
            vec![vec!["a", "b"], vec!["a", "b"]],
            "left 2",
        ),
    ] {
        let pods = pods
            .iter()
            .enumerate()
            .map(|(index, volumes)| with_volumes(&format!("w-{index}"), volumes));
        let decided = world(limit).pods(pods).schedule();
        assert_eq!(summary(&decided), want, "{name}");
    }
}

#[test]
fn a_volume_that_is_there_needs_no_room() {
    let types = types();
    let it = types.iter().find(|it| &*it.name == "m5.xlarge").unwrap();
    let mut node = node("n", "p", it, "initialized");
    node.attach_limits.insert(DRIVER.into(), 1);
    node.pods.push(bound(with_volumes("there", &["a"])));
    let world = world(1).node(node).pods([
        with_volumes("same", &["a"]),
        with_volumes("same-too", &["a"]),
        with_volumes("other", &["b"]),
    ]);
    assert_eq!(summary(&world.schedule()), "p:m6g.mediumx1 node-n+2");
}
