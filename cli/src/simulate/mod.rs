//! `joiner simulate`: what the controller would do with a set of objects, and what it would cost. Nothing is changed anywhere.

mod arguments;
mod input;
mod table;
mod types;

pub(crate) use arguments::{Decide, Simulate, Source};
pub(crate) use input::{from_files, read_pools};
pub(crate) use types::{Types, catalogue};

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use joiner_core::catalogue::Catalogue;
use joiner_core::resources::ResourceName;
use joiner_core::schedule::{Schedule, schedule_with};
use joiner_core::snapshot::{Guards, Snapshot};
use joiner_map::{Answer, Objects, Parts};

use crate::arguments::Output;
use crate::output;

/// The exit code of `--detailed-exitcode` where pods are left without a node.
const LEFT: u8 = 3;

/// Reads, decides, prints.
pub(crate) async fn run(command: Simulate) -> Result<ExitCode> {
    let progress = progress("reading the objects");
    let files = command.files.clone();
    let objects = tokio::task::spawn_blocking(move || from_files(&files)).await??;
    let picture = picture(objects, &command.decide, &command.source, &progress).await?;
    progress.set_message(format!(
        "deciding on {} pods",
        picture.parts.snapshot.pending.len()
    ));
    let budget = command.decide.budget;
    let decided = tokio::task::spawn_blocking(move || {
        let (schedule, took) = decide(&picture.parts.snapshot, &picture.catalogue, picture.now, budget);
        (picture, schedule, took)
    });
    let (picture, schedule, took) = decided.await?;
    progress.finish_and_clear();
    for note in &picture.parts.notes {
        eprintln!("note: {note}");
    }
    if picture.parts.snapshot.pools.is_empty() && !schedule.unschedulable.is_empty() {
        eprintln!(
            "note: there is no NodePool in the input, and {} pods do not fit on the nodes that are there; add a NodePool \
             (`kubectl get nodepools -o yaml`), or one that is only thought of by --pool-file",
            schedule.unschedulable.len()
        );
    }
    if command.check {
        let broken = joiner_core::check::schedule(
            &picture.parts.snapshot,
            &picture.catalogue,
            &schedule,
            picture.now,
        );
        if !broken.is_empty() {
            let rules: Vec<String> = broken.iter().map(ToString::to_string).collect();
            bail!(
                "the answer breaks rules, which is a defect of joiner: {}",
                rules.join("; ")
            );
        }
    }
    let lacks = joiner_core::schedule::lacks(&picture.parts.snapshot, &picture.catalogue);
    let answer =
        Answer::new(&picture.parts.snapshot, &schedule, &picture.parts.gated, took).with_static_pools(&lacks);
    let printed = match command.output {
        Output::Json => output::json_line(&answer),
        Output::Table => output::line(&table::text(&answer)),
    };
    let left = !answer.unschedulable.is_empty() && command.detailed_exitcode;
    Ok(if left && printed == ExitCode::SUCCESS {
        ExitCode::from(LEFT)
    } else {
        printed
    })
}

/// Everything a decision needs.
pub(crate) struct Picture {
    pub(crate) parts: Parts,
    pub(crate) catalogue: Catalogue,
    pub(crate) now: Timestamp,
}

/// Puts objects, what-ifs and instance types together.
pub(crate) async fn picture(
    mut objects: Objects,
    decide: &Decide,
    source: &Source,
    progress: &ProgressBar,
) -> Result<Picture> {
    for file in &decide.pool_file {
        objects.replace_pools(read_pools(file)?);
    }
    for node in &decide.without_node {
        if !objects.remove_node(node) {
            bail!("--without-node: there is no node and no NodeClaim called {node:?} in the input");
        }
    }
    let now = decide.time.unwrap_or_else(Timestamp::now);
    let mut parts = objects.finish(decide.settings(), now);
    progress.set_message("looking up instance types");
    let mut catalogue = catalogue(&parts, Types::choose(source, &parts)?, now)
        .await
        .context("the instance types cannot be had")?;
    let pools = parts.snapshot.pools.clone();
    for (overlay, why) in joiner_map::apply_overlays(&parts.overlays, &pools, &mut catalogue) {
        parts
            .notes
            .push(format!("NodeOverlay {overlay} is not applied: {why}"));
    }
    if let Some(name) = unknown_size(&parts.snapshot.settings.guards, &catalogue) {
        bail!(
            "--largest-node: no instance type has {name}, so it bounds nothing: name a resource that nodes have, such as cpu, memory or \
             nvidia.com/gpu"
        );
    }
    parts.fill_nodes(&catalogue);
    Ok(Picture {
        parts,
        catalogue,
        now,
    })
}

/// A resource that the largest node is measured by and that no type has; none where there are no types to ask.
fn unknown_size(guards: &Guards, catalogue: &Catalogue) -> Option<ResourceName> {
    let types = || catalogue.pools.values().flat_map(|types| types.iter());
    let largest = guards
        .largest_node
        .as_ref()
        .filter(|_| types().next().is_some())?;
    let mut names = largest.iter().map(|(name, _)| name);
    names.find(|name| types().all(|it| it.capacity.get(name) == 0))
}

/// Decides; the search for a cheaper answer ends when `budget` is over, which zero never is.
pub(crate) fn decide(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    now: Timestamp,
    budget: Duration,
) -> (Schedule, Duration) {
    let started = Instant::now();
    let stop = || !budget.is_zero() && started.elapsed() >= budget;
    let schedule = schedule_with(snapshot, catalogue, now, &stop);
    (schedule, started.elapsed())
}

/// A sign of life on a terminal; nothing elsewhere.
pub(crate) fn progress(message: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
