//! What goes wrong is told well, and nothing is lost.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::workspace::{Workspace, cores, provider};

fn thing(attributes: &str) -> String {
    format!(
        "provider \"folder\" {{\n  folder = \"DATA\"\n}}\nresource \"folder_thing\" \"a\" {{\n  name = \"a\"\n{attributes}\n}}\n"
    )
}

#[test]
fn bad_values_are_plan_errors_at_their_attribute() {
    for core in cores() {
        for (attributes, line, want) in [
            (
                "  policy = \"keep\"",
                "policy = \"keep\"",
                "\"keep\" is not one of Keep, Drop, Panic, Slow. Did you mean \"Keep\"?",
            ),
            (
                "  life = \"soon\"",
                "life = \"soon\"",
                "\"soon\" is not a duration",
            ),
            (
                "  spec = {\n    parts = [{ kind = \"a\", count = 0 }]\n  }",
                "spec = {",
                "0 is not between 1 and 1000. Attribute: spec.parts[0].count",
            ),
            (
                "  secret_version = 1",
                "secret_version = 1",
                "secret_version is set, but secret is not.",
            ),
            (
                "  secret_version = 1.5\n  secret = \"x\"",
                "secret_version = 1.5",
                "found the number 1.5",
            ),
        ] {
            let ran = Workspace::new(&core, &thing(attributes)).plan();
            assert!(
                ran.text.contains(line),
                "the line {line:?} is not shown: {}",
                ran.text
            );
            ran.failed_with(want);
        }
    }
}

#[test]
fn a_panic_is_an_error_of_one_resource() {
    for core in cores() {
        let other = "resource \"folder_thing\" \"b\" {\n  name = \"b\"\n}\n";
        let workspace = Workspace::new(&core, &(thing("  policy = \"Panic\"") + other));
        workspace
            .apply()
            .failed_with("A bug in the provider stopped this operation");
        assert_eq!(
            workspace.things(),
            ["b"],
            "the other resource went through the same process"
        );
    }
}

#[test]
fn an_interrupt_reaches_the_resource_and_its_state_is_kept() {
    for core in cores() {
        let workspace = Workspace::new(
            &core,
            &thing("  policy = \"Slow\"\n  timeouts = { create = \"5m\" }"),
        );
        let mut command = workspace.command(&["apply", "-auto-approve", "-no-color"]);
        let log = std::fs::File::create(workspace.path("log")).unwrap();
        let mut child = command
            .process_group(0)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let said = || std::fs::read_to_string(workspace.path("log")).unwrap();
        while workspace.things() != ["a"] {
            assert!(started.elapsed() < Duration::from_secs(60), "{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        killpg(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
        child.wait().unwrap();
        assert!(started.elapsed() < Duration::from_secs(120), "{}", said());
        assert_eq!(workspace.thing()["name"], "a", "{}", said());
        workspace.destroy().succeeded("destroy");
    }
}

#[test]
fn by_hand_it_explains_itself_and_fails() {
    let output = Command::new(provider())
        .env_remove("TF_PLUGIN_MAGIC_COOKIE")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("It is started by them, not by hand.") && text.contains("-debug"),
        "{text}"
    );
}
