//! The supervisor's life: become a session of its own, tell where it is, bring up the emulator, serve, end everything.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::api;
use super::cluster::Clusters;
use super::emulator::Emulator;
use super::parts::Parts;
use super::record::RecordFile;
use super::settings::Settings;
use crate::error::{Error, Result, chain};
use crate::layout::Layout;
use crate::model::Record;
use crate::ports;
use crate::process::identity::ProcessId;
use crate::process::spawn::Spawner;

/// The hidden first argument: `<binary> __joiner-supervise <settings as JSON>`.
pub(crate) const WORD: &str = "__joiner-supervise";

/// How often it is looked whether the owner is there.
const LOOK: Duration = Duration::from_secs(1);

/// The supervisor's state, shared by its requests.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(super) layout: Layout,
    pub(crate) settings: Settings,
    pub(crate) parts: Parts,
    pub(crate) emulator: Emulator,
    pub(super) clusters: Clusters,
    pub(super) stop: CancellationToken,
}

/// Runs a supervisor until it is told to end.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let settings = arguments
        .next()
        .and_then(|text| serde_json::from_str(text.to_str()?).ok());
    let Some(settings) = settings else {
        eprintln!("{WORD} is for the sandbox's own use");
        return ExitCode::from(2);
    };
    // A session of its own: Ctrl-C in the terminal that started the sandbox is not for it.
    if let Err(error) = nix::unistd::setsid() {
        tracing::debug!(%error, "already the leader of a session");
    }
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    tracing_subscriber::fmt()
        .with_ansi(false)
        // On a full disk a line that cannot be written is lost; complaining about it on the same disk would panic.
        .log_internal_errors(false)
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::new(
            "info,kube_client=warn,kube_client::client::builder=off,kube_runtime=warn",
        ))
        .init();
    let runtime = match Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cannot start the supervisor: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(serve(settings)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The last line of its log is what `up` shows.
            eprintln!("{}", chain(&error));
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: Settings) -> Result<()> {
    let layout = Layout::new(&settings.dir);
    let own = ProcessId::own()
        .ok_or_else(|| Error::Refused("cannot read /proc; the sandbox needs Linux".into()))?;
    let socket = layout.socket();
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).map_err(Error::file("create", &socket))?;
    let port = ports::wanted(settings.aws_port, "emulator")?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supervisor: own,
        socket: socket.clone(),
        aws_endpoint: format!("http://127.0.0.1:{port}"),
        region: settings.region.clone(),
        boot_time_ms: settings.boot_time_ms,
        binaries: settings.binaries.clone(),
        children: Default::default(),
    };
    let record = RecordFile::create(layout.record(), record)?;
    let spawner = Spawner::start(Handle::current()).map_err(|cause| Error::Start {
        program: "the spawning thread".into(),
        cause,
    })?;
    let parts = Parts::new(spawner, record);
    let supervisor = Arc::new(Supervisor {
        emulator: Emulator::new(port, &settings.region),
        clusters: Clusters::default(),
        stop: CancellationToken::new(),
        layout,
        settings,
        parts,
    });

    let starting = tokio::spawn({
        let supervisor = supervisor.clone();
        async move { supervisor.emulator.start(&supervisor).await }
    });
    let stop = supervisor.stop.clone();
    let served = axum::serve(listener, api::router(supervisor.clone()))
        .with_graceful_shutdown(async move { stop.cancelled().await })
        .into_future();
    let served = tokio::spawn(served);
    let owner = supervisor.settings.owner;
    tokio::select! {
        () = until_told(&supervisor.stop) => {}
        () = until_gone(owner) => supervisor.stop.cancel(),
    }
    tracing::info!("ending");
    starting.abort();
    end(&supervisor).await;
    supervisor.parts.forget("");
    supervisor.parts.remove_record();
    let _ = std::fs::remove_file(&socket);
    // The request that asked for the end gets its answer.
    let _ = tokio::time::timeout(Duration::from_secs(1), served).await;
    Ok(())
}

async fn until_told(stop: &CancellationToken) {
    let (Ok(mut term), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return stop.cancelled().await;
    };
    tokio::select! {
        () = stop.cancelled() => {}
        _ = term.recv() => stop.cancel(),
        _ = interrupt.recv() => stop.cancel(),
    }
}

/// Waits until the owner has ended; for ever where there is none.
async fn until_gone(owner: Option<ProcessId>) {
    let Some(owner) = owner else {
        return std::future::pending().await;
    };
    while owner.is_alive() {
        tokio::time::sleep(LOOK).await;
    }
    tracing::info!("the owner has ended");
}

async fn end(supervisor: &Arc<Supervisor>) {
    for name in supervisor.clusters.names() {
        supervisor.clusters.take_down(supervisor, &name).await;
    }
    supervisor.parts.stop("emulator", Duration::ZERO).await;
}
