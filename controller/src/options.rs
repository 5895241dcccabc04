//! The command line and the environment. Flags, variables and defaults are Karpenter's (core and AWS provider v1.14), so
//! that its chart starts this binary when only the image is swapped.
//!
//! Output: [`Options`], complete and checked; nothing else in the controller reads the environment.

mod gates;
mod values;

pub(crate) use gates::FeatureGates;
pub(crate) use values::{DefaultConstraints, LogLevel, MinValuesPolicy, PreferencePolicy};

use std::net::IpAddr;
use std::time::Duration;

use clap::{ArgAction, Parser};

use values::{at_least_a_minute, boolish, default_constraints, duration, ratio};

/// Settings of one process.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "joiner-controller",
    version,
    about = "Gives pending pods nodes, and gives nodes back."
)]
pub(crate) struct Options {
    /// Name of the Kubernetes service in front of the controller; kept for charts that pass it, used for nothing.
    #[arg(long, env = "KARPENTER_SERVICE", default_value = "", hide = true)]
    pub karpenter_service: String,

    /// Address that the metrics and health servers listen on.
    #[arg(long, env = "BIND_ADDRESS", default_value = "0.0.0.0")]
    pub bind_address: IpAddr,

    /// Port of /metrics.
    #[arg(long, env = "METRICS_PORT", default_value_t = 8080)]
    pub metrics_port: u16,

    /// Port of /healthz and /readyz.
    #[arg(long, env = "HEALTH_PROBE_PORT", default_value_t = 8081)]
    pub health_probe_port: u16,

    /// Requests per second to the API server; accepted for compatibility, the API server's own fairness limits apply.
    #[arg(long, env = "KUBE_CLIENT_QPS", default_value_t = 200, hide = true)]
    pub kube_client_qps: u32,

    /// Burst of requests to the API server; accepted for compatibility.
    #[arg(long, env = "KUBE_CLIENT_BURST", default_value_t = 300, hide = true)]
    pub kube_client_burst: u32,

    /// Go profiles on the metrics port; accepted for compatibility, there are none.
    #[arg(long, env = "ENABLE_PROFILING", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", hide = true)]
    pub enable_profiling: bool,

    /// Whether waiting replicas keep their caches cold; accepted for compatibility, they are always warm.
    #[arg(long, env = "DISABLE_CONTROLLER_WARMUP", default_value = "true", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", hide = true)]
    pub disable_controller_warmup: bool,

    /// Act without holding the lease. Only for a single replica.
    #[arg(long, env = "DISABLE_LEADER_ELECTION", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub disable_leader_election: bool,

    /// Name of the lease. Karpenter's own, so that the two never act at once.
    #[arg(
        long,
        env = "LEADER_ELECTION_NAME",
        default_value = "karpenter-leader-election"
    )]
    pub leader_election_name: String,

    /// Namespace of the lease; empty: the namespace of the pod.
    #[arg(long, env = "LEADER_ELECTION_NAMESPACE", default_value = "")]
    pub leader_election_namespace: String,

    /// Namespace of the pod.
    #[arg(long, env = "SYSTEM_NAMESPACE", default_value = "")]
    pub system_namespace: String,

    /// Name of the pod; part of the identity in the lease.
    #[arg(long, env = "POD_NAME", default_value = "")]
    pub pod_name: String,

    /// UID of the pod; with it a restarted container takes its own lease up again at once.
    #[arg(long, env = "POD_UID", default_value = "")]
    pub pod_uid: String,

    /// No metrics and status about single pods, nodes and pools.
    #[arg(long, env = "DISABLE_CLUSTER_STATE_OBSERVABILITY", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub disable_cluster_state_observability: bool,

    /// Memory limit of the container in bytes; accepted for compatibility, there is no garbage collector to tune.
    #[arg(long, env = "MEMORY_LIMIT", default_value_t = -1, allow_negative_numbers = true, hide = true)]
    pub memory_limit: i64,

    /// CPU requests of the container in millicores; accepted for compatibility.
    #[arg(long, env = "CPU_REQUESTS", default_value_t = 1000, hide = true)]
    pub cpu_requests: i64,

    /// Least severe level that is logged.
    #[arg(long, env = "LOG_LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// Comma-separated destinations of the log: stdout, stderr or file paths.
    #[arg(
        long,
        env = "LOG_OUTPUT_PATHS",
        default_value = "stdout",
        value_delimiter = ','
    )]
    pub log_output_paths: Vec<String>,

    /// Destinations of the logger's own errors; accepted for compatibility.
    #[arg(
        long,
        env = "LOG_ERROR_OUTPUT_PATHS",
        default_value = "stderr",
        value_delimiter = ',',
        hide = true
    )]
    pub log_error_output_paths: Vec<String>,

    /// Longest time pods are collected before they are scheduled together.
    #[arg(long, env = "BATCH_MAX_DURATION", default_value = "10s", value_parser = duration)]
    pub batch_max_duration: Duration,

    /// Longest wait for the next pod of a batch; a batch that has stopped growing is closed earlier.
    #[arg(long, env = "BATCH_IDLE_DURATION", default_value = "1s", value_parser = duration)]
    pub batch_idle_duration: Duration,

    /// What pods' preferences mean.
    #[arg(long, env = "PREFERENCE_POLICY", default_value = "Respect")]
    pub preference_policy: PreferencePolicy,

    /// What minValues mean when they cannot be met.
    #[arg(long, env = "MIN_VALUES_POLICY", default_value = "Strict")]
    pub min_values_policy: MinValuesPolicy,

    /// Spread constraints of pods that have none, as JSON: what the cluster's scheduler has as `defaultConstraints`, where that is
    /// not its own default. Empty: none.
    #[arg(long, env = "DEFAULT_SPREAD_CONSTRAINTS", default_value = "", value_parser = default_constraints)]
    pub default_spread: DefaultConstraints,

    /// Whether requests for dynamic resources are ignored.
    #[arg(long, env = "IGNORE_DRA_REQUESTS", default_value = "true", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub ignore_dra_requests: bool,

    /// Optional features, `Name=true` or `Name=false`, separated by commas.
    #[arg(long, env = "FEATURE_GATES", default_value = "")]
    pub feature_gates: FeatureGates,

    /// CA bundle (base64) that new nodes trust for the API server; empty: the controller's own.
    #[arg(long, env = "CLUSTER_CA_BUNDLE", default_value = "")]
    pub cluster_ca_bundle: String,

    /// Name of the cluster that nodes join.
    #[arg(long, env = "CLUSTER_NAME")]
    pub cluster_name: String,

    /// Endpoint that nodes use for the API server; empty: EKS is asked.
    #[arg(long, env = "CLUSTER_ENDPOINT", default_value = "")]
    pub cluster_endpoint: String,

    /// Whether AWS services without a VPC endpoint are out of reach.
    #[arg(long, env = "ISOLATED_VPC", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub isolated_vpc: bool,

    /// Whether cluster details come from EKS DescribeCluster.
    #[arg(long, env = "EKS_CONTROL_PLANE", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub eks_control_plane: bool,

    /// Share of an instance's memory that the hypervisor and the operating system keep, in ten-thousandths (0.075 = 750).
    #[arg(long, env = "VM_MEMORY_OVERHEAD_PERCENT", default_value = "0.075", value_parser = ratio)]
    pub vm_memory_overhead_percent: u32,

    /// SQS queue with interruption messages; empty: none.
    #[arg(long, env = "INTERRUPTION_QUEUE", default_value = "")]
    pub interruption_queue: String,

    /// Network interfaces that are not counted for pods.
    #[arg(long, env = "RESERVED_ENIS", default_value_t = 0)]
    pub reserved_enis: u32,

    /// Whether EC2NodeClasses are taken without a dry run of their launch.
    #[arg(long, env = "DISABLE_DRY_RUN", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub disable_dry_run: bool,

    /// Whether zonal shifts are respected.
    #[arg(long, env = "ENABLE_ZONAL_SHIFT", default_value = "false", value_parser = boolish, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub enable_zonal_shift: bool,

    /// How often images are looked up; at least 1m.
    #[arg(long, env = "AMI_REFRESH_INTERVAL", default_value = "1m", value_parser = at_least_a_minute)]
    pub ami_refresh_interval: Duration,

    /// How often subnets are looked up; at least 1m.
    #[arg(long, env = "SUBNET_REFRESH_INTERVAL", default_value = "1m", value_parser = at_least_a_minute)]
    pub subnet_refresh_interval: Duration,

    /// Optional features of the AWS part.
    #[arg(long, env = "AWS_FEATURE_GATES", default_value = "", hide = true)]
    pub aws_feature_gates: String,
}

#[cfg(test)]
mod tests;
