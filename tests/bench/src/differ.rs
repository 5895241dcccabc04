//! Thousands of small random snapshots through the peer and through ours; what is different, and how.

pub mod finding;
pub mod shrink;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use joiner_core::snapshot::Strategy;

use crate::answer::Answer;
use crate::cases::Preferences;
use crate::generate::Set;
use crate::judge::Judge;
use finding::{Finding, Sides, compare};

/// The peer, and where files may be put.
#[derive(Clone, Debug)]
pub struct Differ {
    /// The peer's program.
    pub peer: PathBuf,
    /// Snapshots go here and are removed.
    pub work: PathBuf,
}

impl Differ {
    /// What is found for each set, in their order.
    ///
    /// # Errors
    /// When the peer cannot be run.
    pub fn findings(&self, sets: &[Set]) -> Result<Vec<Vec<Finding>>> {
        let answers = self.peer_answers(sets)?;
        let judged = |(set, peer): (&Set, &String)| {
            judged(set, peer).unwrap_or_else(|error| vec![Finding::silence("both", format!("{error:#}"))])
        };
        Ok(sets.iter().zip(&answers).map(judged).collect())
    }

    /// The peer's answer to each set; one process for all.
    fn peer_answers(&self, sets: &[Set]) -> Result<Vec<String>> {
        fs::create_dir_all(&self.work).with_context(|| format!("cannot create {}", self.work.display()))?;
        let file = |index: usize| self.work.join(format!("case-{index}.json"));
        for (index, set) in sets.iter().enumerate() {
            set.write_one(&file(index))?;
        }
        let mut command = Command::new(&self.peer);
        command
            .arg("--each")
            .args((0..sets.len()).map(file))
            .stderr(Stdio::piped());
        let done = command
            .output()
            .with_context(|| format!("cannot run the peer, {}", self.peer.display()))?;
        for index in 0..sets.len() {
            drop(fs::remove_file(file(index)));
        }
        if !done.status.success() {
            bail!("the peer failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        let lines: Vec<String> = String::from_utf8_lossy(&done.stdout)
            .lines()
            .map(str::to_owned)
            .collect();
        if lines.len() != sets.len() {
            bail!("the peer answered {} of {} snapshots", lines.len(), sets.len());
        }
        Ok(lines)
    }
}

fn judged(set: &Set, peer: &str) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let theirs: Answer = serde_json::from_str(peer).context("the peer's answer")?;
    for strategy in [Strategy::FirstFit, Strategy::Price] {
        let judge = Judge::new(set, strategy, Preferences::Respect)?;
        let solved = catch_unwind(AssertUnwindSafe(|| judge.solve()));
        let Ok(text) = solved else {
            found.push(Finding::silence(strategy.as_str(), "the solver panicked".into()));
            continue;
        };
        let text = text?;
        let ours: Answer = serde_json::from_str(&text).context("our answer")?;
        let sides = Sides {
            strategy: strategy.as_str(),
            ours: &ours,
            our_violations: judge.violations(&text)?,
            theirs: &theirs,
            their_violations: if theirs.error.is_some() {
                Vec::new()
            } else {
                judge.violations(peer)?
            },
        };
        found.extend(compare(&sides, &crate::answer::Shop::new(&set.catalogue)));
    }
    Ok(found)
}

/// Writes a case and a sentence about it.
///
/// # Errors
/// When the files cannot be written.
pub fn keep(folder: &Path, name: &str, set: &Set, sentence: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let file = folder.join(format!("{name}.json"));
    set.write_one(&file)?;
    let words = folder.join(format!("{name}.txt"));
    fs::write(&words, format!("{sentence}\n"))
        .with_context(|| format!("cannot write {}", words.display()))?;
    Ok(file)
}
