//! Where everything lies: the folders of a sandbox and of the cache of built tools.
//!
//! Input: a folder or a name, and the environment. Output: paths only; nothing here touches the disk.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The name of the sandbox, and of its cluster, when none is given.
pub const DEFAULT_NAME: &str = "sandbox";

/// Paths inside one sandbox's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    dir: PathBuf,
}

impl Layout {
    /// The layout of the sandbox in `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder for a sandbox called `name`: `$XDG_DATA_HOME/joiner/<name>`, else `~/.local/share/joiner/<name>`.
    ///
    /// # Errors
    /// [`Error::Name`] when the name is not a label of lower-case letters, digits and dashes, at most 32 long.
    pub fn of_name(name: &str) -> Result<Self> {
        check_name("sandbox name", name)?;
        let data = env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            .unwrap_or_else(|| home().join(".local/share"));
        Ok(Self::new(data.join("joiner").join(name)))
    }

    /// The sandbox that a command means: an explicit folder, else `JOINER_SANDBOX` (a folder), else the folder of `name`.
    ///
    /// # Errors
    /// As [`Layout::of_name`].
    pub fn choose(dir: Option<&Path>, name: Option<&str>) -> Result<Self> {
        if let Some(dir) = dir {
            return Ok(Self::new(
                std::path::absolute(dir).map_err(Error::file("resolve", dir))?,
            ));
        }
        if let Some(name) = name {
            return Self::of_name(name);
        }
        match env::var_os("JOINER_SANDBOX").filter(|value| !value.is_empty()) {
            Some(dir) => Self::choose(Some(Path::new(&dir)), None),
            None => Self::of_name(DEFAULT_NAME),
        }
    }

    /// The sandbox's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The record of the running supervisor (`sandbox.json`).
    pub fn record(&self) -> PathBuf {
        self.dir.join("sandbox.json")
    }

    /// The file that commands lock while they change the sandbox.
    pub fn lock(&self) -> PathBuf {
        self.dir.join(".lock")
    }

    /// The folder from which cores install our providers.
    pub fn core(&self) -> PathBuf {
        self.dir.join("core")
    }

    /// The kubeconfig with a context for each cluster, the newest being current.
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    /// The log of a part that belongs to no cluster.
    pub fn log(&self, part: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{part}.log"))
    }

    /// The emulator's state folder.
    pub fn emulator(&self) -> PathBuf {
        self.dir.join("emulator")
    }

    /// The folder of a cluster.
    pub fn cluster(&self, name: &str) -> ClusterLayout {
        ClusterLayout {
            dir: self.dir.join("clusters").join(name),
        }
    }

    /// The supervisor's socket. A Unix socket's path holds at most 107 bytes, so a deep folder's socket lies in `/tmp`.
    pub fn socket(&self) -> PathBuf {
        let plain = self.dir.join("supervisor.sock");
        if plain.as_os_str().len() < 100 {
            return plain;
        }
        use sha2::{Digest, Sha256};
        let digest = hex::encode(Sha256::digest(self.dir.as_os_str().as_encoded_bytes()));
        env::temp_dir().join(format!("joiner-{}.sock", &digest[..24]))
    }
}

/// Paths inside one cluster's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterLayout {
    dir: PathBuf,
}

impl ClusterLayout {
    /// The cluster's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A certificate, key or kubeconfig.
    pub fn pki(&self, file: &str) -> PathBuf {
        self.dir.join("pki").join(file)
    }

    /// The log of one of the cluster's parts.
    pub fn log(&self, part: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{part}.log"))
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    /// The folder of the system nodes' pods.
    pub fn pods(&self) -> PathBuf {
        self.dir.join("pods")
    }
}

/// `$JOINER_CACHE`, else `$XDG_CACHE_HOME/joiner`, else `~/.cache/joiner`: built tools, shared by all sandboxes.
pub fn cache() -> PathBuf {
    if let Some(dir) = env::var_os("JOINER_CACHE").filter(|value| !value.is_empty()) {
        return PathBuf::from(dir);
    }
    env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| home().join(".cache"))
        .join("joiner")
}

fn home() -> PathBuf {
    env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// Checks a name that becomes a folder, a host label and a tag.
pub(crate) fn check_name(what: &'static str, value: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let edges = |c: char| c != '-';
    let good = (1..=32).contains(&value.len())
        && value.chars().all(plain)
        && value.starts_with(edges)
        && value.ends_with(edges);
    if good {
        return Ok(());
    }
    Err(Error::Name {
        what,
        value: value.to_owned(),
        expected: "use 1 to 32 lower-case letters, digits and dashes, with no dash at either end",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels() {
        for (name, good) in [
            ("a", true),
            ("sandbox-2", true),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("A", false),
            ("a/b", false),
            ("..", false),
            ("a23456789012345678901234567890123", false),
        ] {
            assert_eq!(check_name("name", name).is_ok(), good, "{name:?}");
        }
    }

    #[test]
    fn deep_folders_get_a_short_socket() {
        let short = Layout::new("/tmp/x").socket();
        assert_eq!(short, Path::new("/tmp/x/supervisor.sock"));
        let deep = Layout::new(format!("/tmp/{}", "y".repeat(120))).socket();
        assert!(deep.as_os_str().len() < 100, "{deep:?}");
        assert_ne!(deep, Layout::new(format!("/tmp/{}", "z".repeat(120))).socket());
    }
}
