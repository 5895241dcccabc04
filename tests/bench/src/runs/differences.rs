//! `differ` and `shrink`.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use super::say;
use crate::arguments;
use crate::differ::finding::{Finding, Kind};
use crate::differ::{Differ, keep, shrink};
use crate::generate::{Set, random};
use crate::report;

const BATCH: u64 = 200;

pub(super) fn run(it: &arguments::Differ) -> Result<()> {
    let differ = Differ {
        peer: it.peer.clone(),
        work: it.work.clone(),
    };
    let mut counts: BTreeMap<(Kind, &'static str), usize> = BTreeMap::new();
    let mut examples: Vec<(u64, Finding)> = Vec::new();
    let end = it.from + it.count;
    let mut from = it.from;
    while from < end {
        let seeds: Vec<u64> = (from..end.min(from + BATCH)).collect();
        let sets: Vec<Set> = seeds.iter().map(|seed| random::snapshot(*seed)).collect();
        for (seed, findings) in seeds.iter().zip(differ.findings(&sets)?) {
            for finding in findings {
                *counts.entry((finding.kind, finding.strategy)).or_default() += 1;
                examples.push((*seed, finding));
            }
        }
        from += BATCH;
    }
    let lines: Vec<String> = examples
        .iter()
        .map(|(seed, finding)| format!("{seed}\t{finding}\n"))
        .collect();
    let list = it.work.join("findings.tsv");
    fs::write(&list, lines.concat()).with_context(|| format!("cannot write {}", list.display()))?;
    let table = table(it.count, &counts);
    say(&table);
    for (seed, finding) in chosen(&examples, it) {
        let (set, small) = shrink::shrink(&differ, random::snapshot(*seed), finding.kind, finding.strategy)?;
        let name = format!("{}-{}-{seed}", finding.kind.word(), finding.strategy);
        let file = keep(&it.keep, &name, &set, &format!("seed {seed}: {small}"))?;
        say(&format!("{}: {small}", file.display()));
    }
    if let Some(page) = &it.page {
        report::put(page, "differences", &table)?;
    }
    Ok(())
}

/// The examples to make small: of each kind and strategy so many.
fn chosen<'a>(examples: &'a [(u64, Finding)], it: &arguments::Differ) -> Vec<&'a (u64, Finding)> {
    let mut seen: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
    let mut chosen: Vec<&(u64, Finding)> = examples
        .iter()
        .filter(|(_, finding)| it.all || finding.kind.is_ours())
        .filter(|(_, finding)| {
            let count = seen.entry((finding.kind, finding.strategy)).or_default();
            *count += 1;
            *count <= it.most
        })
        .collect();
    chosen.sort_by_key(|(seed, finding)| (finding.kind, finding.strategy, *seed));
    chosen
}

fn table(count: u64, counts: &BTreeMap<(Kind, &'static str), usize>) -> String {
    let mut text = format!("{count} random snapshots.\n\n| finding | first-fit | price |\n|---|--:|--:|\n");
    for kind in Kind::ALL {
        let of = |strategy| counts.get(&(kind, strategy)).copied().unwrap_or(0);
        text += &format!("| {} | {} | {} |\n", kind.word(), of("first-fit"), of("price"));
    }
    text
}

pub(super) fn shrink_one(it: &arguments::Shrink) -> Result<()> {
    let set = match it.case.parse::<u64>() {
        Ok(seed) => random::snapshot(seed),
        Err(_) => Set::read_one(it.case.as_ref())?,
    };
    let differ = Differ {
        peer: it.peer.clone(),
        work: std::env::temp_dir().join(format!("joiner-bench-{}", std::process::id())),
    };
    let found = differ
        .findings(std::slice::from_ref(&set))?
        .pop()
        .unwrap_or_default();
    found
        .iter()
        .enumerate()
        .for_each(|(index, finding)| say(&format!("{index}. {finding}")));
    let Some(finding) = found.get(it.finding) else {
        return Ok(());
    };
    let (small, finding) = shrink::shrink(&differ, set, finding.kind, finding.strategy)?;
    say(&format!("smallest: {finding}"));
    match &it.out {
        Some(file) => small.write_one(file)?,
        None => {
            let mut all = small.objects.clone();
            all.push(small.catalogue.clone());
            let text = serde_json::to_string_pretty(&crate::generate::list(&all)).context("as JSON")?;
            say(&text);
        }
    }
    Ok(())
}
