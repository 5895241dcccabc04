//! A sandbox for tests: started in a temporary folder, ended when dropped.

pub(crate) mod aws;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use joiner_sandbox::tools::progress::Quiet;
use joiner_sandbox::tools::{GoTool, Tools};
use joiner_sandbox::{Layout, Sandbox, UpOptions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// A folder of a sandbox that ends with the test, however the test ends.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::Builder::new().prefix("joiner-").tempdir().unwrap(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.folder.path())
    }

    /// Options for a sandbox here, whose instances boot in no time, and whose pods' programs are this package's examples.
    pub(crate) async fn options(&self) -> UpOptions {
        let tools = tokio::task::spawn_blocking(|| Tools::ensure(GoTool::control_plane(), &Quiet))
            .await
            .unwrap()
            .unwrap();
        let mut options = UpOptions::new(self.layout(), tools).unwrap();
        options.executable = built("terraform-provider-sandbox");
        options.binaries = options.executable.parent().unwrap().join("examples");
        options.boot_time = Duration::ZERO;
        options
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The test's runtime may be gone or blocked: a runtime of its own.
        let layout = self.layout();
        let end = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(Sandbox::down(&layout))
        };
        let _ = std::thread::spawn(end).join();
    }
}

/// A program of this package, which cargo builds two folders above the test's own.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join(name)
}

/// A client from a kubeconfig.
pub(crate) async fn client(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    Client::try_from(
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap(),
    )
    .unwrap()
}

/// Asks until there is an answer; panics with `what` when there is none in time.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    patience: Duration,
    ask: impl Fn() -> F,
) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begin.elapsed() < patience, "not within {patience:?}: {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// A GET; answers status and body.
pub(crate) async fn get(authority: &str, path: &str) -> Option<(u16, String)> {
    aws::send(
        authority,
        &format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n"),
    )
    .await
}

/// The processes whose command line names this folder.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            entry.file_name().to_str()?.parse::<i32>().ok()?;
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            command.contains(&folder).then_some(command)
        })
        .collect()
}
