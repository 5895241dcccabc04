//! What came of a case with a tool; kept in a file, so that the page can be written again without measuring again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, NewNode, Shop};
use crate::cases::{Case, Group};
use crate::measure::Cost;
use crate::tools::Tool;

/// One line of the results.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub case: String,
    pub group: Group,
    pub tool: Tool,
    /// Pods that waited.
    pub pods: usize,
    /// Nodes that were there.
    pub existing: usize,
    /// How often it ran.
    pub runs: usize,
    /// The decision alone: the median of the runs, the least and the most.
    pub solve_millis: [f64; 3],
    /// The whole command: the median of the runs.
    pub wall_millis: f64,
    /// Processor time: the median of the runs.
    pub cpu_millis: f64,
    /// The most memory of any run, in MiB.
    pub peak_mib: f64,
    /// Nodes to buy.
    pub new_nodes: usize,
    /// What they cost, in dollars an hour.
    pub price: f64,
    /// What nothing can be cheaper than, where the tool says so.
    pub lower_bound: Option<f64>,
    /// Pods without a place.
    pub unplaced: usize,
    /// Spot nodes.
    pub spot_nodes: usize,
    /// Spot nodes with fewer than ten alternatives within 1.3 times their price.
    pub narrow_spot_nodes: usize,
    /// Those of them for which the catalogue has ten; none where it was not asked.
    #[serde(default)]
    pub needlessly_narrow: Option<usize>,
    /// What the checker holds against it; none where it was not asked.
    pub violations: Option<usize>,
    /// The first of those, in words.
    pub first_violation: Option<String>,
}

impl Outcome {
    /// From the runs of one tool on one case; `answer` is the last run's.
    pub fn new(
        case: &Case,
        tool: Tool,
        costs: &[Cost],
        solves: &[f64],
        answer: &Answer,
        shop: &Shop,
    ) -> Outcome {
        let spot = answer.new_nodes.iter().filter(|node| shop.is_spot(node));
        let column = |of: fn(&Cost) -> f64| costs.iter().map(of).collect::<Vec<_>>();
        Outcome {
            case: case.name.clone(),
            group: case.group,
            tool,
            pods: case.pods(),
            existing: case.nodes(),
            runs: costs.len(),
            solve_millis: [median(solves), least(solves), most(solves)],
            wall_millis: median(&column(|cost| cost.wall_millis)),
            cpu_millis: median(&column(|cost| cost.cpu_millis)),
            peak_mib: most(&column(|cost| cost.peak_mib)),
            new_nodes: answer.new_nodes.len(),
            price: shop.total(answer),
            lower_bound: answer.hourly_cost.lower_bound,
            unplaced: answer.unschedulable.len(),
            spot_nodes: spot.count(),
            narrow_spot_nodes: narrow(answer, shop).count(),
            needlessly_narrow: None,
            violations: None,
            first_violation: None,
        }
    }

    /// Pods decided on in a second of solving.
    pub fn pods_per_second(&self) -> f64 {
        count(self.pods) / (self.solve_millis[0].max(0.001) / 1000.0)
    }
}

/// A spot node has so many alternatives, or it is narrow.
const ALTERNATIVES: usize = 10;

/// Spot nodes with few alternatives, by their place in the answer.
fn narrow<'a>(answer: &'a Answer, shop: &'a Shop) -> impl Iterator<Item = (usize, &'a NewNode)> {
    let nodes = answer.new_nodes.iter().enumerate();
    nodes.filter(|(_, node)| shop.is_spot(node) && shop.alternatives(node) < ALTERNATIVES)
}

/// How many narrow nodes would have alternatives enough if they listed all types that could carry what they carry; `carriers`
/// are those of each node.
pub fn needlessly_narrow(answer: &Answer, shop: &Shop, carriers: &[Vec<String>]) -> usize {
    let enough = |(at, node): &(usize, &NewNode)| {
        carriers
            .get(*at)
            .is_some_and(|types| shop.alternatives_as(node, types) >= ALTERNATIVES)
    };
    narrow(answer, shop).filter(enough).count()
}

/// The middle one; the mean of the two in the middle of an even number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The sum by the number of values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len()).max(1.0)
}

/// The least.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0)
}

/// The most.
pub fn most(values: &[f64]) -> f64 {
    values.iter().copied().max_by(f64::total_cmp).unwrap_or(0.0)
}

/// A count as a number to calculate with.
pub fn count(value: usize) -> f64 {
    f64::from(u32::try_from(value).unwrap_or(u32::MAX))
}

/// Reads the results.
///
/// # Errors
/// When the file is not there or is not what [`write`] wrote.
pub fn read(file: &Path) -> Result<Vec<Outcome>> {
    let text = fs::read(file)
        .with_context(|| format!("cannot read {}: run the benchmarks first", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} does not hold results", file.display()))
}

/// Writes the results.
///
/// # Errors
/// When the file cannot be written.
pub fn write(file: &Path, outcomes: &[Outcome]) -> Result<()> {
    fs::write(file, serde_json::to_vec_pretty(outcomes)?)
        .with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{least, mean, median, most, needlessly_narrow};
    use crate::answer::{Answer, Shop};
    use crate::generate::{catalogue, offering};

    /// Twelve types on spot in one zone, each a little dearer than the one before: nine more are within 1.3 times the first's price.
    #[test]
    fn a_node_is_needlessly_narrow_where_enough_would_carry_its_load_for_little_more() {
        let name = |step: u32| format!("x{step}");
        let kind = |step: u32| {
            let price = 1.0 + 0.033 * f64::from(step);
            json!({"name": name(step), "offerings": [offering("a", "spot", price), offering("a", "on-demand", 3.0)]})
        };
        let shop = Shop::new(&catalogue(&[], (0..12).map(kind).collect()));
        let names = |steps: std::ops::Range<u32>| steps.map(name).collect::<Vec<_>>();
        for (listed, carriers, want) in [
            (0..3, 0..12, 1),
            // The last is too dear to be the tenth.
            (1..3, 0..9, 0),
            (0..3, 0..9, 0),
            // It lists enough itself.
            (0..10, 0..12, 0),
        ] {
            let answer = json!({"newNodes": [{"instanceTypes": names(listed.clone())}]});
            let answer: Answer = serde_json::from_value(answer).unwrap();
            let found = needlessly_narrow(&answer, &shop, &[names(carriers.clone())]);
            assert_eq!(found, want, "{listed:?} of {carriers:?}");
        }
    }

    #[test]
    fn middles() {
        for (values, middle, average) in [
            (vec![], 0.0, 0.0),
            (vec![3.0], 3.0, 3.0),
            (vec![9.0, 1.0], 5.0, 5.0),
            (vec![5.0, 1.0, 3.0], 3.0, 3.0),
        ] {
            assert_eq!((median(&values), mean(&values)), (middle, average), "{values:?}");
        }
        assert_eq!((least(&[2.0, 1.0]), most(&[2.0, 1.0])), (1.0, 2.0));
    }
}
