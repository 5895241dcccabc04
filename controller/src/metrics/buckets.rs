//! Upper bounds of histograms, in seconds. Karpenter's, as dashboards compute quantiles from them.

use prometheus_client::metrics::histogram::Histogram;

const DURATION: [f64; 45] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0, 120.0, 150.0, 300.0, 450.0, 600.0,
];

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

const LIFETIME: [f64; 16] = [
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    4.0 * HOUR,
    6.0 * HOUR,
    8.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    3.0 * DAY,
    5.0 * DAY,
    7.0 * DAY,
    10.0 * DAY,
    15.0 * DAY,
    30.0 * DAY,
];

/// For what takes milliseconds to minutes.
pub(super) fn duration_histogram() -> Histogram {
    Histogram::new(DURATION)
}

/// For the lives of nodes.
pub(super) fn lifetime_histogram() -> Histogram {
    Histogram::new(LIFETIME)
}
