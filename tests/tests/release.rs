//! A release's archives: both cores install the provider from the zip, with its Helm beside it, and what the registries read is
//! there and true.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use joiner_tests::{Ground, Workspace, cores};
use serde_json::{Value, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const MAIN: &str = r#"
terraform {
  required_providers {
    joiner = { source = "joiner-dev/joiner" }
  }
}
output "memory" { value = provider::joiner::parse_quantity("1Gi") }
"#;

fn package<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<Output> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../release/package.py");
    Command::new("python3")
        .arg(script)
        .args(arguments)
        .output()
        .context("python3")
}

/// Packs `provider` and `helm` for `platform` into `out`.
fn archive(provider: &Path, helm: &Path, platform: &str, out: &Path) -> Result<Output> {
    let licences = out.join("licences");
    fs::create_dir_all(&licences)?;
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../LICENSE"),
        licences.join("LICENSE"),
    )?;
    let path = |path: &Path| path.display().to_string();
    package([
        "archive".to_owned(),
        format!("--provider={}", path(provider)),
        format!("--helm={}", path(helm)),
        format!("--licences={}", path(&licences)),
        format!("--version={VERSION}"),
        format!("--platform={platform}"),
        format!("--out={}", path(out)),
        "--level=1".to_owned(),
    ])
}

fn done(output: &Output) -> Result<()> {
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// The folder into which a core unpacked the provider.
fn unpacked(dir: &Path, host: &str, platform: &str) -> PathBuf {
    dir.join(".terraform/providers")
        .join(host)
        .join("joiner-dev/joiner")
        .join(VERSION)
        .join(platform)
}

#[tokio::test]
async fn both_cores_install_the_archive_with_its_helm() -> Result<()> {
    let ground = Ground::take().await?;
    let platform = joiner_sandbox::terraform::platform();
    let hosts = ["registry.opentofu.org", "registry.terraform.io"];
    let dist = ground.folder().join("dist");
    let provider = ground.binaries().join("terraform-provider-joiner");
    done(&archive(&provider, &ground.tools.path("helm"), &platform, &dist)?)?;
    let name = format!("terraform-provider-joiner_{VERSION}_{platform}.zip");
    for host in hosts {
        let packed = ground
            .folder()
            .join("packed")
            .join(host)
            .join("joiner-dev/joiner");
        fs::create_dir_all(&packed)?;
        fs::hard_link(dist.join(&name), packed.join(&name))?;
    }
    let config = ground.folder().join("packed.tfrc");
    let mirror = ground.folder().join("packed");
    fs::write(
        &config,
        format!("provider_installation {{\n  filesystem_mirror {{ path = {mirror:?} }}\n}}\n"),
    )?;

    for kind in cores() {
        let mut workspace = Workspace::without_cloud(&ground, kind, "packed", MAIN)?;
        workspace.core().forget_lock()?;
        fs::remove_dir_all(workspace.dir().join(".terraform"))?;
        workspace.set_environment(&[("TF_CLI_CONFIG_FILE", Some(&config.display().to_string()))]);
        workspace.run(&["init", "-input=false", "-no-color"])?;
        let plan = workspace.run(&["plan", "-no-color", "-input=false"])?;
        ensure!(plan.contains("1073741824"), "the provider answered: {plan}");
        let found: Vec<PathBuf> = hosts
            .iter()
            .map(|host| unpacked(workspace.dir(), host, &platform))
            .filter(|dir| dir.is_dir())
            .collect();
        ensure!(found.len() == 1, "unpacked once: {found:?}");
        for program in [format!("terraform-provider-joiner_v{VERSION}"), "helm".to_owned()] {
            let mode = fs::metadata(found[0].join(&program))
                .with_context(|| program.clone())?
                .permissions()
                .mode();
            ensure!(mode & 0o111 == 0o111, "{program} can be run: {mode:o}");
        }
    }
    Ok(())
}

#[test]
fn what_the_registries_read_is_there_and_true() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let program = dir.path().join("program");
    fs::write(&program, "a provider")?;
    let (once, again) = (dir.path().join("once"), dir.path().join("again"));
    for out in [&once, &again] {
        done(&archive(&program, &program, "linux_arm64", out)?)?;
        done(&archive(&program, &program, "windows_amd64", out)?)?;
    }
    let sums = |out: &Path| package(["sums", "--version", VERSION, "--out", &out.display().to_string()]);
    done(&sums(&once)?)?;

    let stem = format!("terraform-provider-joiner_{VERSION}");
    for platform in ["linux_arm64", "windows_amd64"] {
        let name = format!("{stem}_{platform}.zip");
        ensure!(
            fs::read(once.join(&name))? == fs::read(again.join(&name))?,
            "{name} depends on more than its input"
        );
    }
    let manifest: Value = serde_json::from_slice(&fs::read(once.join(format!("{stem}_manifest.json")))?)?;
    ensure!(manifest == json!({"version": 1, "metadata": {"protocol_versions": ["6.0"]}}));
    let listed = fs::read_to_string(once.join(format!("{stem}_SHA256SUMS")))?;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split("  ").nth(1))
        .collect();
    ensure!(
        names
            == [
                format!("{stem}_linux_arm64.zip"),
                format!("{stem}_windows_amd64.zip"),
                format!("{stem}_manifest.json")
            ],
        "{names:?}"
    );
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", &format!("{stem}_SHA256SUMS")])
        .current_dir(&once)
        .output()?;
    done(&checked)?;
    Ok(())
}

#[test]
fn mistakes_are_named() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let program = dir.path().join("program");
    fs::write(&program, "a provider")?;
    let told = |output: Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let platform = told(archive(&program, &program, "linux-amd64", dir.path())?);
    ensure!(
        platform.contains("'linux-amd64' is not OS_ARCH as Go writes it, such as linux_amd64"),
        "{platform}"
    );
    let missing = dir.path().join("none");
    let missing = told(archive(&missing, &program, "linux_amd64", dir.path())?);
    ensure!(missing.contains("none"), "{missing}");
    let empty = told(package([
        "sums",
        "--version",
        "9.9.9",
        "--out",
        &dir.path().display().to_string(),
    ])?);
    ensure!(
        empty.contains("holds no terraform-provider-joiner_9.9.9_OS_ARCH.zip"),
        "{empty}"
    );
    Ok(())
}
