//! Running the Helm program: to its end, or to the end that the core asks for.

use super::binary::check_version;
use super::workspace::Workspace;
use super::{HelmError, command};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Time for Helm to end after it was asked to, before it is killed. It needs some to record the release as failed.
const END_WITHIN: Duration = Duration::from_secs(15);

/// A Helm to run.
pub(crate) enum Program {
    /// A file on this machine.
    File(PathBuf),
    /// One in memory.
    #[cfg(test)]
    Fake(std::sync::Arc<super::FakeHelm>),
}

impl Program {
    fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            #[cfg(test)]
            Self::Fake(_) => Path::new("(fake)"),
        }
    }
}

/// The Helm program in a workspace.
pub(crate) struct Helm<'a> {
    program: Program,
    workspace: &'a Workspace,
    cancel: &'a CancellationToken,
}

impl<'a> Helm<'a> {
    /// A Helm 4 program; another version is an error.
    pub(crate) async fn open(
        program: Program,
        workspace: &'a Workspace,
        cancel: &'a CancellationToken,
    ) -> Result<Self, HelmError> {
        let helm = Self {
            program,
            workspace,
            cancel,
        };
        let version = helm.run(&command::version()).await?;
        check_version(helm.program.path(), &version)?;
        Ok(helm)
    }

    /// Runs one command and answers its standard output.
    ///
    /// A cancellation is passed on to Helm as SIGTERM, so that it can record what it did.
    pub(crate) async fn run(&self, args: &[String]) -> Result<String, HelmError> {
        #[cfg(test)]
        if let Program::Fake(fake) = &self.program {
            return fake.run(args);
        }
        let verb = args.first().cloned().unwrap_or_default();
        tracing::debug!(program = %self.program.path().display(), ?args, "running helm");
        let child = self.spawn(args).map_err(|error| HelmError::Start {
            cause: format!("{}: {error}", self.program.path().display()),
        })?;
        let pid = child.id();
        let output = child.wait_with_output();
        tokio::pin!(output);
        let output = tokio::select! {
            output = &mut output => output,
            () = self.cancel.cancelled() => {
                end(pid);
                // Dropping the child kills it when it does not end by itself.
                let _ = tokio::time::timeout(END_WITHIN, &mut output).await;
                return Err(HelmError::Cancelled { verb });
            }
        };
        let output = output.map_err(|error| HelmError::Start {
            cause: error.to_string(),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(HelmError::Failed {
            verb,
            message: failure(&output.stderr, &output.stdout),
        })
    }

    fn spawn(&self, args: &[String]) -> std::io::Result<Child> {
        let mut command = Command::new(self.program.path());
        command
            .args(args)
            .env_clear()
            .envs(self.workspace.environment())
            .current_dir(self.workspace.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own: Ctrl-C reaches the whole group of the core, and Helm must end by our word alone.
        #[cfg(unix)]
        command.process_group(0);
        command.spawn()
    }

    /// The directory that commands run in.
    pub(crate) fn directory(&self) -> &Path {
        self.workspace.path()
    }

    /// What commands run in.
    pub(super) fn workspace(&self) -> &Workspace {
        self.workspace
    }
}

#[cfg(unix)]
fn end(pid: Option<u32>) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    if let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
}

#[cfg(not(unix))]
fn end(_: Option<u32>) {}

/// What Helm said, without its log lines and its prefix.
fn failure(stderr: &[u8], stdout: &[u8]) -> String {
    let said = String::from_utf8_lossy(if stderr.is_empty() { stdout } else { stderr });
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.trim_start_matches("Error: ").trim_end())
        .filter(|line| !line.is_empty() && !line.starts_with("level=") && !line.starts_with("time="))
        .collect();
    let mut text = if lines.is_empty() {
        said.trim().to_owned()
    } else {
        lines.join("\n")
    };
    if let Some(remedy) = remedy(&text) {
        text.push('\n');
        text.push_str(remedy);
    }
    text
}

/// What to do about a failure that Helm tells in its own words.
fn remedy(text: &str) -> Option<&'static str> {
    let has = |words: &str| text.contains(words);
    if has("conflict with") {
        return Some(
            "Someone else manages these fields. Leave them to them (take them out of the values), or set force_conflicts = true to take \
             them over",
        );
    }
    if has("server gave HTTP response to HTTPS client") {
        return Some(
            "The registry speaks plain HTTP. Set plain_http = true for it in the provider's registries",
        );
    }
    if has("certificate signed by unknown authority") || has("failed to verify certificate") {
        return Some(
            "The registry's certificate is not trusted here. Set ca_certificate for it in the provider's registries",
        );
    }
    if (has("401") && has("nauthorized")) || has("basic credential not found") || has("403: denied") {
        return Some(
            "The registry asks for a login. Set username and password for it in the provider's registries, or registry_config_path",
        );
    }
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    /// A program written by another process: while this one holds a file open for writing, a test beside may fork with it, and
    /// then nobody can run the file.
    fn script(dir: &Path, body: &str) -> PathBuf {
        let path = dir.join("helm");
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod +x \"$2\"";
        let status = std::process::Command::new("sh")
            .args(["-c", write, "sh", body])
            .arg(&path)
            .status();
        assert!(status.expect("sh runs").success());
        path
    }

    const VERSION: &str = "[ \"$1\" = version ] && { echo v4.3.2; exit 0; }";

    #[tokio::test]
    async fn output_and_failure_are_told_apart() {
        let dir = tempfile::tempdir().expect("a directory");
        let program = script(
            dir.path(),
            &format!(
                "{VERSION}\n[ \"$1\" = ok ] && {{ echo fine; exit 0; }}\necho 'level=WARN x' >&2; echo 'Error: no chart' >&2; exit 1"
            ),
        );
        let (workspace, cancel) = (Workspace::new().expect("a directory"), CancellationToken::new());
        let helm = Helm::open(Program::File(program), &workspace, &cancel)
            .await
            .expect("Helm 4");
        assert_eq!(helm.run(&["ok".into()]).await.expect("works"), "fine\n");
        let error = helm.run(&["upgrade".into()]).await.expect_err("fails");
        assert_eq!(error.to_string(), "helm upgrade failed: no chart");
        for (said, told) in [
            ("conflict with \"kubectl\": .spec.replicas", "force_conflicts"),
            (
                "http: server gave HTTP response to HTTPS client",
                "plain_http = true",
            ),
            ("tls: failed to verify certificate: x509", "ca_certificate"),
            ("response status code 401: unauthorized", "username and password"),
        ] {
            let text = failure(format!("Error: {said}").as_bytes(), b"");
            assert!(text.starts_with(said) && text.contains(told), "{text}");
        }
        assert_eq!(failure(b"Error: chart not found", b""), "chart not found");
    }

    #[tokio::test]
    async fn a_cancellation_lets_helm_end_by_itself() {
        let dir = tempfile::tempdir().expect("a directory");
        let mark = dir.path().join("ended");
        let ready = dir.path().join("ready");
        let body = format!(
            "{VERSION}\ntrap 'touch {}; exit 1' TERM\ntouch {}\nwhile :; do read -t 1 x < /dev/zero 2>/dev/null; done",
            mark.display(),
            ready.display()
        );
        let program = script(dir.path(), &body);
        let (workspace, cancel) = (Workspace::new().expect("a directory"), CancellationToken::new());
        let helm = Helm::open(Program::File(program), &workspace, &cancel)
            .await
            .expect("Helm 4");
        let args = ["upgrade".to_owned()];
        let stop = async {
            while !ready.exists() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(helm.run(&args), stop);
        assert!(matches!(result, Err(HelmError::Cancelled { .. })), "{result:?}");
        assert!(mark.exists(), "it was told to end");
    }

    #[tokio::test]
    async fn helm_3_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let program = script(dir.path(), "echo v3.19.0");
        let (workspace, cancel) = (Workspace::new().expect("a directory"), CancellationToken::new());
        let error = Helm::open(Program::File(program), &workspace, &cancel)
            .await
            .err()
            .expect("not Helm 4");
        assert!(error.to_string().contains("v3.19.0"), "{error}");
    }
}
