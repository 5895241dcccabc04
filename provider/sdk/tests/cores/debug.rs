//! A provider that was started to be debugged.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::workspace::{Workspace, cores, provider};

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap())
}

#[test]
fn cores_use_the_provider_that_runs_and_leave_it_running() {
    let cores = cores();
    let mut debugged = Command::new(provider())
        .arg("-debug")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(debugged.stdout.take().unwrap()).lines();
    let variable = lines.map_while(Result::ok).find_map(|line| {
        let value = line.trim().strip_prefix("TF_REATTACH_PROVIDERS='")?;
        Some(value.trim_end_matches('\'').to_owned())
    });
    let variable = variable.unwrap();
    for core in &cores {
        let configuration = "provider \"folder\" {\n  folder = \"DATA\"\n}\nresource \"folder_thing\" \"a\" {\n  name = \"a\"\n}\n";
        let mut workspace = Workspace::without_override(core, configuration);
        workspace.set("TF_REATTACH_PROVIDERS", &variable);
        workspace.apply().succeeded("apply");
        workspace.plan().succeeded("second plan");
        workspace.destroy().succeeded("destroy");
        assert!(debugged.try_wait().unwrap().is_none(), "it runs on");
    }
    kill(pid(&debugged), Signal::SIGINT).unwrap();
    assert!(
        debugged.wait().unwrap().success(),
        "an interrupt ends it in peace"
    );
}
