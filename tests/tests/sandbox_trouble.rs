//! A sandbox that cannot start, or cannot go on: a full disk, a busy port. By its own command, as a user meets it.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Result, ensure};
use joiner_tests::{Ground, processes, tells};

/// `joiner sandbox ARGUMENTS --dir DIR`.
fn sandbox(ground: &Ground, dir: &Path, arguments: &[&str]) -> Result<Output> {
    Ok(Command::new(ground.binaries().join("joiner"))
        .arg("sandbox")
        .args(arguments)
        .arg("--dir")
        .arg(dir)
        .output()?)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Requires that no process is left whose words name the folder.
fn nothing_runs(dir: &Path) -> Result<()> {
    let dir = dir.to_string_lossy();
    let left: Vec<String> = processes::all()
        .iter()
        .map(|process| process.command.join(" "))
        .filter(|command| command.contains(&*dir))
        .collect();
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

#[tokio::test]
async fn a_busy_port_is_named_with_the_part_that_wanted_it() -> Result<()> {
    let ground = Ground::take().await?;
    let dir = ground.folder().join("ports");
    let held = TcpListener::bind("127.0.0.1:0")?;
    let port = held.local_addr()?.port().to_string();

    let output = sandbox(&ground, &dir, &["up", "--no-cluster", "--aws-port", &port])?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    let wanted = format!("port {port} is busy (wanted for emulator)");
    tells(&text(&output), &[&wanted, "free it or leave the port out"])?;
    nothing_runs(&dir)?;

    let output = sandbox(&ground, &dir, &["up", "--boot-time=0", "--api-port", &port])?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    let wanted = format!("port {port} is busy (wanted for sandbox/kube-apiserver)");
    tells(&text(&output), &[&wanted])?;
    // What is up already stays up, and the next attempt completes it.
    drop(held);
    let output = sandbox(&ground, &dir, &["up", "--boot-time=0", "--api-port", &port])?;
    ensure!(output.status.success(), "{}", text(&output));
    // What runs goes on with its own programs, so those of another build are not what would be tried.
    let other = ground.folder().join("other").display().to_string();
    let output = sandbox(
        &ground,
        &dir,
        &["up", "--boot-time=0", "--controller-binaries", &other],
    )?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    tells(
        &text(&output),
        &["takes the controller from", &other, "sandbox down"],
    )?;
    let output = sandbox(&ground, &dir, &["down"])?;
    ensure!(output.status.success(), "{}", text(&output));
    nothing_runs(&dir)
}

/// What is done on a file system of its own that is `$2` large: `$1` is the folder, `$3` the command.
const ON_A_SMALL_DISK: &str = r#"
set -u
mount -t tmpfs -o size="$2" none "$1"
"$3" sandbox up --boot-time=0 --dir "$1/sandbox"; echo "up: $?"
[ "$4" = fill ] || exit 0
dd if=/dev/zero of="$1/fill" bs=64k 2>/dev/null
"$3" sandbox cluster create second --dir "$1/sandbox"; echo "second: $?"
"$3" sandbox status --dir "$1/sandbox"
rm "$1/fill"
"$3" sandbox cluster create second --dir "$1/sandbox"; echo "third: $?"
"$3" sandbox down --dir "$1/sandbox"; echo "down: $?"
"#;

/// Runs the script in a mount namespace of its own; `None` where the system allows none.
fn on_a_small_disk(ground: &Ground, name: &str, size: &str, then: &str) -> Result<Option<String>> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    let allowed = unshare().arg("true").status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("this system lets nobody mount a file system of his own: a full disk is not tried");
        return Ok(None);
    }
    let folder = ground.folder().join(name);
    std::fs::create_dir_all(&folder)?;
    let output = unshare()
        .args(["sh", "-c", ON_A_SMALL_DISK, "sh"])
        .arg(&folder)
        .arg(size)
        .arg(ground.binaries().join("joiner"))
        .arg(then)
        .output()?;
    nothing_runs(&folder)?;
    Ok(Some(text(&output)))
}

#[tokio::test]
async fn a_full_disk_is_told_before_anything_starts() -> Result<()> {
    let ground = Ground::take().await?;
    let Some(said) = on_a_small_disk(&ground, "small", "100m", "stop")? else {
        return Ok(());
    };
    tells(
        &said,
        &[
            "no space left on the file system of",
            "choose another folder with --dir",
            "up: 1",
        ],
    )
}

#[tokio::test]
async fn a_disk_that_gets_full_is_told_and_the_sandbox_goes_on_when_there_is_space() -> Result<()> {
    let ground = Ground::take().await?;
    let Some(said) = on_a_small_disk(&ground, "filling", "600m", "fill")? else {
        return Ok(());
    };
    tells(
        &said,
        &[
            "up: 0",
            "no space left on the file system of",
            "second: 1",
            "third: 0",
            "down: 0",
        ],
    )
}
