//! Rows of gauges, grouped by metric as the exposition wants them.

use std::collections::BTreeMap;
use std::fmt;

use joiner_core::resources::ResourceName;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;

use super::super::{Labels, constant};

/// Values by metric.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<&'static str, Metric>);

#[derive(Debug)]
struct Metric {
    help: &'static str,
    values: Vec<(Labels, f64)>,
}

impl Rows {
    pub(super) fn add(&mut self, name: &'static str, help: &'static str, labels: Labels, value: f64) {
        let metric = self.0.entry(name).or_insert_with(|| Metric {
            help,
            values: Vec::new(),
        });
        metric.values.push((labels, value));
    }

    pub(super) fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error> {
        for (name, Metric { help, values }) in &self.0 {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, value) in values {
                constant(*value).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// `ephemeral-storage` as a label's value: `ephemeral_storage`.
pub(super) fn resource_label(name: &ResourceName) -> String {
    name.as_str().to_lowercase().replace('-', "_")
}

/// An amount in the unit dashboards expect: cores, bytes, pieces.
pub(super) fn amount(name: &ResourceName, value: i64) -> f64 {
    match name {
        ResourceName::Cpu => value as f64 / 1000.0,
        _ => value as f64,
    }
}
