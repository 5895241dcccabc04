//! The arguments; the doc comments are the help texts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use joiner_api::Quantity;
use joiner_core::resources::Resources;
use joiner_core::snapshot::{self, Gates, Guards, Settings};

use crate::arguments::{Output, duration};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl get pods,nodes,nodepools,ec2nodeclasses,nodeclaims,daemonsets,pvc,pv,storageclasses,csinodes,namespaces,pdb \\
    -A -o json | joiner simulate --region us-west-2
  joiner simulate cluster.yaml --pool-file cheaper-pool.yaml -o json
  joiner simulate cluster.json --without-node ip-10-0-1-5.us-west-2.compute.internal

Exit codes: 0 answered; 1 the input is wrong or types cannot be had; 2 wrong arguments; with --detailed-exitcode 3 where
pods are left without a node.")]
pub(crate) struct Simulate {
    /// YAML or JSON files with Kubernetes objects; - or none reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) decide: Decide,
    /// End with code 3 where pods are left without a node
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Let the independent checker look at the answer before it is printed
    #[arg(long, hide = true)]
    pub(crate) check: bool,
}

/// Where instance types come from, when no InstanceTypeCatalog is among the objects.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Source {
    /// Take instance types and prices of this region from the built-in catalogue
    #[arg(long, value_name = "REGION", conflicts_with = "from_account")]
    pub(crate) region: Option<String>,
    /// Take instance types and prices from the AWS account of the environment
    #[arg(long)]
    pub(crate) from_account: bool,
    /// The profile of the AWS configuration files, with --from-account
    #[arg(long, value_name = "NAME", requires = "from_account")]
    pub(crate) profile: Option<String>,
}

/// How to decide, and what to decide on.
#[derive(Debug, Clone, Args)]
pub(crate) struct Decide {
    /// How new nodes are chosen
    #[arg(long, value_enum, default_value_t = Strategy::Price)]
    pub(crate) strategy: Strategy,
    /// Whether pods' preferences are kept where possible
    #[arg(long, value_enum, default_value_t = Preferences::Respect)]
    pub(crate) preferences: Preferences,
    /// Whether a pool's minValues must be met or may be lowered
    #[arg(long, value_enum, default_value_t = MinValues::Strict)]
    pub(crate) min_values: MinValues,
    /// Add the NodePools of this file, in place of those of the same name
    #[arg(long, value_name = "FILE")]
    pub(crate) pool_file: Vec<PathBuf>,
    /// Decide as if this node were not there and its pods waited
    #[arg(long, value_name = "NAME")]
    pub(crate) without_node: Vec<String>,
    /// Tells equally good answers apart; the same seed gives the same answer
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The time to decide at, such as 2026-11-30T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<Timestamp>,
    /// How many steps the search for a cheaper answer may take
    #[arg(long, value_name = "STEPS", default_value_t = Settings::default().effort)]
    pub(crate) effort: u64,
    /// End the search for a cheaper answer after this time, 0 for never; an answer that was ended depends on the machine
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) budget: Duration,
    /// Put no more than this share of a workload's replicas on one new node, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) max_replica_share: Option<u32>,
    /// Buy no node larger than this, such as cpu=64,memory=256Gi
    #[arg(long, value_name = "RESOURCES", value_parser = resources)]
    pub(crate) largest_node: Option<Resources>,
    /// Decide on pods that claim devices dynamically, too
    #[arg(long)]
    pub(crate) dynamic_resources: bool,
}

/// How new nodes are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// As Karpenter does
    FirstFit,
    /// The cheapest set that can be found
    Price,
}

/// Whether preferences count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preferences {
    /// Keep them where possible
    Respect,
    /// Do not look at them
    Ignore,
}

/// Whether minValues may be lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MinValues {
    /// They must be met
    Strict,
    /// They may be lowered
    BestEffort,
}

impl Decide {
    /// The settings that change decisions.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            strategy: match self.strategy {
                Strategy::FirstFit => snapshot::Strategy::FirstFit,
                Strategy::Price => snapshot::Strategy::Price,
            },
            preference_policy: match self.preferences {
                Preferences::Respect => snapshot::PreferencePolicy::Respect,
                Preferences::Ignore => snapshot::PreferencePolicy::Ignore,
            },
            min_values_policy: match self.min_values {
                MinValues::Strict => snapshot::MinValuesPolicy::Strict,
                MinValues::BestEffort => snapshot::MinValuesPolicy::BestEffort,
            },
            seed: self.seed,
            effort: self.effort,
            bound: true,
            guards: Guards {
                max_replica_share: self.max_replica_share,
                largest_node: self.largest_node.clone(),
            },
            gates: Gates {
                dynamic_resources: self.dynamic_resources,
                ..Gates::default()
            },
            ..Settings::default()
        }
    }
}

/// Reads `cpu=64,memory=256Gi`: sizes of a node, each above zero.
fn resources(text: &str) -> Result<Resources, String> {
    let mut list: BTreeMap<String, Quantity> = BTreeMap::new();
    for part in text.split(',') {
        let (name, amount) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is no resource; write NAME=AMOUNT, such as cpu=64"))?;
        let (name, amount) = (name.trim(), amount.trim());
        // Which extended resources there are only the instance types can tell.
        let is_size = matches!(name, "cpu" | "memory" | "ephemeral-storage" | "pods") || name.contains('/');
        if !is_size {
            return Err(format!(
                "{name:?} is no resource of a node: expected cpu, memory, ephemeral-storage, pods, or an extended one such as nvidia.com/gpu"
            ));
        }
        let parsed: Quantity = amount.parse().map_err(|error| format!("{name}: {error}"))?;
        if parsed.nanos() <= 0 {
            return Err(format!("{name}: {amount} found, an amount above zero expected"));
        }
        if list.insert(name.to_owned(), parsed).is_some() {
            return Err(format!("{name} is there twice: a node has one size"));
        }
    }
    Ok(joiner_map::from_api(&list))
}

#[cfg(test)]
mod tests {
    use super::resources;

    #[test]
    fn resources_are_read() {
        assert_eq!(
            resources("cpu=64, memory=256Gi").unwrap().to_string(),
            "cpu 64, memory 256Gi"
        );
        assert!(resources("nvidia.com/gpu=1,cpu=500m").is_ok());
        for (bad, want) in [
            ("cpu", "write NAME=AMOUNT"),
            ("cpu=much", "cpu: "),
            ("", "write NAME=AMOUNT"),
            ("cpu=0", "cpu: 0 found, an amount above zero expected"),
            ("memory=-5Gi", "memory: -5Gi found, an amount above zero expected"),
            (
                "cpu=1,cores=4",
                "\"cores\" is no resource of a node: expected cpu, memory",
            ),
            ("nodes=3", "\"nodes\" is no resource of a node"),
            ("cpu=1,cpu=2", "cpu is there twice"),
        ] {
            let error = resources(bad).expect_err(bad);
            assert!(error.contains(want), "{bad}: {error}");
        }
    }
}
