//! `joiner sandbox quickstart` by its own command, as a user meets it, with a controller that never gets ready.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use joiner_tests::{Ground, tells};

/// Much less than the quickstart waits for pods that may still get nodes.
const AT_ONCE: Duration = Duration::from_secs(120);

/// The example with a controller whose image is nowhere, of which nobody waits for more than that is seen.
fn broken(main: &str) -> Result<String> {
    let mut main = main.to_owned();
    for (place, more) in [
        (
            "  values = {\n    settings = {\n",
            "  timeout = \"8s\"\n\n  values = {\n    controller = { image = { repository = \"joiner/nothing\" } }\n    settings = {\n",
        ),
        (
            "resource \"joiner_ec2_node_class\" \"default\" {\n",
            "resource \"joiner_ec2_node_class\" \"default\" {\n  wait = { ready = false }\n",
        ),
        (
            "resource \"joiner_node_pool\" \"default\" {\n",
            "resource \"joiner_node_pool\" \"default\" {\n  wait = { ready = false }\n",
        ),
    ] {
        ensure!(main.contains(place), "the quickstart has no {place:?}");
        main = main.replacen(place, more, 1);
    }
    Ok(main)
}

/// The broken example in a folder, for a cluster of this name.
fn lay_out(folder: &Path, cluster: &str) -> Result<()> {
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/quickstart");
    fs::create_dir_all(folder)?;
    fs::copy(original.join("deployment.yaml"), folder.join("deployment.yaml"))?;
    let main = broken(&fs::read_to_string(original.join("main.tf"))?)?;
    let main = main.replace("\"quickstart\"", &format!("{cluster:?}"));
    fs::write(folder.join("main.tf"), main)?;
    Ok(())
}

fn sandbox(ground: &Ground, arguments: &[&str], dir: &Path) -> Result<Output> {
    let mut command = Command::new(ground.binaries().join("joiner"));
    command.arg("sandbox").args(arguments).arg("--dir").arg(dir);
    Ok(command.output()?)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[tokio::test]
async fn a_controller_that_never_gets_ready_ends_it_with_the_reason() -> Result<()> {
    let ground = Ground::take().await?;
    let example = ground.folder().join("example");
    lay_out(&example, "quickstart")?;
    let other = ground.folder().join("other");
    lay_out(&other, "other")?;

    let dir = ground.folder().join("sandbox");
    let up = sandbox(&ground, &["up", "--no-cluster", "--boot-time=0"], &dir)?;
    ensure!(up.status.success(), "{}", text(&up));
    // Another cluster, with a role and more of its own in the account.
    let of_other = other.to_str().context("a folder with an odd name")?;
    sandbox(&ground, &["quickstart", "--example", of_other], &dir)?;
    let begin = Instant::now();
    let named = example.to_str().context("a folder with an odd name")?;
    let output = sandbox(&ground, &["quickstart", "--example", named], &dir)?;
    let (said, took) = (text(&output), begin.elapsed());
    let destroyed = sandbox(&ground, &["quickstart", "--example", named, "--destroy"], &dir)?;
    let down = sandbox(&ground, &["down"], &dir)?;
    ensure!(output.status.code() == Some(1), "{said}");
    tells(
        &said,
        &[
            "the apply left a release that is not ready, and without it no pod gets a node",
            "joiner_helm_release.controller: Release kube-system/joiner is not ready",
            "ErrImagePull",
        ],
    )?;
    ensure!(!said.contains("==> scaling"), "nobody is scaled: {said}");
    ensure!(took < AT_ONCE, "{took:?}: {said}");
    ensure!(
        destroyed.status.success(),
        "what the other cluster has is its own: {}",
        text(&destroyed)
    );
    tells(&text(&destroyed), &["or instance profile of quickstart"])?;
    ensure!(down.status.success(), "{}", text(&down));
    Ok(())
}
