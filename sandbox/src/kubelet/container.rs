//! One container: start, watch, probe, restart, end. Each change of its view goes to the pod's worker.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod, Probe};
use nix::sys::signal::Signal;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::command::{self, Refusal};
use super::context::Context;
use super::logs::{self, LogWriter};
use super::prepare::Prepared;
use super::probe::{self, Settings, Target, Verdict};
use super::status::{Ended, State, View};
use super::{mounts, sources};
use crate::process::spawn::{Plan, Started};
use crate::process::tail::last_lines;

/// How long a container waits for what it lacks (a config map, its program) before it looks again.
const RETRY: Duration = Duration::from_secs(2);

/// A container's new view.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) view: View,
}

/// What a container needs to run.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    pub(super) context: Arc<Context>,
    pub(super) pod: Arc<Pod>,
    pub(super) container: Container,
    pub(super) prepared: Arc<Prepared>,
    pub(super) restart: Restart,
    pub(super) changes: mpsc::Sender<Change>,
    /// Some(grace) tells it to end.
    pub(super) end: watch::Receiver<Option<Duration>>,
}

/// When a container is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Restart {
    Always,
    OnFailure,
    Never,
}

/// What happens while a container runs.
enum Happening {
    Exited(ExitStatus),
    Startup(Verdict),
    Readiness(Verdict),
    Liveness(Verdict),
    End(Duration),
}

impl Restart {
    fn again(self, code: i32) -> bool {
        match self {
            Restart::Always => true,
            Restart::OnFailure => code != 0,
            Restart::Never => false,
        }
    }
}

impl Runner {
    /// Runs until the container is done, or told to end; answers its last view.
    pub(super) async fn run(mut self) -> View {
        let mut view = View::waiting("ContainerCreating", "");
        let mut backoff = Backoff::default();
        while self.end.borrow().is_none() {
            let (plan, started, began) = match self.start(view.restarts).await {
                Ok(started) => started,
                Err(refusal) => {
                    self.refused(&mut view, refusal).await;
                    if self.ended_within(RETRY).await {
                        break;
                    } else {
                        continue;
                    }
                }
            };
            view.state = State::Running { since: began };
            self.event(false, "Started", "Container started".into());
            let ended = self.watch(&plan, started, began, &mut view).await;
            let ran = Timestamp::now().duration_since(began);
            let (code, stopped) = (ended.code, self.end.borrow().is_some());
            view = View {
                state: State::Terminated(ended.clone()),
                ready: false,
                started: false,
                ..view
            };
            self.tell(&view).await;
            if stopped || !self.restart.again(code) {
                break;
            }
            let wait = backoff.after(Duration::try_from(ran).unwrap_or_default());
            view.last = Some(ended);
            if !wait.is_zero() {
                let name = &self.container.name;
                let message = format!("back-off {} s restarting failed container={name}", wait.as_secs());
                self.event(true, "BackOff", message.clone());
                view.state = State::Waiting {
                    reason: "CrashLoopBackOff".into(),
                    message,
                };
                self.tell(&view).await;
                if self.ended_within(wait).await {
                    break;
                }
            }
            view.restarts += 1;
        }
        view
    }

    async fn start(&self, restarts: u32) -> Result<(Plan, Started, Timestamp), Refusal> {
        let failed = |reason: &'static str| {
            move |error: String| Refusal {
                reason,
                message: error,
            }
        };
        let sources = sources::fetch(&self.context, &self.pod)
            .await
            .map_err(|error| failed("CreateContainerConfigError")(error.to_string()))?;
        let plan = command::plan(
            &self.context,
            &self.pod,
            &self.container,
            &self.prepared,
            &sources,
        )?;
        let run_error = failed("RunContainerError");
        let log = logs::path(&self.prepared.folder, &self.container.name, restarts);
        let writer = LogWriter::open(&log)
            .await
            .map_err(|error| run_error(error.to_string()))?;
        let mut started = self
            .context
            .spawner
            .spawn(plan.clone())
            .await
            .map_err(|error| run_error(error.to_string()))?;
        if let Some(output) = started.child.stdout.take() {
            tokio::spawn(writer.clone().copy("stdout", output));
        }
        if let Some(output) = started.child.stderr.take() {
            tokio::spawn(writer.copy("stderr", output));
        }
        Ok((plan, started, Timestamp::now()))
    }

    async fn refused(&self, view: &mut View, refusal: Refusal) {
        let same = matches!(&view.state, State::Waiting { message, .. } if *message == refusal.message);
        if !same {
            self.event(
                true,
                "Failed",
                format!("Error: {}: {}", refusal.reason, refusal.message),
            );
            view.state = State::Waiting {
                reason: refusal.reason.into(),
                message: refusal.message,
            };
            self.tell(view).await;
        }
    }

    /// Watches one run; its probes end with it.
    async fn watch(&mut self, plan: &Plan, mut started: Started, began: Timestamp, view: &mut View) -> Ended {
        let probes = CancellationToken::new();
        let _stop_probes = probes.clone().drop_guard();
        let (verdicts, mut inbox) = mpsc::channel(16);
        let startup = self.container.startup_probe.clone();
        let readiness = self.container.readiness_probe.clone();
        view.started = startup.is_none();
        view.ready = startup.is_none() && readiness.is_none();
        let probe = |probe: &Option<Probe>, make: fn(Verdict) -> Happening| {
            self.probe(plan, probe.as_ref(), &probes, &verdicts, make);
        };
        probe(&startup, Happening::Startup);
        if startup.is_none() {
            probe(&readiness, Happening::Readiness);
            probe(&self.container.liveness_probe, Happening::Liveness);
        }
        self.tell(view).await;

        let mut end = self.end.clone();
        loop {
            let happening = tokio::select! {
                status = started.child.wait() => Happening::Exited(status.unwrap_or_default()),
                Some(happening) = inbox.recv() => happening,
                grace = told_to_end(&mut end) => Happening::End(grace),
            };
            match happening {
                Happening::Exited(status) => return self.ended(status, began, view.restarts),
                Happening::End(grace) => return self.kill(started, began, view.restarts, grace).await,
                Happening::Startup(Verdict::Good) => {
                    view.started = true;
                    view.ready = readiness.is_none();
                    self.probe(plan, readiness.as_ref(), &probes, &verdicts, Happening::Readiness);
                    let liveness = self.container.liveness_probe.clone();
                    self.probe(plan, liveness.as_ref(), &probes, &verdicts, Happening::Liveness);
                    self.tell(view).await;
                }
                Happening::Readiness(verdict) => {
                    view.ready = verdict == Verdict::Good;
                    self.unhealthy("Readiness", &verdict);
                    self.tell(view).await;
                }
                Happening::Liveness(Verdict::Good) => {}
                Happening::Startup(verdict) => {
                    self.unhealthy("Startup", &verdict);
                    return self
                        .kill_unhealthy(started, began, view.restarts, "startup")
                        .await;
                }
                Happening::Liveness(verdict) => {
                    self.unhealthy("Liveness", &verdict);
                    return self
                        .kill_unhealthy(started, began, view.restarts, "liveness")
                        .await;
                }
            }
        }
    }

    fn probe(
        &self,
        plan: &Plan,
        probe: Option<&Probe>,
        stop: &CancellationToken,
        verdicts: &mpsc::Sender<Happening>,
        make: fn(Verdict) -> Happening,
    ) {
        let Some(probe) = probe else { return };
        let mounts = mounts::of(&self.container, |name| self.prepared.volumes.get(name).cloned());
        let exec = |command: &[String]| command::exec(&self.context, plan, &mounts, command);
        match Target::of(probe, &self.container, self.prepared.address.ip.into(), exec) {
            Ok(target) => {
                let spawner = self.context.spawner.clone();
                probe::spawn(
                    spawner,
                    Settings::of(probe),
                    target,
                    stop.clone(),
                    verdicts.clone(),
                    make,
                );
            }
            Err(error) => self.event(true, "ProbeError", error),
        }
    }

    async fn kill_unhealthy(&self, started: Started, began: Timestamp, run: u32, probe: &str) -> Ended {
        let name = &self.container.name;
        self.event(
            false,
            "Killing",
            format!("Container {name} failed {probe} probe, will be restarted"),
        );
        let spec = self.pod.spec.as_ref();
        let grace = spec
            .and_then(|spec| spec.termination_grace_period_seconds)
            .unwrap_or(30);
        self.kill(
            started,
            began,
            run,
            Duration::from_secs(u64::try_from(grace).unwrap_or(0)),
        )
        .await
    }

    async fn kill(&self, mut started: Started, began: Timestamp, run: u32, grace: Duration) -> Ended {
        if !grace.is_zero() {
            started.id.signal_group(Signal::SIGTERM);
            if let Ok(status) = tokio::time::timeout(grace, started.child.wait()).await {
                return self.ended(status.unwrap_or_default(), began, run);
            }
        }
        started.id.signal_group(Signal::SIGKILL);
        let status = started.child.wait().await.unwrap_or_default();
        self.ended(status, began, run)
    }

    fn ended(&self, status: ExitStatus, started: Timestamp, run: u32) -> Ended {
        let signal = status.signal();
        let code = status.code().unwrap_or(128 + signal.unwrap_or(0));
        let reason = if code == 0 { "Completed" } else { "Error" };
        let from_logs = self.container.termination_message_policy.as_deref() == Some("FallbackToLogsOnError");
        let message = if code != 0 && from_logs {
            last_lines(&logs::path(&self.prepared.folder, &self.container.name, run), 10)
        } else {
            String::new()
        };
        Ended {
            code,
            signal,
            reason: reason.into(),
            message,
            started,
            finished: Timestamp::now(),
        }
    }

    fn unhealthy(&self, probe: &str, verdict: &Verdict) {
        if let Verdict::Bad { reason } = verdict {
            self.event(true, "Unhealthy", format!("{probe} probe failed: {reason}"));
        }
    }

    fn event(&self, warning: bool, reason: &str, note: String) {
        let (events, name) = (&self.context.events, &self.container.name);
        if warning {
            events.warning(&self.pod, name, reason, note)
        } else {
            events.normal(&self.pod, name, reason, note)
        }
    }

    async fn tell(&self, view: &View) {
        // The worker may have gone; then nobody wants to know.
        let _ = self
            .changes
            .send(Change {
                name: self.container.name.clone(),
                view: view.clone(),
            })
            .await;
    }

    /// Waits; true when told to end meanwhile.
    async fn ended_within(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, told_to_end(&mut self.end))
            .await
            .is_ok()
    }
}

async fn told_to_end(end: &mut watch::Receiver<Option<Duration>>) -> Duration {
    match end.wait_for(Option::is_some).await {
        Ok(grace) => grace.unwrap_or_default(),
        // Whoever could tell has gone.
        Err(_) => Duration::ZERO,
    }
}
