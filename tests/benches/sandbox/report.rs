//! The figures as a table, and their place in `docs/benchmarks.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::contender::Who;
use super::measure::Figures;
use super::provider::{POOLS, ProviderFigures};

const BEGIN: &str = "<!-- generated: sandbox -->";
const END: &str = "<!-- end: sandbox -->";

/// One row: what, unit, and how it is read.
type Row = (&'static str, &'static str, fn(&Figures) -> f64);

const ROWS: [Row; 15] = [
    ("one pod: pending to CreateFleet", "s", |it| it.one_to_fleet),
    ("one pod: created to running", "s", |it| it.one_running),
    ("50 pods: first pending to first CreateFleet", "s", |it| {
        it.fifty_to_fleet
    }),
    ("50 pods: scaled to all running", "s", |it| it.fifty_running),
    ("50 pods: nodes bought", "", |it| it.fifty_nodes),
    ("50 pods: price of the nodes", "$/h", |it| it.fifty_price),
    ("500 pods: first pending to first CreateFleet", "s", |it| {
        it.many_to_fleet
    }),
    (
        "500 pods: last pod to last CreateFleet (negative: before it)",
        "s",
        |it| it.many_last_fleet,
    ),
    ("500 pods: scaled to all running", "s", |it| it.many_running),
    ("500 pods: nodes bought", "", |it| it.many_nodes),
    ("500 pods: price of the nodes", "$/h", |it| it.many_price),
    ("500 pods: price of one late batch", "$/h", |it| {
        it.many_at_once_price
    }),
    ("resident memory, idle", "MiB", |it| it.idle_mib),
    ("resident memory after 50 pods", "MiB", |it| it.warm_mib),
    ("resident memory after 500 pods", "MiB", |it| it.many_mib),
];

/// The tables: both contenders and the ratio (upstream's over ours), and what the provider costs.
pub(crate) fn markdown(table: &[(Who, Figures)], provider: &ProviderFigures, rounds: usize) -> String {
    let of = |who: Who| {
        table
            .iter()
            .find(|(it, _)| *it == who)
            .map(|(_, figures)| figures)
    };
    let mut text = format!(
        "Median of {rounds} runs; instances boot in no time, so what is left is the controllers', the scheduler's and the API server's work.\n\n\
         | what | Joiner | Karpenter | ratio |\n|---|---:|---:|---:|\n"
    );
    for (what, unit, get) in ROWS {
        let figure = |it: Option<f64>| it.map_or("not run".to_owned(), |it| format!("{it:.2} {unit}"));
        let (ours, peer) = (of(Who::Ours).map(get), of(Who::Peer).map(get));
        let both = ours.zip(peer).filter(|(ours, peer)| *ours > 0.0 && *peer > 0.0);
        let ratio = both.map(|(ours, peer)| format!("{:.1}", peer / ours));
        let _ = writeln!(
            text,
            "| {what} | {} | {} | {} |",
            figure(ours),
            figure(peer),
            ratio.unwrap_or_default()
        );
    }
    let _ = write!(
        text,
        "\n| provider | |\n|---|---:|\n| start of the process to the handshake line | {:.0} ms |\n",
        provider.start * 1000.0
    );
    for (core, seconds) in &provider.plans {
        let _ = writeln!(
            text,
            "| plan of {POOLS} resources, no cluster reachable, {core:?} | {seconds:.2} s |"
        );
    }
    text
}

/// Puts `text` between the markers.
pub(crate) fn write(text: &str) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks.md");
    let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (before, rest) = page
        .split_once(BEGIN)
        .with_context(|| format!("{BEGIN} is missing"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("{END} is missing"))?;
    fs::write(&path, format!("{before}{BEGIN}\n{text}{END}{after}"))?;
    Ok(())
}
