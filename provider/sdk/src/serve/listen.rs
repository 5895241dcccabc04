//! The socket: a Unix socket in a folder of its own, or a loopback port.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tokio::net::TcpListener;

use super::environment::Environment;

/// Where the plugin listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl Endpoint {
    pub(crate) fn network(&self) -> &'static str {
        match self {
            Self::Unix(_) => "unix",
            Self::Tcp(_) => "tcp",
        }
    }

    pub(crate) fn address(&self) -> String {
        match self {
            Self::Unix(path) => path.display().to_string(),
            Self::Tcp(address) => address.to_string(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.network(), self.address())
    }
}

/// An open socket, and the folder that must outlive it.
pub(crate) struct Listener {
    pub(crate) socket: Socket,
    pub(crate) endpoint: Endpoint,
    pub(crate) folder: Option<Folder>,
}

pub(crate) enum Socket {
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
    Tcp(TcpListener),
}

/// Opens the socket: a Unix socket unless TCP is asked for or a Unix socket cannot be had there.
pub(crate) fn listen(environment: &Environment) -> io::Result<Listener> {
    #[cfg(unix)]
    if !environment.tcp {
        match listen_unix(environment) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                tracing::warn!(%error, "no Unix socket could be opened; a loopback port is used instead")
            }
        }
    }
    listen_tcp(environment)
}

#[cfg(unix)]
fn listen_unix(environment: &Environment) -> io::Result<Listener> {
    use std::os::unix::fs::PermissionsExt;

    let parent = environment
        .socket_folder
        .clone()
        .unwrap_or_else(std::env::temp_dir);
    let folder = Folder::create(&parent)?;
    let path = folder.0.join("plugin.sock");
    let socket = tokio::net::UnixListener::bind(&path)?;
    if let Some(group) = &environment.socket_group {
        let group = nix::unistd::Group::from_name(group)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no group {group:?}")))?;
        for path in [&folder.0, &path] {
            nix::unistd::chown(path, None, Some(group.gid))?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o770))?;
        }
    }
    Ok(Listener {
        socket: Socket::Unix(socket),
        endpoint: Endpoint::Unix(path),
        folder: Some(folder),
    })
}

fn listen_tcp(environment: &Environment) -> io::Result<Listener> {
    let ports = match (environment.min_port, environment.max_port) {
        (Some(min), Some(max)) if min <= max => min..=max,
        _ => 0..=0, // the system chooses
    };
    let mut last = io::Error::new(io::ErrorKind::AddrInUse, "no port is free");
    for port in ports {
        match std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(socket) => {
                socket.set_nonblocking(true)?;
                let socket = TcpListener::from_std(socket)?;
                let endpoint = Endpoint::Tcp(socket.local_addr()?);
                return Ok(Listener {
                    socket: Socket::Tcp(socket),
                    endpoint,
                    folder: None,
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A folder for the socket that only its owner may enter; removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    #[cfg(unix)]
    fn create(parent: &std::path::Path) -> io::Result<Self> {
        use std::hash::{BuildHasher, RandomState};
        use std::os::unix::fs::DirBuilderExt;

        let unique = RandomState::new().hash_one(std::process::id());
        let path = parent.join(format!("plugin-{unique:016x}"));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let removed =
            std::fs::remove_file(self.0.join("plugin.sock")).and_then(|()| std::fs::remove_dir(&self.0));
        if let Err(error) = removed {
            tracing::debug!(%error, folder = %self.0.display(), "the socket's folder was not removed");
        }
    }
}

/// Sends whatever code in this process still prints to standard error, where a core logs it: standard output belongs to the
/// handshake. The original stays open until the process ends.
pub(crate) fn divert_stdout() {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;

        let Ok(original) = io::stdout().as_fd().try_clone_to_owned() else {
            return;
        };
        if nix::unistd::dup2_stdout(io::stderr().as_fd()).is_ok() {
            std::mem::forget(original);
        }
    }
}
