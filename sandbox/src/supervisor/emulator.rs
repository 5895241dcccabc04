//! The AWS emulator's process, and what the sandbox asks of it (its routes under `/_sandbox/`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::run::Supervisor;
use crate::error::{Error, Result, chain};
use crate::http::{self as client, Ask};
use crate::model::{PartState, Registration};
use crate::ports;
use crate::process::spawn::{Output, Plan};

/// The emulator, once started.
#[derive(Debug, Clone)]
pub(crate) struct Emulator {
    port: Arc<AtomicU16>,
    region: Arc<str>,
}

/// What the emulator is told about a new cluster.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewCluster<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) endpoint: &'a str,
    pub(crate) certificate_authority: &'a str,
    pub(crate) oidc_issuer: &'a str,
    pub(crate) jwks: &'a serde_json::Value,
}

/// The part's name.
pub(crate) const PART: &str = "emulator";

/// How often a start is tried when ports are taken in between.
const ATTEMPTS: usize = 3;

/// moto loads the catalogue of every EC2 type when it starts; on a busy machine this takes a while.
const PATIENCE: Duration = Duration::from_secs(90);

impl Emulator {
    /// An emulator that listens, or will, on `port`, for an account in `region`.
    pub(crate) fn new(port: u16, region: &str) -> Self {
        Self {
            port: Arc::new(AtomicU16::new(port)),
            region: region.into(),
        }
    }

    fn port(&self) -> u16 {
        self.port.load(Ordering::Relaxed)
    }

    /// The account's region.
    pub(crate) fn region(&self) -> &str {
        &self.region
    }

    /// `127.0.0.1:<port>`.
    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// `http://127.0.0.1:<port>`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.authority())
    }

    /// Starts it and waits until it answers. When somebody took its port in between, another is tried, unless this very port
    /// was asked for.
    pub(super) async fn start(&self, supervisor: &Supervisor) -> Result<()> {
        let explicit = supervisor.settings.aws_port.is_some();
        for _ in 1..ATTEMPTS {
            match self.start_once(supervisor).await {
                Err(Error::PortBusy { .. }) if !explicit => {
                    let port = ports::wanted(None, PART)?;
                    self.port.store(port, Ordering::Relaxed);
                    supervisor.parts.record_endpoint(&self.url());
                }
                other => return other,
            }
        }
        self.start_once(supervisor).await
    }

    async fn start_once(&self, supervisor: &Supervisor) -> Result<()> {
        let port = self.port();
        let (settings, layout) = (&supervisor.settings, &supervisor.layout);
        let state = layout.emulator();
        std::fs::create_dir_all(&state).map_err(Error::file("create", &state))?;
        let plan = Plan {
            program: settings.python.clone(),
            args: [
                "-m",
                "joiner_cloud",
                "--port",
                &port.to_string(),
                "--region",
                &self.region,
                "--state-dir",
            ]
            .into_iter()
            .map(Into::into)
            .chain([state.clone().into()])
            .collect(),
            env: environment(&settings.emulator.display().to_string()),
            dir: state,
            output: Output::File(layout.log(PART)),
        };
        supervisor.parts.start(PART, plan, Some(port)).await?;
        let ready = supervisor
            .parts
            .wait_ready(PART, PATIENCE, || self.is_healthy())
            .await;
        match ready {
            Err(Error::PartFailed { lines, .. })
                if ports::is_taken(&lines) || lines.contains("cannot bind") =>
            {
                Err(Error::PortBusy {
                    port,
                    part: PART.into(),
                })
            }
            other => other,
        }
    }

    /// Waits until the emulator that was started answers, or fails as it failed.
    pub(super) async fn wait(&self, supervisor: &Supervisor) -> Result<()> {
        loop {
            supervisor.parts.check(PART)?;
            if supervisor.parts.state(PART) == Some(PartState::Running) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn is_healthy(&self) -> bool {
        let ask = Ask {
            path: "/_sandbox/health",
            patience: Some(Duration::from_secs(2)),
            ..Ask::default()
        };
        client::tcp(&self.authority(), ask)
            .await
            .is_ok_and(|answer| answer.status.is_success())
    }

    /// Makes the cloud's side of a cluster.
    pub(crate) async fn register(&self, cluster: &NewCluster<'_>) -> Result<Registration> {
        let body = serde_json::to_vec(cluster).map_err(|error| Error::Refused(error.to_string()))?;
        self.ask(
            Method::POST,
            "/_sandbox/clusters",
            Some(body),
            Duration::from_secs(60),
        )
        .await
    }

    /// Removes the cloud's side of a cluster.
    pub(crate) async fn unregister(&self, name: &str) -> Result<()> {
        let path = format!("/_sandbox/clusters/{name}");
        let _: serde_json::Value = self
            .ask(Method::DELETE, &path, None, Duration::from_secs(60))
            .await?;
        Ok(())
    }

    /// Asks for JSON.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        patience: Duration,
    ) -> Result<T> {
        let ask = Ask {
            method,
            path,
            body,
            patience: Some(patience),
            ..Ask::default()
        };
        let answer = client::tcp(&self.authority(), ask)
            .await
            .map_err(|error| Error::Refused(format!("the AWS emulator: {}", chain(&error))))?;
        if !answer.status.is_success() {
            let text = format!(
                "the AWS emulator answered {} to {path}: {}",
                answer.status,
                answer.text()
            );
            return Err(Error::Refused(text));
        }
        let body = if answer.body.is_empty() {
            &b"null"[..]
        } else {
            &answer.body
        };
        serde_json::from_slice(body).map_err(|error| {
            Error::Refused(format!(
                "the AWS emulator's answer to {path} is not understood: {error}"
            ))
        })
    }
}

fn environment(package: &str) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = [
        ("PYTHONPATH", package),
        ("PYTHONUNBUFFERED", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        // boto3, which moto brings, looks for them when it is imported.
        ("AWS_ACCESS_KEY_ID", "sandbox"),
        ("AWS_SECRET_ACCESS_KEY", "sandbox"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    if let Ok(home) = std::env::var("HOME") {
        env.insert("HOME".into(), home);
    }
    env
}
