//! What a core tells a plugin through its environment.

use std::path::PathBuf;

const COOKIE_NAME: &str = "TF_PLUGIN_MAGIC_COOKIE";
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The variables of the handshake, as they were set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// Proves that a core started the process.
    pub(crate) cookie: Option<String>,
    /// The client's certificate as PEM; without it the connection is plain.
    pub(crate) client_certificate: Option<String>,
    /// Where to put the socket.
    pub(crate) socket_folder: Option<PathBuf>,
    /// The group that may use the socket.
    pub(crate) socket_group: Option<String>,
    /// The lowest port, for TCP.
    pub(crate) min_port: Option<u16>,
    /// The highest port, for TCP.
    pub(crate) max_port: Option<u16>,
    /// Whether the client reads a seventh part of the line.
    pub(crate) multiplex: bool,
    /// Whether TCP is asked for, by our own `TFPLUGIN_TRANSPORT=tcp`.
    pub(crate) tcp: bool,
    /// The protocol versions that the client speaks, `5,6`.
    pub(crate) versions: Option<String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let port = |name: &str| text(name).and_then(|value| value.parse().ok());
        Self {
            cookie: text(COOKIE_NAME),
            client_certificate: text("PLUGIN_CLIENT_CERT"),
            socket_folder: text("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from),
            socket_group: text("PLUGIN_UNIX_SOCKET_GROUP"),
            min_port: port("PLUGIN_MIN_PORT"),
            max_port: port("PLUGIN_MAX_PORT"),
            multiplex: text("PLUGIN_MULTIPLEX_GRPC").is_some(),
            tcp: text("TFPLUGIN_TRANSPORT").as_deref() == Some("tcp"),
            versions: text("PLUGIN_PROTOCOL_VERSIONS"),
        }
    }

    pub(crate) fn has_cookie(&self) -> bool {
        self.cookie.as_deref() == Some(COOKIE)
    }
}
