//! `run`: every case of the scale, results written after each.

use std::fs;

use anyhow::{Context, Result, bail};

use super::say;
use crate::arguments::Run;
use crate::cases;
use crate::compare::Bench;
use crate::outcome::{self, Outcome};
use crate::tools::{Programs, Tool};

pub(super) fn run(it: &Run) -> Result<()> {
    fs::create_dir_all(&it.work).with_context(|| format!("cannot create {}", it.work.display()))?;
    for program in [&it.peer, &it.joiner] {
        if !program.is_file() {
            bail!("{} is not there: `make bench` builds it", program.display());
        }
    }
    let tools = Tool::ALL
        .into_iter()
        .filter(|tool| !(it.without_peer && *tool == Tool::Peer));
    let bench = Bench {
        programs: Programs {
            peer: it.peer.clone(),
            joiner: it.joiner.clone(),
        },
        work: it.work.clone(),
        tools: tools.collect(),
    };
    let mut known = if it.results.is_file() {
        outcome::read(&it.results)?
    } else {
        Vec::new()
    };
    let wanted = |name: &str| it.only.as_deref().is_none_or(|part| name.contains(part));
    let all = cases::all(it.scale);
    known.retain(|old| all.iter().any(|case| case.name == old.case));
    for case in all.iter().filter(|case| wanted(&case.name)) {
        for outcome in bench.case(case, &mut say)? {
            take(&mut known, outcome);
        }
        // In the order of the cases, so that the page does not depend on which ran last.
        known.sort_by_key(|it| (all.iter().position(|case| case.name == it.case), it.tool));
        outcome::write(&it.results, &known)?;
    }
    Ok(())
}

fn take(known: &mut Vec<Outcome>, new: Outcome) {
    known.retain(|old| !(old.case == new.case && old.tool == new.tool));
    known.push(new);
}
