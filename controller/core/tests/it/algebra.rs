//! The laws of requirements.

use joiner_core::requirements::{Operator, Requirement, Requirements, Undefined};
use joiner_core::text::labels;
use proptest::prelude::*;

fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        prop_oneof![
            Just("a"),
            Just("b"),
            Just("1"),
            Just("2"),
            Just("5"),
            Just("9"),
            Just("-3")
        ],
        0..4,
    )
    .prop_map(|values| values.into_iter().map(str::to_owned).collect())
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let set = (prop_oneof![Just(Operator::In), Just(Operator::NotIn)], values());
    let bound = (
        prop_oneof![
            Just(Operator::Gt),
            Just(Operator::Lt),
            Just(Operator::Gte),
            Just(Operator::Lte)
        ],
        -4i64..11,
    );
    prop_oneof![
        set.prop_map(|(operator, values)| Requirement::new("k", operator, values).unwrap()),
        bound.prop_map(|(operator, bound)| Requirement::new("k", operator, [bound.to_string()]).unwrap()),
        Just(Requirement::exists("k")),
        Just(Requirement::does_not_exist("k")),
    ]
}

/// Requirements as they come about: intersections of a few.
fn compound() -> impl Strategy<Value = Requirement> {
    prop::collection::vec(requirement(), 1..4)
        .prop_map(|all| all.into_iter().reduce(|a, b| a.intersect(&b)).unwrap())
}

fn witnesses() -> Vec<Option<&'static str>> {
    vec![
        None,
        Some("a"),
        Some("b"),
        Some("c"),
        Some("1"),
        Some("2"),
        Some("5"),
        Some("9"),
        Some("-3"),
        Some("0"),
        Some("77"),
    ]
}

proptest! {
    #[test]
    fn an_intersection_allows_what_both_allow(a in compound(), b in compound()) {
        let both = a.intersect(&b);
        for value in witnesses() {
            prop_assert_eq!(both.allows(value), a.allows(value) && b.allows(value), "{} and {} at {:?}", a, b, value);
        }
    }

    #[test]
    fn intersection_commutes_and_repeats_harmlessly(a in compound(), b in compound(), c in compound()) {
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        prop_assert_eq!(a.intersect(&a), a.clone());
        prop_assert_eq!(a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
    }

    #[test]
    fn intersecting_means_that_the_intersection_is_possible(a in compound(), b in compound()) {
        prop_assert_eq!(a.intersects(&b), !a.intersect(&b).is_impossible(), "{} and {}", a, b);
        if witnesses().into_iter().any(|value| a.allows(value) && b.allows(value)) {
            prop_assert!(a.intersects(&b));
        }
    }

    #[test]
    fn implication_is_inclusion(a in compound(), b in compound()) {
        prop_assert!(a.intersect(&b).implies(&a));
        prop_assert!(a.implies(&a));
        if a.implies(&b) {
            for value in witnesses() {
                prop_assert!(!a.allows(value) || b.allows(value), "{} implies {} but not at {:?}", a, b, value);
            }
        }
    }

    #[test]
    fn written_terms_mean_the_same(a in compound()) {
        let terms = a.terms();
        let read = terms
            .into_iter()
            .map(|(operator, values)| Requirement::new("k", operator, values).unwrap())
            .reduce(|a, b| a.intersect(&b))
            .unwrap();
        for value in witnesses() {
            prop_assert_eq!(read.allows(value), a.allows(value), "{} read back as {}", a, read);
        }
    }

    #[test]
    fn labels_that_satisfy_are_compatible(all in prop::collection::vec(compound(), 0..3), value in prop::option::of("[ab159]")) {
        let wanted: Requirements = all.into_iter().collect();
        let own = labels(value.iter().map(|value| ("k", value.as_str())));
        let offered = Requirements::from_labels(&own);
        prop_assert_eq!(offered.is_compatible(&wanted, Undefined::Missing), wanted.allow_labels(&own));
        prop_assert_eq!(offered.conflict(&wanted, Undefined::Missing).is_none(), wanted.allow_labels(&own));
    }
}

#[test]
fn what_is_not_defined_depends_on_the_label() {
    let zone = "topology.kubernetes.io/zone";
    for (wanted, open, missing) in [
        (Requirement::is(zone, "a"), true, false),
        (Requirement::exists(zone), true, false),
        (Requirement::is_not_in(zone, ["a"]), true, true),
        (Requirement::does_not_exist(zone), true, true),
        (Requirement::is("team", "a"), false, false),
        (Requirement::exists("team"), false, false),
        (Requirement::is_not_in("team", ["a"]), true, true),
        (Requirement::does_not_exist("team"), true, true),
        (
            Requirement::is("karpenter.k8s.aws/instance-gpu-name", "t4"),
            true,
            false,
        ),
    ] {
        let wanted: Requirements = [wanted].into_iter().collect();
        let nothing = Requirements::new();
        assert_eq!(
            nothing.is_compatible(&wanted, Undefined::WellKnownOpen),
            open,
            "{wanted}"
        );
        assert_eq!(
            nothing.is_compatible(&wanted, Undefined::Missing),
            missing,
            "{wanted}"
        );
    }
}

#[test]
fn old_labels_are_read_as_new_ones() {
    for (old, new) in [
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        (
            "failure-domain.beta.kubernetes.io/zone",
            "topology.kubernetes.io/zone",
        ),
        ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"),
        (
            "beta.kubernetes.io/instance-type",
            "node.kubernetes.io/instance-type",
        ),
        ("team", "team"),
    ] {
        assert_eq!(&**Requirement::exists(old).key(), new);
    }
}

#[test]
fn requirements_print_as_they_are_written() {
    let many = ["a", "b", "c", "d", "e", "f", "g"];
    for (requirement, want) in [
        (Requirement::is_in("k", many), "k In [a, b, c, d, e and 2 more]"),
        (Requirement::is_not_in("k", ["b", "a"]), "k NotIn [a, b]"),
        (Requirement::exists("k"), "k Exists"),
        (Requirement::does_not_exist("k"), "k DoesNotExist"),
        (Requirement::new("k", Operator::Gt, ["3"]).unwrap(), "k Gt 3"),
        (
            Requirement::new("k", Operator::Gte, ["3"])
                .unwrap()
                .intersect(&Requirement::new("k", Operator::Lt, ["9"]).unwrap())
                .with_min_values(Some(2)),
            "k Gte 3 and Lt 9 (at least 2 values)",
        ),
        (
            // Each bound is that of the stricter one.
            Requirement::new("k", Operator::Gt, ["3"])
                .unwrap()
                .intersect(&Requirement::new("k", Operator::Gte, ["7"]).unwrap()),
            "k Gte 7",
        ),
        (Requirement::is_in("k", Vec::<&str>::new()), "k In []"),
    ] {
        assert_eq!(requirement.to_string(), want);
    }
}

#[test]
fn what_means_the_same_is_equal_however_it_is_written() {
    let bound = |operator, value| Requirement::new("k", operator, [value]).unwrap();
    assert_eq!(bound(Operator::Gt, "5"), bound(Operator::Gte, "6"));
    assert_eq!(bound(Operator::Lt, "5"), bound(Operator::Lte, "4"));
    let order = bound(Operator::Gt, "5").cmp(&bound(Operator::Gte, "6"));
    assert!(order.is_eq());
}

#[test]
fn comparisons_need_one_integer() {
    for (values, valid) in [
        (vec!["3"], true),
        (vec!["-3"], true),
        (vec![], false),
        (vec!["a"], false),
        (vec!["1", "2"], false),
    ] {
        assert_eq!(
            Requirement::parse("k", "Gt", values.clone()).is_ok(),
            valid,
            "{values:?}"
        );
    }
    let error = Requirement::parse("k", "Near", ["1"]).unwrap_err();
    insta::assert_snapshot!(error, @r#"requirement on "k": operator "Near" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte"#);
    assert!(
        Requirement::new("k", Operator::Gt, [i64::MAX.to_string()])
            .unwrap()
            .is_impossible()
    );
    assert!(
        Requirement::new("k", Operator::Lt, [i64::MIN.to_string()])
            .unwrap()
            .is_impossible()
    );
}
