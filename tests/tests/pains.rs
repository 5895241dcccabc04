//! `docs/pains.md` tells the truth: it has each of the 32 pains once, and the tests that it names exist.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The cells of each row of the table, without its head.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
        .skip(1)
        .collect()
}

/// The tests that a cell names, as path and name.
fn tests(cell: &str) -> Vec<(&str, &str)> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once("::")).collect()
}

/// Whether a source file has a test of this name: a function right after the attribute that makes it one.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_named = |line: &str| {
        let declared = line.strip_prefix("async ").unwrap_or(line);
        declared
            .strip_prefix("fn ")
            .is_some_and(|rest| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
    };
    let is_attribute = |line: &str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    lines
        .windows(2)
        .any(|pair| is_attribute(pair[0]) && is_named(pair[1]))
}

#[test]
fn every_pain_has_its_tests_and_they_exist() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/pains.md"))?;
    let rows = rows(&page);
    let numbers: Vec<&str> = rows.iter().map(|cells| cells[0]).collect();
    let want: Vec<String> = (1..=32).map(|number: u32| number.to_string()).collect();
    ensure!(numbers == want, "the rows are {numbers:?}");
    for cells in rows {
        let [number, _, _, _, seen] = cells[..] else {
            anyhow::bail!("row {} has {} cells", cells[0], cells.len());
        };
        let named = tests(seen);
        ensure!(!named.is_empty(), "row {number} names no test");
        for (path, name) in named {
            let source =
                fs::read_to_string(root.join(path)).with_context(|| format!("row {number}: {path}"))?;
            ensure!(
                has_test(&source, name),
                "row {number}: {path} has no test {name}; correct docs/pains.md, or write it"
            );
        }
    }
    Ok(())
}

#[test]
fn tests_are_found_by_their_attribute() {
    for (source, want) in [
        ("#[test]\nfn a() {", true),
        ("    #[tokio::test]\n    async fn a() -> Result<()> {", true),
        ("fn a() {", false),
        ("#[test]\nfn ab() {", false),
    ] {
        assert_eq!(has_test(source, "a"), want, "{source}");
    }
}
