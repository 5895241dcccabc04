//! A sandbox's life: it starts, is found again, tells about a crashed part, and ends without a trace.

use std::process::Command;
use std::time::Duration;

use crate::support::{Place, eventually, processes_of};
use joiner_sandbox::process::identity::ProcessId;
use joiner_sandbox::tools::progress::Quiet;
use joiner_sandbox::{ClusterSpec, Error, PartState, Sandbox, status, up};

#[tokio::test]
async fn a_sandbox_from_start_to_end() {
    let place = Place::new();
    let sandbox = up(place.options().await, &Quiet).await.unwrap();
    let first = sandbox.status().await.unwrap();
    for part in [
        "supervisor",
        "emulator",
        "sandbox/etcd",
        "sandbox/kube-apiserver",
        "sandbox/kubelet",
        "sandbox/kwok",
    ] {
        let found = first
            .parts
            .iter()
            .find(|found| found.name == part)
            .unwrap_or_else(|| panic!("no {part}"));
        assert_eq!(found.state, PartState::Running, "{found:?}");
    }

    // Twice is harmless: the same processes run.
    let again = up(place.options().await, &Quiet).await.unwrap();
    assert_eq!(again.record().supervisor, sandbox.record().supervisor);
    let pids = |status: &joiner_sandbox::Status| -> Vec<Option<i32>> {
        status.parts.iter().map(|part| part.pid).collect()
    };
    assert_eq!(pids(&again.status().await.unwrap()), pids(&first));

    a_second_cluster_is_fresh(&sandbox).await;
    a_crash_is_reported(&place, &sandbox).await;

    assert!(Sandbox::down(&place.layout()).await.unwrap());
    assert!(
        !Sandbox::down(&place.layout()).await.unwrap(),
        "nothing is left to end"
    );
    let layout = place.layout();
    assert_eq!(processes_of(layout.dir()), Vec::<String>::new());
    assert!(status(&layout).await.unwrap().parts.is_empty());
    assert!(matches!(Sandbox::open(layout), Err(Error::NotRunning { .. })));
}

#[tokio::test]
async fn a_sandbox_ends_with_its_owner() {
    let place = Place::new();
    let mut owner = Command::new("sleep").arg("600").spawn().unwrap();
    let mut options = place.options().await;
    options.cluster = None;
    options.owner = ProcessId::of(owner.id().cast_signed());
    let sandbox = up(options, &Quiet).await.unwrap();
    assert!(sandbox.record().supervisor.is_alive());
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually("nothing of it runs", Duration::from_secs(60), || async {
        processes_of(place.layout().dir()).is_empty().then_some(())
    })
    .await;
}

async fn a_second_cluster_is_fresh(sandbox: &Sandbox) {
    let spec = ClusterSpec {
        name: "second".into(),
        port: None,
    };
    let one = sandbox.create_cluster(&spec).await.unwrap();
    let refused = sandbox.create_cluster(&spec).await.unwrap_err().to_string();
    assert!(refused.contains("\"second\" already"), "{refused}");
    sandbox.delete_cluster("second").await.unwrap();
    assert!(sandbox.cluster("second").await.unwrap().is_none());
    let two = sandbox.create_cluster(&spec).await.unwrap();
    assert_ne!(one.uid, two.uid);
    assert_ne!(one.ca_certificate, two.ca_certificate);
    sandbox.delete_cluster("second").await.unwrap();
    sandbox.delete_cluster("second").await.unwrap();
    assert_eq!(
        sandbox.clusters().await.unwrap().len(),
        1,
        "the first one is still there"
    );
}

async fn a_crash_is_reported(place: &Place, sandbox: &Sandbox) {
    let status = sandbox.status().await.unwrap();
    let scheduler = status
        .parts
        .iter()
        .find(|part| part.name == "sandbox/kube-scheduler")
        .unwrap();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(scheduler.pid.unwrap()),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    let failed = eventually("the crash is seen", Duration::from_secs(5), || async {
        let status = sandbox.status().await.unwrap();
        status.failed().next().cloned()
    })
    .await;
    assert_eq!(failed.name, "sandbox/kube-scheduler");
    assert!(
        failed.message.starts_with("was killed by signal 9"),
        "{}",
        failed.message
    );
    match up(place.options().await, &Quiet).await {
        Err(Error::PartFailed { part, .. }) => assert_eq!(part, "sandbox/kube-scheduler"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_busy_port_is_a_clear_error() {
    let place = Place::new();
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port();
    let mut options = place.options().await;
    options.cluster = None;
    options.aws_port = Some(port);
    let error = joiner_sandbox::chain(&up(options, &Quiet).await.unwrap_err());
    assert!(error.contains(&format!("port {port} is busy")), "{error}");
    assert_eq!(processes_of(place.layout().dir()), Vec::<String>::new());
}
