//! Every example is formatted and valid with both cores.
//!
//! What an example refers to of other providers (`aws_*`, modules) is not on this machine: such references become variables, whose
//! values a core does not know while it validates.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, Workspace, cores};
use regex::Regex;

use crate::support::{HEAD, root};

/// The text of a file below `examples/`.
fn example(path: &str) -> Result<String> {
    fs::read_to_string(root().join("examples").join(path)).with_context(|| path.to_owned())
}

/// A configuration in which nothing but ours is left.
fn alone(text: &str) -> Result<String> {
    let mut text = text.to_owned();
    for (what, with) in [
        // Blocks of other providers, whole; the providers among the required ones; what only orders.
        (r#"(?ms)^(provider|resource|data) "aws[^"]*".*?^}\n"#, ""),
        (r#"(?ms)^module ".*?^}\n"#, ""),
        (r"(?ms)^    aws = \{.*?^    \}\n", ""),
        (r"depends_on = \[[^\]]*(module|aws_)[^\]]*\]", ""),
        (
            r"\b(aws_[a-z_]+|module)\.([a-z_]+)\.([a-z_]+)(\[\d+\]\.[a-z_]+)?",
            "var.${1}_${2}_${3}",
        ),
    ] {
        text = Regex::new(what)?.replace_all(&text, with).into_owned();
    }
    let names = |pattern: &str| -> Result<BTreeSet<String>> {
        Ok(Regex::new(pattern)?
            .captures_iter(&text)
            .map(|found| found[1].to_owned())
            .collect())
    };
    let declared = names(r#"(?m)^variable "([a-z_]+)""#)?;
    let used = names(r"\bvar\.([a-z_]+)")?;
    for name in used.difference(&declared) {
        text.push_str(&format!("\nvariable \"{name}\" {{}}\n"));
    }
    Ok(text)
}

/// The configurations that guides show, each made whole by the provider's source.
fn guides() -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(root().join("docs/guides"))?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let page = fs::read_to_string(entry.path())?;
        let name = entry.file_name().to_string_lossy().replace(".md", "");
        let blocks = page.split("```terraform\n").skip(1);
        for (index, block) in blocks.enumerate() {
            let text = block.split("```").next().unwrap_or_default();
            let text = if text.contains("terraform {") {
                text.to_owned()
            } else {
                format!("{}\n{text}", HEAD.trim_start())
            };
            found.push((format!("guide-{name}-{index}"), text));
        }
    }
    ensure!(!found.is_empty(), "guides show configurations");
    Ok(found)
}

#[tokio::test]
async fn every_example_is_formatted_and_valid() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let folders = [
        "examples/quickstart",
        "examples/from-articles/network-pool",
        "examples/from-articles/spot-batch",
    ];
    let mut resources = example("provider/provider.tf")?;
    let mut imports = String::new();
    let mut entries: Vec<_> =
        fs::read_dir(root().join("examples/resources"))?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in &entries {
        let folder = format!("resources/{}", entry.file_name().to_string_lossy());
        resources.push_str(&example(&format!("{folder}/resource.tf"))?);
        ensure!(
            example(&format!("{folder}/import.sh"))?.contains("tofu import joiner_"),
            "{folder}"
        );
        imports.push_str(&example(&format!("{folder}/import-by-string-id.tf"))?);
        example(&format!("{folder}/import-by-identity.tf"))?;
    }
    let mut sources = example("provider/provider.tf")?;
    for entry in fs::read_dir(root().join("examples/data-sources"))? {
        let name = entry?.file_name();
        sources.push_str(&example(&format!(
            "data-sources/{}/data-source.tf",
            name.to_string_lossy()
        ))?);
    }
    let whole = [
        ("data-sources", alone(&sources)?),
        ("resources", alone(&format!("{resources}{imports}"))?),
        ("eks", alone(&example("eks/main.tf")?)?),
    ];
    let guides = guides()?;
    for kind in cores() {
        for folder in folders {
            let workspace = Workspace::of(&cloud, kind, folder)?;
            workspace
                .run(&["validate", "-no-color"])
                .with_context(|| format!("{kind:?} {folder}"))?;
        }
        for (name, text) in &whole {
            let workspace = Workspace::with(&cloud, kind, &format!("example-{name}"), text)?;
            fs::write(workspace.file("values.yaml"), "replicas: 1\n")?;
            workspace
                .run(&["validate", "-no-color"])
                .with_context(|| format!("{kind:?} {name}:\n{text}"))?;
            // As they are in the repository, all folders below included.
            let examples = root().join("examples").canonicalize()?.display().to_string();
            workspace.run(&["fmt", "-check", "-diff", "-recursive", examples.as_str()])?;
        }
        for (name, text) in &guides {
            let workspace = Workspace::with(&cloud, kind, name, &alone(text)?)?;
            workspace
                .run(&["validate", "-no-color"])
                .with_context(|| format!("{kind:?} {name}:\n{text}"))?;
            let shown = workspace.file("shown/main.tf");
            fs::create_dir_all(workspace.file("shown"))?;
            fs::write(&shown, text)?;
            workspace
                .run(&["fmt", "-check", "-diff", "shown"])
                .with_context(|| name.clone())?;
        }
    }
    // By identity, which not every core has: as text.
    for entry in &entries {
        let text = example(&format!(
            "resources/{}/import-by-identity.tf",
            entry.file_name().to_string_lossy()
        ))?;
        ensure!(text.contains("identity = {"), "{text}");
    }
    Ok(())
}
