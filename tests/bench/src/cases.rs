//! What `make bench` measures.

use serde::{Deserialize, Serialize};

use crate::generate::realistic::{Buying, Plan};
use crate::generate::{Set, realistic, upstream};

/// Which question a case answers; a section of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Karpenter's own benchmark, by size.
    Upstream,
    /// Its variant with preferences, kept or ignored.
    Preferences,
    /// Realistic clusters that may buy spot.
    Spot,
    /// Realistic clusters that buy on demand only.
    OnDemand,
    /// Realistic clusters, by the number of nodes that are there.
    Existing,
    /// Realistic clusters, by size.
    Large,
}

/// What a tool does with preferences of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Preferences {
    Respect,
    Ignore,
}

impl Preferences {
    /// As both command lines spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Preferences::Respect => "respect",
            Preferences::Ignore => "ignore",
        }
    }
}

/// Where a case's objects come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// [`upstream::diverse`].
    Diverse(usize),
    /// [`upstream::preferences`].
    Preferring(usize),
    /// [`realistic::cluster`].
    Cluster(Plan),
}

/// One snapshot, answered by every tool.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique; the files are called by it.
    pub name: String,
    /// Its section.
    pub group: Group,
    /// Its objects.
    pub source: Source,
    /// How preferences are taken.
    pub preferences: Preferences,
    /// How often the peer runs; its largest cases take minutes.
    pub peer_runs: usize,
    /// How often ours runs.
    pub our_runs: usize,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// A minute or two: small sizes, one run each.
    Quick,
    /// What docs/benchmarks.md holds.
    Full,
}

impl Case {
    /// The objects and the catalogue.
    pub fn set(&self) -> Set {
        const SEED: u64 = 42;
        match self.source {
            Source::Diverse(count) => upstream::diverse(count, SEED),
            Source::Preferring(count) => upstream::preferences(count, SEED),
            Source::Cluster(plan) => realistic::cluster(plan),
        }
    }

    /// Pods that wait.
    pub fn pods(&self) -> usize {
        match self.source {
            Source::Diverse(count) | Source::Preferring(count) => count,
            Source::Cluster(plan) => plan.pods,
        }
    }

    /// Nodes that are there.
    pub fn nodes(&self) -> usize {
        match self.source {
            Source::Cluster(plan) => plan.nodes,
            Source::Diverse(_) | Source::Preferring(_) => 0,
        }
    }
}

/// Every case of a scale.
pub fn all(scale: Scale) -> Vec<Case> {
    let full = scale == Scale::Full;
    let keep = |size: &&usize| full || **size <= 1000;
    let mut cases = Vec::new();
    for size in [100, 500, 1000, 2000, 5000, 10_000, 20_000].iter().filter(keep) {
        cases.push(case(
            Group::Upstream,
            format!("upstream-{size}"),
            Source::Diverse(*size),
            full,
        ));
    }
    for preferences in [Preferences::Respect, Preferences::Ignore] {
        let size = if full { 4000 } else { 400 };
        let name = format!("preferences-{}-{size}", preferences.as_str());
        let mut made = case(Group::Preferences, name, Source::Preferring(size), full);
        made.preferences = preferences;
        cases.push(made);
    }
    let seeds = if full { 8 } else { 2 };
    for (group, buying) in [(Group::Spot, Buying::Spot), (Group::OnDemand, Buying::OnDemand)] {
        for seed in 1..=seeds {
            let pods = [1000, 2000, 3000, 5000][usize::try_from(seed).unwrap_or(0) % 4];
            let pods = if full { pods } else { 500 };
            cases.push(cluster(group, pods, 0, buying, seed, full));
        }
    }
    for nodes in [0, 200, 2000].iter().filter(keep) {
        let pods = if full { 2000 } else { 200 };
        cases.push(cluster(Group::Existing, pods, *nodes, Buying::Spot, 21, full));
    }
    for size in [2000, 5000, 10_000, 20_000].iter().filter(|_| full) {
        cases.push(cluster(Group::Large, *size, 100, Buying::Spot, 31, full));
    }
    cases
}

fn cluster(group: Group, pods: usize, nodes: usize, buying: Buying, seed: u64, full: bool) -> Case {
    let words = match buying {
        Buying::Spot => "spot",
        Buying::OnDemand => "on-demand",
    };
    let name = format!("cluster-{words}-{pods}-pods-{nodes}-nodes-seed-{seed}");
    let plan = Plan {
        pods,
        nodes,
        buying,
        seed,
    };
    case(group, name, Source::Cluster(plan), full)
}

fn case(group: Group, name: String, source: Source, full: bool) -> Case {
    let mut made = Case {
        name,
        group,
        source,
        preferences: Preferences::Respect,
        peer_runs: 1,
        our_runs: if full { 5 } else { 2 },
    };
    if full {
        made.peer_runs = match made.pods() {
            0..=2000 => 3,
            2001..=5000 => 2,
            _ => 1,
        };
    }
    made
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Scale, all};

    #[test]
    fn names_are_unique() {
        for scale in [Scale::Quick, Scale::Full] {
            let cases = all(scale);
            let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            assert_eq!(names.len(), cases.len(), "{scale:?}");
        }
    }
}
