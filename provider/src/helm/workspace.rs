//! The private directory of one Helm run: its homes, the kubeconfig, the values. Removed when dropped.

use super::HelmError;
use crate::cluster::{Cluster, TokenSource};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Time between two writes of a short-lived token; EKS tokens live 15 minutes.
const TOKEN_REFRESH: Duration = Duration::from_secs(5 * 60);

/// A directory with mode 0700 that one Helm run works in.
pub(crate) struct Workspace {
    dir: TempDir,
    refresher: Option<JoinHandle<()>>,
}

impl Workspace {
    /// The file in it that Helm reads registry logins from.
    pub(super) const REGISTRY_CONFIG: &'static str = "registry.json";

    /// Makes the directory.
    pub(crate) fn new() -> Result<Self, HelmError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("joiner-helm-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = builder.tempdir().map_err(start)?;
        Ok(Self { dir, refresher: None })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes the kubeconfig, and keeps its token file fresh while the workspace lives when tokens are short-lived.
    pub(crate) async fn connect(&mut self, cluster: &Cluster) -> Result<(), HelmError> {
        let token_path = self.path().join("token");
        let access = cluster.tool_access(&token_path).await?;
        self.write("kubeconfig", access.kubeconfig.to_string().as_bytes())?;
        if let Some(tokens) = access.tokens {
            write_token(&*tokens, &token_path).await?;
            self.refresher = Some(tokio::spawn(keep_fresh(tokens, token_path)));
        }
        Ok(())
    }

    /// Writes values as a file and answers its path.
    pub(crate) fn write_values(&self, values: &Value) -> Result<PathBuf, HelmError> {
        // JSON is YAML.
        self.write("values.yaml", values.to_string().as_bytes())
    }

    /// Writes a file that the owner alone may read, and answers its path.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, HelmError> {
        let path = self.path().join(name);
        write_private(&path, content).map_err(start)?;
        Ok(path)
    }

    /// The environment of Helm here: everything of the provider's own but what would lead it to someone's settings.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        environment(inherited, self.path())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Some(refresher) = &self.refresher {
            refresher.abort();
        }
    }
}

fn environment(inherited: impl Iterator<Item = (String, String)>, dir: &Path) -> Vec<(String, String)> {
    let foreign = |name: &str| {
        name.starts_with("HELM_")
            || name.starts_with("TF_")
            || name.starts_with("PLUGIN_")
            || name.starts_with("XDG_")
            || name == "KUBECONFIG"
    };
    let mut variables: Vec<(String, String)> = inherited.filter(|(name, _)| !foreign(name)).collect();
    for (name, place) in [
        ("HELM_CONFIG_HOME", "config"),
        ("HELM_CACHE_HOME", "cache"),
        ("HELM_DATA_HOME", "data"),
        ("HELM_PLUGINS", "plugins"),
        ("HELM_REGISTRY_CONFIG", Workspace::REGISTRY_CONFIG),
        ("HELM_REPOSITORY_CONFIG", "repositories.yaml"),
        ("HELM_REPOSITORY_CACHE", "repository"),
        ("HELM_CONTENT_CACHE", "content"),
        ("DOCKER_CONFIG", "docker"),
        ("KUBECONFIG", "kubeconfig"),
    ] {
        variables.retain(|(existing, _)| existing != name);
        variables.push((name.to_owned(), dir.join(place).to_string_lossy().into_owned()));
    }
    variables
}

async fn keep_fresh(tokens: Arc<dyn TokenSource>, path: PathBuf) {
    loop {
        tokio::time::sleep(TOKEN_REFRESH).await;
        if let Err(error) = write_token(&*tokens, &path).await {
            tracing::warn!(%error, "cannot renew the token for helm");
        }
    }
}

async fn write_token(tokens: &dyn TokenSource, path: &Path) -> Result<(), HelmError> {
    let token = tokens.token().await.map_err(|error| HelmError::Start {
        cause: error.to_string(),
    })?;
    // Written aside and renamed, so that Helm never reads half a token.
    let aside = path.with_extension("new");
    write_private(&aside, token.expose().as_bytes()).map_err(start)?;
    std::fs::rename(&aside, path).map_err(start)
}

fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content)
}

fn start(error: std::io::Error) -> HelmError {
    HelmError::Start {
        cause: error.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::cluster::{Access, Direct, Secret};
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn secrets_are_readable_by_the_owner_alone_and_vanish() {
        let direct = Direct {
            host: "https://h".into(),
            token: Some(Secret::new("s3")),
            ..Direct::default()
        };
        let cluster = Cluster::new(Access::Direct(Box::new(direct)));
        let mut workspace = Workspace::new().expect("a directory");
        workspace.connect(&cluster).await.expect("valid settings");
        let kubeconfig = workspace.path().join("kubeconfig");
        let mode = |path: &Path| std::fs::metadata(path).expect("exists").permissions().mode() & 0o777;
        assert_eq!((mode(&kubeconfig), mode(workspace.path())), (0o600, 0o700));
        assert!(
            std::fs::read_to_string(&kubeconfig)
                .expect("readable")
                .contains("s3")
        );
        drop(workspace);
        assert!(!kubeconfig.exists());
    }

    #[test]
    fn the_environment_leads_nowhere_else() {
        let inherited = [
            ("PATH", "/bin"),
            ("HELM_NAMESPACE", "x"),
            ("KUBECONFIG", "/home/me"),
            ("AWS_PROFILE", "p"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = environment(inherited.into_iter(), Path::new("/w"));
        let get = |name: &str| {
            variables
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value.as_str())
        };
        assert_eq!(get("PATH"), Some("/bin"));
        assert_eq!(get("AWS_PROFILE"), Some("p"), "a credential plugin may need it");
        assert_eq!(get("KUBECONFIG"), Some("/w/kubeconfig"));
        assert_eq!(get("HELM_NAMESPACE"), None);
    }
}
