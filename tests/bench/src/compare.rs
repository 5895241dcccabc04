//! Every case through every tool, on the same files, one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use joiner_core::snapshot::Strategy;

use crate::answer::{Answer, Shop};
use crate::cases::{Case, Preferences};
use crate::generate::Files;
use crate::judge::Judge;
use crate::measure::{self, Cost};
use crate::outcome::{Outcome, needlessly_narrow};
use crate::tools::{Programs, Tool};

/// Where answers are kept, and by whom they are given.
#[derive(Clone, Debug)]
pub struct Bench {
    pub programs: Programs,
    /// Snapshots and answers go here.
    pub work: PathBuf,
    /// The tools that run.
    pub tools: Vec<Tool>,
}

impl Bench {
    /// Runs one case. `say` hears a line for every tool that is done.
    ///
    /// # Errors
    /// When a tool cannot be run, fails, or answers something else than an answer.
    pub fn case(&self, case: &Case, say: &mut dyn FnMut(&str)) -> Result<Vec<Outcome>> {
        let set = case.set();
        let files = set.write(&self.work, &case.name)?;
        let shop = Shop::new(&set.catalogue);
        let judge = Judge::new(&set, Strategy::FirstFit, Preferences::Respect)?;
        let mut outcomes = Vec::new();
        for tool in &self.tools {
            let mut outcome = self.tool(case, *tool, &files, &shop)?;
            let file = self.answer_file(case, *tool);
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let found = judge.violations(&text)?;
            outcome.violations = Some(found.len());
            outcome.first_violation = found.first().cloned();
            let carriers = judge.carriers(&text)?;
            outcome.needlessly_narrow = Some(needlessly_narrow(&read_answer(&file)?, &shop, &carriers));
            say(&line(&outcome));
            outcomes.push(outcome);
        }
        drop(fs::remove_file(&files.snapshot));
        drop(fs::remove_file(&files.catalogue));
        Ok(outcomes)
    }

    fn tool(&self, case: &Case, tool: Tool, files: &Files, shop: &Shop) -> Result<Outcome> {
        let command = self.programs.command(tool, files, case.preferences);
        let output = self.answer_file(case, tool);
        let runs = if tool == Tool::Peer {
            case.peer_runs
        } else {
            case.our_runs
        };
        let (mut costs, mut solves): (Vec<Cost>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut last = Answer::default();
        for _ in 0..runs.max(1) {
            costs.push(measure::run(&command, &output)?);
            last = read_answer(&output)?;
            solves.push(last.solve_millis);
        }
        Ok(Outcome::new(case, tool, &costs, &solves, &last, shop))
    }

    fn answer_file(&self, case: &Case, tool: Tool) -> PathBuf {
        self.work
            .join(format!("{}.{}.answer.json", case.name, tool.word()))
    }
}

/// Reads an answer document.
///
/// # Errors
/// When it is not one, or says that there was an error.
pub fn read_answer(file: &Path) -> Result<Answer> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let answer: Answer =
        serde_json::from_slice(&text).with_context(|| format!("{} is not an answer", file.display()))?;
    if let Some(error) = &answer.error {
        bail!("{}: {error}", file.display());
    }
    Ok(answer)
}

fn line(outcome: &Outcome) -> String {
    format!(
        "{:<48} {:<10} {:>10.1} ms solving, {:>10.1} ms in all, {:>7.0} MiB, {:>5} nodes, {:>9.3} $/h{}, {} unplaced, {} violations",
        outcome.case,
        outcome.tool.word(),
        outcome.solve_millis[0],
        outcome.wall_millis,
        outcome.peak_mib,
        outcome.new_nodes,
        outcome.price,
        outcome
            .lower_bound
            .map_or(String::new(), |bound| format!(" (bound {bound:.3})")),
        outcome.unplaced,
        outcome.violations.unwrap_or(0),
    )
}
