//! The Prometheus summary that the metrics library does not have: quantiles over the last observations.
//!
//! Two metrics of Karpenter are summaries, and its dashboard queries them by `quantile`. A ring of the last observations is
//! exact and small; the Go library's decaying sketch answers the same question approximately.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};

/// Observations kept for each set of labels.
const WINDOW: usize = 1024;
const QUANTILES: [(f64, &str); 5] = [(0.0, "0"), (0.5, "0.5"), (0.9, "0.9"), (0.99, "0.99"), (1.0, "1")];

/// One summary metric, for any number of label sets.
#[derive(Debug, Default)]
pub(super) struct Summary {
    series: BTreeMap<Vec<(String, String)>, Series>,
}

#[derive(Debug, Default)]
struct Series {
    last: VecDeque<f64>,
    sum: f64,
    count: u64,
}

impl Summary {
    pub(super) fn observe(&mut self, labels: &[(&str, &str)], value: f64) {
        let key = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let series = self.series.entry(key).or_default();
        if series.last.len() == WINDOW {
            series.last.pop_front();
        }
        series.last.push_back(value);
        series.sum += value;
        series.count += 1;
    }

    /// Appends the exposition; nothing where nothing was observed.
    pub(super) fn write(&self, text: &mut String, name: &str, help: &str) -> fmt::Result {
        if self.series.is_empty() {
            return Ok(());
        }
        writeln!(text, "# HELP {name} {help}.\n# TYPE {name} summary")?;
        for (labels, series) in &self.series {
            let mut sorted: Vec<f64> = series.last.iter().copied().collect();
            sorted.sort_by(f64::total_cmp);
            let own = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
                .collect::<Vec<_>>();
            for (quantile, written) in QUANTILES {
                let mut all = own.clone();
                all.push(format!("quantile=\"{written}\""));
                writeln!(text, "{name}{{{}}} {}", all.join(","), at(&sorted, quantile))?;
            }
            let braces = if own.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", own.join(","))
            };
            writeln!(
                text,
                "{name}_sum{braces} {}\n{name}_count{braces} {}",
                series.sum, series.count
            )?;
        }
        Ok(())
    }
}

/// The value at a quantile by the nearest-rank rule.
fn at(sorted: &[f64], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_sum_and_count() {
        let mut summary = Summary::default();
        for value in 1..=100 {
            summary.observe(&[("nodepool", "a\"b")], f64::from(value));
        }
        let mut text = String::new();
        summary.write(&mut text, "x_seconds", "Help").unwrap();
        assert_eq!(
            text,
            "# HELP x_seconds Help.\n# TYPE x_seconds summary\n\
             x_seconds{nodepool=\"a\\\"b\",quantile=\"0\"} 1\nx_seconds{nodepool=\"a\\\"b\",quantile=\"0.5\"} 50\n\
             x_seconds{nodepool=\"a\\\"b\",quantile=\"0.9\"} 90\nx_seconds{nodepool=\"a\\\"b\",quantile=\"0.99\"} 99\n\
             x_seconds{nodepool=\"a\\\"b\",quantile=\"1\"} 100\n\
             x_seconds_sum{nodepool=\"a\\\"b\"} 5050\nx_seconds_count{nodepool=\"a\\\"b\"} 100\n"
        );
    }

    #[test]
    fn only_the_window_is_kept_and_all_are_counted() {
        let mut summary = Summary::default();
        for value in 0..2000 {
            summary.observe(&[], f64::from(value));
        }
        let series = &summary.series[&vec![]];
        assert_eq!(
            (series.last.len(), series.count, series.last[0]),
            (WINDOW, 2000, 976.0)
        );
    }
}
