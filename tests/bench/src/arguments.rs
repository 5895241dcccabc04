//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cases::{Preferences, Scale};

/// Measures the scheduler beside Karpenter's.
#[derive(Debug, Parser)]
#[command(name = "joiner-bench", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a snapshot and its catalogue.
    Generate(Generate),
    /// Run every case through the peer and through ours.
    Run(Run),
    /// Write docs/benchmarks.md and its pictures from the results.
    Report(Report),
    /// Put a text between two markers of the page: for measurements that are made elsewhere.
    Put(Put),
    /// Say which rules an answer breaks.
    Judge(Judge),
    /// Look for differences in random snapshots.
    Differ(Differ),
    /// Make a snapshot that shows a difference as small as it can be.
    Shrink(Shrink),
    /// Answer a snapshot as `joiner simulate -o json` does; for when only the solver was built.
    #[command(hide = true)]
    Simulate(Simulate),
    /// Run one command and write what it took; used by `run`.
    #[command(hide = true)]
    Measure(Measure),
}

#[derive(Debug, Args)]
pub struct Generate {
    /// Which distribution.
    #[arg(value_enum)]
    pub kind: Distribution,
    /// Pods that wait.
    #[arg(long, default_value_t = 1000)]
    pub pods: usize,
    /// Nodes that are there (realistic clusters).
    #[arg(long, default_value_t = 0)]
    pub nodes: usize,
    /// Buy on demand only (realistic clusters).
    #[arg(long)]
    pub on_demand: bool,
    /// The same seed gives the same snapshot.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// The folder to write into.
    #[arg(long, default_value = ".")]
    pub out: PathBuf,
}

/// What to generate.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Distribution {
    /// Karpenter's own benchmark.
    Upstream,
    /// Its variant with preferences.
    Preferences,
    /// A cluster as companies run them.
    Realistic,
    /// A small random snapshot with every kind of constraint.
    Random,
}

#[derive(Debug, Args)]
pub struct Run {
    /// The peer's program, built from tests/peers/schedule.
    #[arg(long)]
    pub peer: PathBuf,
    /// A release build of `joiner`.
    #[arg(long)]
    pub joiner: PathBuf,
    /// How much is measured.
    #[arg(long, value_enum, default_value = "full")]
    pub scale: Scale,
    /// Only cases whose name contains this.
    #[arg(long)]
    pub only: Option<String>,
    /// Leave the peer out, and keep what is known of it.
    #[arg(long)]
    pub without_peer: bool,
    /// Snapshots and answers go here.
    #[arg(long, default_value = "target/bench")]
    pub work: PathBuf,
    /// The results; those of cases that do not run are kept.
    #[arg(long, default_value = "target/bench/results.json")]
    pub results: PathBuf,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The results of `run`.
    #[arg(long, default_value = "target/bench/results.json")]
    pub results: PathBuf,
    /// The page.
    #[arg(long, default_value = "docs/benchmarks.md")]
    pub page: PathBuf,
    /// The folder of the pictures.
    #[arg(long, default_value = "docs/benchmarks")]
    pub pictures: PathBuf,
}

#[derive(Debug, Args)]
pub struct Put {
    /// The word in the markers.
    pub name: String,
    /// The page.
    #[arg(long, default_value = "docs/benchmarks.md")]
    pub page: PathBuf,
    /// The file with the text; standard input where absent.
    #[arg(long)]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Judge {
    /// The objects, as one List; the catalogue may be among them.
    pub snapshot: PathBuf,
    /// The answer document.
    pub answer: PathBuf,
    /// The catalogue, where it is not in the snapshot.
    #[arg(long)]
    pub catalogue: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Differ {
    /// The peer's program.
    #[arg(long)]
    pub peer: PathBuf,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// How many snapshots.
    #[arg(long, default_value_t = 2000)]
    pub count: u64,
    /// Snapshots that show a defect of ours go here, as small as they can be made, with a sentence.
    #[arg(long, default_value = "target/bench/defects")]
    pub keep: PathBuf,
    /// So many of each kind are made small and kept; making one small takes seconds.
    #[arg(long, default_value_t = 3)]
    pub most: usize,
    /// Keep differences that are the peer's fault or to our credit, too.
    #[arg(long)]
    pub all: bool,
    /// Snapshots go here while they are looked at.
    #[arg(long, default_value = "target/bench/differ")]
    pub work: PathBuf,
    /// Write the counts as a table into the page.
    #[arg(long)]
    pub page: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Shrink {
    /// The snapshot with its catalogue in one List; or a seed of `differ`.
    pub case: String,
    /// The peer's program.
    #[arg(long)]
    pub peer: PathBuf,
    /// Where to write the small one; standard output where absent.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Look at the n-th finding of the snapshot.
    #[arg(long, default_value_t = 0)]
    pub finding: usize,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// json, and no other.
    #[arg(short, long, default_value = "json")]
    pub output: String,
    /// first-fit or price.
    #[arg(long, default_value = "price")]
    pub strategy: String,
    /// What preferences of pods are worth.
    #[arg(long, value_enum, default_value = "respect")]
    pub preferences: Preferences,
    /// How many steps the search for a cheaper answer may take; the solver's default where absent.
    #[arg(long)]
    pub effort: Option<u64>,
    /// The objects, and the catalogue.
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Measure {
    #[arg(long)]
    pub cost: PathBuf,
    #[arg(long)]
    pub output: PathBuf,
    #[arg(last = true)]
    pub command: Vec<String>,
}
