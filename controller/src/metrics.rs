//! Prometheus metrics with Karpenter's names, labels and buckets.
//!
//! Counters and histograms are written where something happens; gauges about the cluster are computed from the index when
//! they are scraped ([`state`]), so they cost nothing between scrapes and are never stale.

mod buckets;
mod state;
mod summary;

pub(crate) use state::State;

use std::sync::Mutex;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use buckets::duration_histogram;
use summary::Summary;

use crate::logs::COMMIT;

/// Names and values of labels, in the order in which they are written.
pub(crate) type Labels = Vec<(&'static str, String)>;

type Counters = Family<Labels, Counter>;
type Gauges = Family<Labels, Gauge>;
type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// Every metric that is written by events.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    nodeclaims_created: Counters,
    nodeclaims_terminated: Counters,
    nodeclaims_disrupted: Counters,
    nodeclaims_termination: Histograms,
    nodeclaims_instance_termination: Histograms,
    nodes_created: Counters,
    nodes_terminated: Counters,
    nodes_drained: Counters,
    nodes_lifetime: Histograms,
    nodes_termination: Mutex<Summary>,
    pods_startup: Mutex<Summary>,
    pods_decision: Histogram,
    pods_drained: Counters,
    pods_eviction_requests: Counters,
    scheduling: Histograms,
    queue_depth: Gauges,
    unschedulable: Gauges,
    ignored_pods: Gauge,
    disruption_evaluation: Histograms,
    disruption_decisions: Counters,
    disruption_failures: Counters,
    disruption_eligible: Gauges,
    cloud_duration: Histograms,
    cloud_errors: Counters,
    launch_failures: Counters,
    launch_stage: Histograms,
    violations: Counter,
}

impl Metrics {
    /// All metrics; `state` computes the gauges about the cluster at each scrape.
    pub(crate) fn new(state: Box<dyn Collector>) -> Self {
        let mut root = Registry::default();
        let registry = root.sub_registry_with_prefix("karpenter");
        let build: Labels = vec![
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("goversion", "rust".to_owned()),
            ("goarch", std::env::consts::ARCH.to_owned()),
            ("commit", COMMIT.to_owned()),
        ];
        let info = Family::<Labels, Gauge>::default();
        info.get_or_create(&build).set(1);
        registry.register(
            "build_info",
            "A metric with a constant '1' value labeled by version and commit",
            info,
        );

        let metrics = Metrics {
            nodeclaims_created: counters(
                registry,
                "nodeclaims_created",
                "Number of nodeclaims created in total",
            ),
            nodeclaims_terminated: counters(
                registry,
                "nodeclaims_terminated",
                "Number of nodeclaims terminated in total",
            ),
            nodeclaims_disrupted: counters(
                registry,
                "nodeclaims_disrupted",
                "Number of nodeclaims disrupted in total",
            ),
            nodeclaims_termination: histograms(
                registry,
                "nodeclaims_termination_duration_seconds",
                "Duration of nodeclaim termination in seconds",
            ),
            nodeclaims_instance_termination: histograms(
                registry,
                "nodeclaims_instance_termination_duration_seconds",
                "Duration of instance termination in seconds",
            ),
            nodes_created: counters(registry, "nodes_created", "Number of nodes created in total"),
            nodes_terminated: counters(
                registry,
                "nodes_terminated",
                "Number of nodes terminated in total",
            ),
            nodes_drained: counters(registry, "nodes_drained", "Number of nodes drained in total"),
            nodes_lifetime: lifetimes(registry),
            nodes_termination: Mutex::default(),
            pods_startup: Mutex::default(),
            pods_decision: registered(
                registry,
                "pods_scheduling_decision_duration_seconds",
                "Seconds from seeing a pending pod to the decision about it",
                duration_histogram(),
            ),
            pods_drained: counters(registry, "pods_drained", "Number of pods drained in total"),
            pods_eviction_requests: counters(
                registry,
                "pods_eviction_requests",
                "Number of eviction requests by status code of the answer",
            ),
            scheduling: histograms(
                registry,
                "scheduler_scheduling_duration_seconds",
                "Duration of scheduling decisions in seconds",
            ),
            queue_depth: gauges(
                registry,
                "scheduler_queue_depth",
                "Number of pods in the batch being scheduled",
            ),
            unschedulable: gauges(
                registry,
                "scheduler_unschedulable_pods_count",
                "Number of pods that no pool can take",
            ),
            ignored_pods: registered(
                registry,
                "scheduler_ignored_pods_count",
                "Number of pods ignored in scheduling",
                Gauge::default(),
            ),
            disruption_evaluation: histograms(
                registry,
                "voluntary_disruption_decision_evaluation_duration_seconds",
                "Duration of the search for nodes to disrupt in seconds",
            ),
            disruption_decisions: counters(
                registry,
                "voluntary_disruption_decisions",
                "Number of disruption decisions in total",
            ),
            disruption_failures: counters(
                registry,
                "voluntary_disruption_queue_failures",
                "Number of disruptions that were decided on and not carried out",
            ),
            disruption_eligible: gauges(
                registry,
                "voluntary_disruption_eligible_nodes",
                "Number of nodes eligible for disruption, by reason",
            ),
            cloud_duration: histograms(
                registry,
                "cloudprovider_duration_seconds",
                "Duration of cloud provider calls in seconds",
            ),
            cloud_errors: counters(
                registry,
                "cloudprovider_errors",
                "Number of failed cloud provider calls",
            ),
            launch_failures: counters(
                registry,
                "cloudprovider_instance_launch_failures",
                "Number of offerings that could not be launched, by zone, capacity type and reason",
            ),
            launch_stage: Histograms::new_with_constructor(duration_histogram),
            violations: Counter::default(),
            registry: Registry::default(),
        };
        registry.register_collector(state);
        let ours = root.sub_registry_with_prefix("joiner");
        ours.register(
            "launch_stage_seconds",
            "Seconds a nodeclaim spent in each stage from the pending pod to the initialised node",
            metrics.launch_stage.clone(),
        );
        ours.register(
            "schedule_violations",
            "Decisions that the independent checker refused and that were not acted on",
            metrics.violations.clone(),
        );
        Metrics {
            registry: root,
            ..metrics
        }
    }

    /// The exposition, format 0.0.4.
    ///
    /// # Errors
    /// A metric cannot be written; a defect.
    pub(crate) fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        for (name, help, summary) in [
            (
                "karpenter_nodes_termination_duration_seconds",
                "The time from a node's deletion until its finalizer is removed",
                &self.nodes_termination,
            ),
            (
                "karpenter_pods_startup_duration_seconds",
                "The time from a pod's creation until it runs",
                &self.pods_startup,
            ),
        ] {
            if let Ok(summary) = summary.lock() {
                summary.write(&mut text, name, help)?;
            }
        }
        Ok(text)
    }

    pub(crate) fn nodeclaim_created(&self, pool: &str, reason: &str, min_values_relaxed: bool) {
        let relaxed = min_values_relaxed.to_string();
        self.nodeclaims_created
            .get_or_create(&vec![
                ("reason", reason.into()),
                ("nodepool", pool.into()),
                ("min_values_relaxed", relaxed),
            ])
            .inc();
    }

    pub(crate) fn nodeclaim_disrupted(&self, pool: &str, reason: &str, capacity_type: &str) {
        self.nodeclaims_disrupted
            .get_or_create(&vec![
                ("reason", reason.into()),
                ("nodepool", pool.into()),
                ("capacity_type", capacity_type.into()),
                ("consolidation_policy", String::new()),
                ("termination_mode", String::new()),
            ])
            .inc();
    }

    pub(crate) fn nodeclaim_terminated(&self, pool: &str, capacity_type: &str, zone: &str, took: Duration) {
        self.nodeclaims_terminated
            .get_or_create(&vec![
                ("nodepool", pool.into()),
                ("capacity_type", capacity_type.into()),
                ("zone", zone.into()),
            ])
            .inc();
        self.nodeclaims_termination
            .get_or_create(&vec![("nodepool", pool.into())])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn instance_terminated(&self, pool: &str, took: Duration) {
        self.nodeclaims_instance_termination
            .get_or_create(&vec![("nodepool", pool.into())])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn node_created(&self, pool: &str, zone: &str) {
        self.nodes_created
            .get_or_create(&vec![("nodepool", pool.into()), ("zone", zone.into())])
            .inc();
    }

    pub(crate) fn node_drained(&self, pool: &str) {
        self.nodes_drained
            .get_or_create(&vec![("nodepool", pool.into())])
            .inc();
    }

    /// A node is gone: how long it lived, and how long its end took.
    pub(crate) fn node_terminated(&self, pool: &str, zone: &str, lived: Duration, took: Duration) {
        self.nodes_terminated
            .get_or_create(&vec![("nodepool", pool.into()), ("zone", zone.into())])
            .inc();
        self.nodes_lifetime
            .get_or_create(&vec![("nodepool", pool.into())])
            .observe(lived.as_secs_f64());
        if let Ok(mut summary) = self.nodes_termination.lock() {
            summary.observe(&[("nodepool", pool)], took.as_secs_f64());
        }
    }

    pub(crate) fn pod_started(&self, took: Duration) {
        if let Ok(mut summary) = self.pods_startup.lock() {
            summary.observe(&[], took.as_secs_f64());
        }
    }

    pub(crate) fn pod_decided(&self, took: Duration) {
        self.pods_decision.observe(took.as_secs_f64());
    }

    pub(crate) fn pod_drained(&self, reason: &str) {
        self.pods_drained
            .get_or_create(&vec![("reason", reason.into())])
            .inc();
    }

    /// An eviction was answered with an HTTP status.
    pub(crate) fn eviction_requested(&self, code: u16) {
        self.pods_eviction_requests
            .get_or_create(&vec![("code", code.to_string())])
            .inc();
    }

    pub(crate) fn scheduled(&self, controller: &str, took: Duration) {
        self.scheduling
            .get_or_create(&vec![("controller", controller.into())])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn batch(&self, pods: usize, unschedulable: usize, ignored: usize) {
        let provisioner: Labels = vec![("controller", "provisioner".into())];
        self.queue_depth.get_or_create(&provisioner).set(clamp(pods));
        self.unschedulable
            .get_or_create(&provisioner)
            .set(clamp(unschedulable));
        self.ignored_pods.set(clamp(ignored));
    }

    /// How long it took to decide.
    pub(crate) fn disruption(&self, reason: &str, took: Duration) {
        self.disruption_evaluation
            .get_or_create(&vec![
                ("reason", reason.into()),
                ("consolidation_type", String::new()),
            ])
            .observe(took.as_secs_f64());
    }

    /// What was decided: `delete`, or `replace` where something is launched first.
    pub(crate) fn disruption_decided(&self, decision: &str, reason: &str, decisions: usize) {
        self.disruption_decisions
            .get_or_create(&of_disruption(decision, reason))
            .inc_by(decisions as u64);
    }

    /// A replacement was begun and given up.
    pub(crate) fn disruption_failed(&self, reason: &str) {
        self.disruption_failures
            .get_or_create(&of_disruption("replace", reason))
            .inc();
    }

    /// How many nodes could go for `reason`, budgets aside.
    pub(crate) fn eligible(&self, reason: &str, nodes: usize) {
        self.disruption_eligible
            .get_or_create(&vec![("reason", reason.into())])
            .set(clamp(nodes));
    }

    /// A call to the cloud, with the kind of error it gave, if any.
    pub(crate) fn cloud_call(&self, controller: &str, method: &str, took: Duration, error: Option<&str>) {
        let mut labels: Labels = vec![
            ("controller", controller.into()),
            ("method", method.into()),
            ("provider", "aws".into()),
        ];
        self.cloud_duration
            .get_or_create(&labels)
            .observe(took.as_secs_f64());
        if let Some(error) = error {
            labels.push(("error", error.into()));
            self.cloud_errors.get_or_create(&labels).inc();
        }
    }

    pub(crate) fn launch_failure(&self, zone: &str, zone_id: &str, capacity_type: &str, reason: &str) {
        self.launch_failures
            .get_or_create(&vec![
                ("zone", zone.into()),
                ("zone_id", zone_id.into()),
                ("capacity_type", capacity_type.into()),
                ("reason", reason.into()),
            ])
            .inc();
    }

    pub(crate) fn launch_stage(&self, stage: &str, seconds: f64) {
        self.launch_stage
            .get_or_create(&vec![("stage", stage.into())])
            .observe(seconds);
    }

    pub(crate) fn violation(&self) {
        self.violations.inc();
    }
}

/// A gauge that is known only at the scrape.
fn constant(value: f64) -> ConstGauge<f64> {
    ConstGauge::new(value)
}

fn counters(registry: &mut Registry, name: &str, help: &str) -> Counters {
    registered(registry, name, help, Counters::default())
}

fn gauges(registry: &mut Registry, name: &str, help: &str) -> Gauges {
    registered(registry, name, help, Gauges::default())
}

fn histograms(registry: &mut Registry, name: &str, help: &str) -> Histograms {
    registered(
        registry,
        name,
        help,
        Histograms::new_with_constructor(duration_histogram),
    )
}

fn lifetimes(registry: &mut Registry) -> Histograms {
    let family = Histograms::new_with_constructor(buckets::lifetime_histogram);
    registered(
        registry,
        "nodes_lifetime_duration_seconds",
        "The lifetime of nodes in seconds",
        family,
    )
}

fn registered<M: prometheus_client::registry::Metric + Clone>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    metric: M,
) -> M {
    registry.register(name, help, metric.clone());
    metric
}

fn of_disruption(decision: &str, reason: &str) -> Labels {
    vec![
        ("decision", decision.into()),
        ("reason", reason.into()),
        ("consolidation_type", String::new()),
    ]
}

fn clamp(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
