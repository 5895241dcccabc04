//! `joiner explain pod`: what is told, and that what would help is told first.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn explain(case: &str, arguments: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    Command::new(env!("CARGO_BIN_EXE_joiner"))
        .args(["explain", "pod"])
        .args(arguments)
        .arg(folder.join("cases").join(format!("{case}.yaml")))
        .arg(folder.join("catalog.yaml"))
        .output()
        .expect("joiner starts")
}

#[test]
fn what_would_help_was_tried_and_is_told() {
    for (case, pod, first) in [
        ("taint-not-tolerated", "a", "tolerate example.com/t=x:NoSchedule"),
        (
            "selector-other-value-of-pool",
            "a",
            "select example.com/team=x instead of y",
        ),
        ("resources-too-large", "a", "request cpu 15920m instead of 17"),
        ("pool-limit-cpu", "a", "raise the limit to cpu 2"),
        ("affinity-match-fields", "a", "do not require a node affinity"),
        (
            "affinity-to-nobody",
            "a",
            "do not require to be together by kubernetes.io/hostname",
        ),
    ] {
        let output = explain(case, &[pod, "-o", "json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["verdict"]["state"], "noPlace", "{case}: {answer}");
        let told = answer["advice"][0]["change"].as_str().unwrap_or_default();
        assert!(told.starts_with(first), "{case}: {told:?} instead of {first:?}");
        assert!(
            !answer["nodePools"][0]["constraints"]
                .as_array()
                .expect("constraints")
                .is_empty()
        );
    }
}

#[test]
fn where_a_pod_is_or_would_be_is_told() {
    for (case, pod, want) in [
        (
            "existing-node-takes-it",
            "a",
            "It fits on the node n1, which is there.",
        ),
        ("existing-node-full", "old", "It is on the node n1."),
        (
            "operator-in",
            "a",
            "A node of NodePool default would be bought for it",
        ),
        (
            "pod-gated",
            "default/a",
            "Nobody decides on it: it waits until its scheduling gates",
        ),
    ] {
        let output = explain(case, &[pod]);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains(want), "{case}: {told}");
    }
}

#[test]
fn a_pod_that_is_not_there_is_told_with_one_that_is() {
    let output = explain("existing-node-full", &["ol"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("was default/old meant?"), "{told}");
}
