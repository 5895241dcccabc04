//! What these tests share.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use joiner_tests::Workspace;
use serde_json::Value;

/// The beginning of every configuration.
pub(crate) const HEAD: &str = r#"
terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}
"#;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A chart of one ConfigMap, `text` being its content, in `dir`.
pub(crate) fn chart(dir: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let chart = dir.join(name);
    fs::create_dir_all(chart.join("templates"))?;
    fs::write(
        chart.join("Chart.yaml"),
        format!("apiVersion: v2\nname: {name}\nversion: {version}\n"),
    )?;
    fs::write(chart.join("values.yaml"), "text: default\n")?;
    fs::write(
        chart.join("templates/map.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  text: {{ .Values.text | quote }}\n",
    )?;
    Ok(chart)
}

/// Runs a command of the core with more variables; answers all that it printed, as one text without a terminal's frames.
pub(crate) fn run_with(
    workspace: &Workspace,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<String> {
    let mut command = workspace.core().command(arguments);
    command.envs(variables.iter().copied());
    let output = command.output()?;
    let said = said(&output);
    ensure!(output.status.success(), "{arguments:?}: {said}");
    Ok(said)
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]]
        .map(String::from_utf8_lossy)
        .concat()
        .replace("\n\u{2502} ", "\n")
}

/// The attributes of a resource in the state.
pub(crate) fn attributes(workspace: &Workspace, address: &str) -> Result<Value> {
    let shown = workspace.run(&["show", "-json"])?;
    let state: Value = serde_json::from_str(shown.trim()).with_context(|| shown.clone())?;
    let resources = state["values"]["root_module"]["resources"].as_array().cloned();
    let found = resources
        .unwrap_or_default()
        .into_iter()
        .find(|resource| resource["address"] == address);
    Ok(found.with_context(|| format!("{address} is not in {shown}"))?["values"].clone())
}
