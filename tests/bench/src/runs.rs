//! One function for each command.

mod differences;
mod machine;
mod measuring;

use std::fs;
use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use joiner_core::snapshot::Strategy;

use crate::arguments::{Arguments, Command, Distribution, Generate, Judge, Put, Report, Simulate};
use crate::cases::Preferences;
use crate::generate::realistic::{Buying, Plan};
use crate::generate::{Set, random, realistic, upstream};
use crate::{judge, measure, outcome, report};

/// Does what the command line says.
///
/// # Errors
/// What goes wrong, in words for a person.
pub fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Generate(it) => generate(&it),
        Command::Run(it) => measuring::run(&it),
        Command::Report(it) => write_report(&it),
        Command::Put(it) => put(&it),
        Command::Judge(it) => judged(&it),
        Command::Differ(it) => differences::run(&it),
        Command::Shrink(it) => differences::shrink_one(&it),
        Command::Simulate(it) => simulate(&it),
        Command::Measure(it) => measure::only_child(&it.command, &it.output, &it.cost),
    }
}

/// Prints a line.
fn say(line: &str) {
    // Whoever closed standard output does not want to hear it.
    drop(writeln!(std::io::stdout(), "{line}"));
}

fn generate(it: &Generate) -> Result<()> {
    let (set, name) = match it.kind {
        Distribution::Upstream => (
            upstream::diverse(it.pods, it.seed),
            format!("upstream-{}", it.pods),
        ),
        Distribution::Preferences => (
            upstream::preferences(it.pods, it.seed),
            format!("preferences-{}", it.pods),
        ),
        Distribution::Realistic => {
            let buying = if it.on_demand {
                Buying::OnDemand
            } else {
                Buying::Spot
            };
            let plan = Plan {
                pods: it.pods,
                nodes: it.nodes,
                buying,
                seed: it.seed,
            };
            (
                realistic::cluster(plan),
                format!("realistic-{}-{}", it.pods, it.nodes),
            )
        }
        Distribution::Random => (random::snapshot(it.seed), format!("random-{}", it.seed)),
    };
    let files = set.write(&it.out, &name)?;
    say(&format!(
        "{}\n{}",
        files.snapshot.display(),
        files.catalogue.display()
    ));
    Ok(())
}

fn write_report(it: &Report) -> Result<()> {
    let outcomes = outcome::read(&it.results)?;
    report::write(&it.page, &it.pictures, &outcomes, &machine::words())?;
    say(&format!(
        "wrote {} and {}",
        it.page.display(),
        it.pictures.display()
    ));
    Ok(())
}

fn put(it: &Put) -> Result<()> {
    let mut text = String::new();
    match &it.file {
        Some(file) => {
            text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?
        }
        None => drop(
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read standard input")?,
        ),
    }
    report::put(&it.page, &it.name, &text)
}

fn simulate(it: &Simulate) -> Result<()> {
    let strategy = Strategy::parse(&it.strategy)
        .with_context(|| format!("--strategy {}: first-fit or price is expected", it.strategy))?;
    let texts: Result<Vec<(String, String)>> = it
        .files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok((file.display().to_string(), text))
        })
        .collect();
    let mut question = judge::Judge::of_texts(&texts?, strategy, it.preferences)?.bounded();
    if let Some(steps) = it.effort {
        question = question.with_effort(steps);
    }
    say(&question.solve()?);
    Ok(())
}

fn judged(it: &Judge) -> Result<()> {
    let text = |file: &std::path::Path| {
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
    };
    let mut whole: serde_json::Value = serde_json::from_str(&text(&it.snapshot)?)
        .with_context(|| format!("{} is not JSON", it.snapshot.display()))?;
    let set = match &it.catalogue {
        None => Set::read_one(&it.snapshot)?,
        Some(catalogue) => Set {
            objects: whole["items"]
                .as_array_mut()
                .map(std::mem::take)
                .unwrap_or_default(),
            catalogue: serde_json::from_str(&text(catalogue)?)
                .with_context(|| format!("{} is not JSON", catalogue.display()))?,
        },
    };
    let found =
        judge::Judge::new(&set, Strategy::FirstFit, Preferences::Respect)?.violations(&text(&it.answer)?)?;
    found.iter().for_each(|violation| say(violation));
    if !found.is_empty() {
        bail!("{} rules are broken", found.len());
    }
    say("no rule is broken");
    Ok(())
}
