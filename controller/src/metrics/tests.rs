use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use joiner_core::snapshot::Settings;

use super::*;
use crate::observe::{Index, Wanted};

/// Names and label sets are a contract with dashboards and alerts: this list changes only on purpose.
#[test]
fn names_and_labels_are_karpenters() {
    let index = Arc::new(Index::new(Settings::default(), Wanted::default()));
    let metrics = Metrics::new(Box::new(State::new(index, false)));
    let second = Duration::from_secs(1);
    metrics.nodeclaim_created("p", "provisioned", false);
    metrics.nodeclaim_disrupted("p", "empty", "spot");
    metrics.nodeclaim_terminated("p", "spot", "z", second);
    metrics.instance_terminated("p", second);
    metrics.node_created("p", "z");
    metrics.node_drained("p");
    metrics.node_terminated("p", "z", second, second);
    metrics.pod_started(second);
    metrics.pod_decided(second);
    metrics.pod_drained("");
    metrics.eviction_requested(429);
    metrics.scheduled("provisioner", second);
    metrics.batch(1, 0, 0);
    metrics.disruption("empty", second);
    metrics.disruption_decided("delete", "empty", 1);
    metrics.disruption_failed("drifted");
    metrics.eligible("drifted", 1);
    metrics.cloud_call("c", "Create", second, Some("e"));
    metrics.launch_failure("z", "id", "spot", "r");
    metrics.launch_stage("fleet", 1.0);
    metrics.violation();
    let text = metrics.render().unwrap();
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once(['{', ' ']).unwrap();
        let labels: Vec<&str> = match line.contains('{') {
            true => rest
                .split('}')
                .next()
                .unwrap_or_default()
                .split(',')
                .filter_map(|pair| Some(pair.split_once('=')?.0))
                .collect(),
            false => Vec::new(),
        };
        let name = name
            .trim_end_matches("_bucket")
            .trim_end_matches("_sum")
            .trim_end_matches("_count");
        let labels: Vec<&str> = labels
            .into_iter()
            .filter(|label| !["le", "quantile"].contains(label))
            .collect();
        found.insert(format!("{name} {}", labels.join(",")).trim_end().to_owned());
    }
    let want = "\
joiner_launch_stage_seconds stage
joiner_schedule_violations_total
karpenter_build_info version,goversion,goarch,commit
karpenter_cloudprovider_duration_seconds controller,method,provider
karpenter_cloudprovider_errors_total controller,method,provider,error
karpenter_cloudprovider_instance_launch_failures_total zone,zone_id,capacity_type,reason
karpenter_cluster_state_node
karpenter_cluster_state_synced
karpenter_nodeclaims_created_total reason,nodepool,min_values_relaxed
karpenter_nodeclaims_disrupted_total reason,nodepool,capacity_type,consolidation_policy,termination_mode
karpenter_nodeclaims_instance_termination_duration_seconds nodepool
karpenter_nodeclaims_terminated_total nodepool,capacity_type,zone
karpenter_nodeclaims_termination_duration_seconds nodepool
karpenter_nodes_created_total nodepool,zone
karpenter_nodes_drained_total nodepool
karpenter_nodes_lifetime_duration_seconds nodepool
karpenter_nodes_terminated_total nodepool,zone
karpenter_nodes_termination_duration_seconds nodepool
karpenter_pods_drained_total reason
karpenter_pods_eviction_requests_total code
karpenter_pods_scheduling_decision_duration_seconds
karpenter_pods_startup_duration_seconds
karpenter_scheduler_ignored_pods
karpenter_scheduler_queue_depth controller
karpenter_scheduler_scheduling_duration_seconds controller
karpenter_scheduler_unschedulable_pods controller
karpenter_voluntary_disruption_decision_evaluation_duration_seconds reason,consolidation_type
karpenter_voluntary_disruption_decisions_total decision,reason,consolidation_type
karpenter_voluntary_disruption_eligible_nodes reason
karpenter_voluntary_disruption_queue_failures_total decision,reason,consolidation_type";
    let got: Vec<String> = found.into_iter().collect();
    assert_eq!(got.join("\n"), want);
}
