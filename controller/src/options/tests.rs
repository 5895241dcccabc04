use std::time::Duration;

use clap::Parser;

use super::values::{at_least_a_minute, boolish, default_constraints, duration, ratio};
use super::{FeatureGates, Options};

#[test]
fn defaults_are_karpenters() {
    let options = Options::parse_from(["joiner-controller", "--cluster-name", "demo"]);
    assert_eq!(options.metrics_port, 8080);
    assert_eq!(options.health_probe_port, 8081);
    assert_eq!(options.batch_max_duration, Duration::from_secs(10));
    assert_eq!(options.batch_idle_duration, Duration::from_secs(1));
    assert_eq!(options.leader_election_name, "karpenter-leader-election");
    assert_eq!(options.vm_memory_overhead_percent, 750);
    assert_eq!(options.feature_gates, FeatureGates::default());
    assert!(options.ignore_dra_requests && options.disable_controller_warmup);
    assert_eq!(options.log_output_paths, ["stdout"]);
}

#[test]
fn the_cluster_name_is_required() {
    // The variable is not set in tests.
    assert!(Options::try_parse_from(["joiner-controller"]).is_err());
}

#[test]
fn flags_without_a_value_mean_true() {
    let options = Options::parse_from([
        "joiner-controller",
        "--cluster-name=demo",
        "--isolated-vpc",
        "--ignore-dra-requests=false",
    ]);
    assert!(options.isolated_vpc);
    assert!(!options.ignore_dra_requests);
}

#[test]
fn gates() {
    let on = |text: &str| text.parse::<FeatureGates>();
    for (text, want) in [
        ("", Ok(FeatureGates::default())),
        (
            "NodeRepair=true, ReservedCapacity=false",
            Ok(FeatureGates {
                node_repair: true,
                reserved_capacity: false,
                ..Default::default()
            }),
        ),
        ("FromTheFuture=true", Ok(FeatureGates::default())),
        (
            "NodeRepair",
            Err(
                "feature gate \"NodeRepair\" has no value: write \"NodeRepair=true\" or \"NodeRepair=false\""
                    .to_owned(),
            ),
        ),
        (
            "NodeRepair=yes",
            Err("feature gate \"NodeRepair\" is \"yes\": it must be true or false".to_owned()),
        ),
    ] {
        assert_eq!(on(text), want, "{text}");
    }
}

#[test]
fn single_values() {
    for (text, want) in [
        ("0.075", Some(750)),
        ("1", Some(10_000)),
        (".5", Some(5_000)),
        ("0", Some(0)),
        ("1.1", None),
        ("x", None),
        ("-0.1", None),
        ("0.00001", None),
    ] {
        assert_eq!(ratio(text).ok(), want, "{text}");
    }
    for (text, want) in [
        ("10s", Some(10_000)),
        ("1m30s", Some(90_000)),
        ("200ms", Some(200)),
        ("-1s", None),
        ("soon", None),
    ] {
        assert_eq!(duration(text).ok().map(|d| d.as_millis()), want, "{text}");
    }
    for (text, want) in [("1m", true), ("59s", false)] {
        assert_eq!(at_least_a_minute(text).is_ok(), want, "{text}");
    }
    for (text, want) in [("true", Some(true)), ("0", Some(false)), ("yes", None)] {
        assert_eq!(boolish(text).ok(), want, "{text}");
    }
}

#[test]
fn spread_constraints_are_the_schedulers() {
    let one = r#"[{"maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]"#;
    for (text, want) in [
        ("", Ok(0)),
        ("[]", Ok(0)),
        (one, Ok(1)),
        (r#"[{"topologyKey": "x"}]"#, Err("maxSkew")),
        ("zone", Err("expected value")),
    ] {
        let got = default_constraints(text).map(|list| list.0.len());
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{text}"),
            (Err(got), Err(part)) => {
                assert!(got.contains(part) && got.contains("defaultConstraints"), "{got}")
            }
            (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
        }
    }
}
