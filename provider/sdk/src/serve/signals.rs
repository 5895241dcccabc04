//! Signals. While a core is served an interrupt ends nothing: Ctrl-C reaches the whole process group, and the core decides
//! what becomes of its plugins.

use std::io;

use super::running::Mode;

#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// From now on an interrupt no longer ends the process.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Returns when the process should end by a signal.
    pub(crate) async fn end(&mut self, mode: Mode) {
        loop {
            tokio::select! {
                Some(()) = self.interrupt.recv() => {
                    if mode == Mode::Debug {
                        return;
                    }
                    tracing::debug!("interrupt ignored; the core decides");
                }
                Some(()) = self.terminate.recv() => return,
                else => std::future::pending().await,
            }
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn end(&mut self, mode: Mode) {
        loop {
            if tokio::signal::ctrl_c().await.is_ok() && mode == Mode::Debug {
                return;
            }
        }
    }
}
