//! Whole roll-outs, wave by wave.

use super::*;

fn wave_sizes(world: &World) -> Vec<usize> {
    let played = waves(&world.snapshot, &world.catalogue, now(), PACE);
    played.waves.iter().map(|wave| wave.roll.nodes.len()).collect()
}

#[test]
fn a_roll_out_goes_in_waves_of_the_budgets_size() {
    let nodes = |count: usize| (0..count).map(|index| drifted(&format!("n{index}"), 10, &[1500]));
    for (budgets, want) in [
        (vec![budget("1")], vec![1, 1, 1, 1, 1]),
        (vec![budget("2")], vec![2, 2, 1]),
        (vec![budget("50%")], vec![3, 2]),
        (vec![], vec![5]),
        (vec![budget("0")], vec![]),
    ] {
        let world = world(with_budgets(budgets.clone()), nodes(5));
        assert_eq!(wave_sizes(&world), want, "{budgets:?}");
    }
    let world = world(with_budgets(vec![budget("2")]), nodes(5));
    let played = waves(&world.snapshot, &world.catalogue, now(), PACE);
    assert_eq!(played.ends(), Some(now() + SignedDuration::from_secs(3 * 90)));
    assert!(played.left.is_empty());
    let pods: usize = played.after.nodes.iter().map(|node| node.pods.len()).sum();
    assert_eq!(pods, 5);
}

#[test]
fn a_roll_out_waits_for_its_hours() {
    // Nothing from noon, the time of the decision, until six.
    let closed = Budget {
        window: Some(BudgetWindow {
            schedule: "0 12 * * *".into(),
            duration: SignedDuration::from_hours(6),
        }),
        ..budget("0")
    };
    let mut at_noon = world(with_budgets(vec![closed]), [drifted("a", 10, &[100])]);
    let played = waves(
        &at_noon.snapshot,
        &at_noon.catalogue,
        now() + SignedDuration::from_secs(60),
        PACE,
    );
    let starts: Vec<String> = played.waves.iter().map(|wave| wave.starts.to_string()).collect();
    assert_eq!(starts, ["2026-11-30T18:00:00Z"]);
    let never = Pool {
        disruption: joiner_core::snapshot::Disruption {
            budgets: vec![budget("0")],
            ..pool("default").disruption
        },
        ..pool("default")
    };
    at_noon.snapshot.pools = vec![Arc::new(never)];
    let played = waves(&at_noon.snapshot, &at_noon.catalogue, now(), PACE);
    assert_eq!((played.waves.len(), played.left.len()), (0, 1));
}

#[test]
fn a_roll_out_says_what_never_goes() {
    let mut stuck = pod("stuck", 100_000, GI);
    stuck.owner = Owner::Controller;
    let mut first = drifted("a", 100, &[]);
    first.pods = vec![bound(stuck)];
    let world = world(with_budgets(vec![budget("1")]), [first, drifted("b", 10, &[100])]);
    let played = waves(&world.snapshot, &world.catalogue, now(), PACE);
    assert_eq!(played.waves.len(), 1);
    let left: BTreeMap<&str, String> = played
        .left
        .iter()
        .map(|it| (&*it.node, it.blocker.to_string()))
        .collect();
    assert!(
        left["node-a"].contains("pod default/stuck would find no place"),
        "{left:?}"
    );
}
