//! Small clusters and what `joiner simulate` must answer, one file a case, with both strategies. Each answer is read back and
//! checked by the independent checker, too.

mod expectation;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use joiner_map::{Answer, Objects, read};

use expectation::Expectation;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn simulate(files: &[PathBuf], arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_joiner"))
        .current_dir(folder())
        .args([
            "simulate",
            "-o",
            "json",
            "--check",
            "--budget",
            "0",
            "--time",
            "2026-11-30T12:00:00Z",
        ])
        .args(arguments)
        .args(files)
        .output()
        .expect("joiner starts")
}

/// What is wrong with a case; nothing if all is right.
fn run(case: &Path) -> Vec<String> {
    let text = fs::read_to_string(case).expect("a case is a file");
    let expectation = Expectation::read(&text);
    let mut files = vec![case.to_owned()];
    if !expectation.own_catalog() {
        files.push(folder().join("catalog.yaml"));
    }
    let both = ["price", "first-fit"].map(|strategy| vec!["--strategy".to_owned(), strategy.to_owned()]);
    let own = expectation.args.iter().any(|argument| argument == "--strategy");
    let strategies = if own { vec![Vec::new()] } else { both.to_vec() };
    let mut wrong = Vec::new();
    for strategy in strategies {
        let arguments: Vec<String> = expectation.args.iter().cloned().chain(strategy.clone()).collect();
        let output = simulate(&files, &arguments);
        let complaints = match (&expectation.error, output.status.success()) {
            (Some(error), false) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                if said.contains(error) {
                    Vec::new()
                } else {
                    vec![format!("says {said:?}, not {error:?}")]
                }
            }
            (Some(error), true) => vec![format!("succeeds, though it should say {error:?}")],
            (None, false) => vec![String::from_utf8_lossy(&output.stderr).into_owned()],
            (None, true) => match serde_json::from_slice::<Answer>(&output.stdout) {
                Ok(answer) => judge(&expectation, &answer, &files, &arguments),
                Err(error) => vec![format!("no answer: {error}")],
            },
        };
        let name = case
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        wrong.extend(
            complaints
                .into_iter()
                .map(|it| format!("{name} {}: {it}", strategy.join(" "))),
        );
    }
    wrong
}

fn judge(expectation: &Expectation, answer: &Answer, files: &[PathBuf], arguments: &[String]) -> Vec<String> {
    let mut wrong = expectation.complaints(answer);
    // What changes the snapshot itself is checked inside the command alone.
    let changed = [
        "--pool-file",
        "--without-node",
        "--preferences",
        "--min-values",
        "--max-replica-share",
        "--largest-node",
        "--dynamic-resources",
    ];
    if arguments
        .iter()
        .any(|argument| changed.contains(&argument.as_str()))
    {
        return wrong;
    }
    let mut objects = Objects::default();
    for file in files {
        let text = fs::read_to_string(file).expect("the file was read before");
        read::read(&file.display().to_string(), &text, &mut objects).expect("the file was read before");
    }
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    let mut parts = objects.finish(joiner_core::snapshot::Settings::default(), now);
    let pools = parts.snapshot.pools.clone();
    let document = parts.catalog.clone().unwrap_or_default();
    let mut catalogue = document.catalogue(pools.iter().map(|pool| &pool.name));
    joiner_map::apply_overlays(&parts.overlays, &pools, &mut catalogue);
    parts.fill_nodes(&catalogue);
    let broken = joiner_core::check::schedule(
        &parts.snapshot,
        &catalogue,
        &answer.schedule(&parts.snapshot),
        now,
    );
    wrong.extend(
        broken
            .iter()
            .map(|violation| format!("breaks a rule: {violation}")),
    );
    wrong
}

#[test]
fn every_case_is_answered_as_expected() {
    let mut cases: Vec<PathBuf> = fs::read_dir(folder().join("cases"))
        .expect("the cases")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    cases.sort();
    assert!(cases.len() > 100, "{}", cases.len());
    let only = std::env::var("SCENARIO").unwrap_or_default();
    let chosen = cases.iter().filter(|case| case.to_string_lossy().contains(&only));
    let wrong: Vec<String> = chosen.flat_map(|case| run(case)).collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
