//! A cluster whose client is built at the first call that needs it.

use super::bearer::BearerLayer;
use super::error::chain;
use super::kubeconfig::{EksEndpoint, from_direct, from_eks, with_token_file};
use super::{Access, ClusterError, TokenSource};
use async_trait::async_trait;
use k8s_openapi::api::core::v1::Namespace;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// The longest time between a request and its answer; a cluster that stops answering is noticed after it.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest time until a connection stands.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What a cluster needs of AWS when it is reached as `eks = { cluster_name }`.
#[async_trait]
pub(crate) trait EksClusters: Send + Sync + 'static {
    /// Endpoint and CA of the cluster, by DescribeCluster.
    async fn describe(&self) -> Result<EksEndpoint, ClusterError>;
    /// The source of its bearer tokens.
    async fn tokens(&self) -> Result<Arc<dyn TokenSource>, ClusterError>;
}

/// One cluster. Cheap to make: no file is read and nothing is dialled before the first call.
pub(crate) struct Cluster {
    label: String,
    source: Source,
    connection: OnceCell<Connection>,
    uid: OnceCell<Option<String>>,
}

enum Source {
    Access(Access),
    Eks(Arc<dyn EksClusters>),
    #[cfg(test)]
    Client(Client),
}

struct Connection {
    client: Client,
    /// URL of the API server.
    server: String,
    /// Kubeconfig for programs that we start; without credentials when `tokens` is set.
    kubeconfig: Value,
    tokens: Option<Arc<dyn TokenSource>>,
}

/// What the cluster is to a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Its own, as far as can be known.
    Same,
    /// In the place of its own, which is gone; what to tell about it.
    Replaced(String),
    /// Another one; what to tell about it.
    Other(String),
}

/// Under which key a resource keeps the address of its cluster in its private state.
pub(crate) const ADDRESS: &str = "cluster_address";

/// Credentials for a program that we start: a kubeconfig, and perhaps a token file that must be kept fresh.
pub(crate) struct ToolAccess {
    /// Content of the kubeconfig; JSON is YAML.
    pub kubeconfig: Value,
    /// The source of the token file's content, when the kubeconfig reads one.
    pub tokens: Option<Arc<dyn TokenSource>>,
}

impl Cluster {
    /// A cluster that is reached by host or by kubeconfig.
    pub(crate) fn new(access: Access) -> Self {
        Self::from_source(access.label(), Source::Access(access))
    }

    /// A cluster that is found through EKS.
    pub(crate) fn eks(label: String, clusters: Arc<dyn EksClusters>) -> Self {
        Self::from_source(label, Source::Eks(clusters))
    }

    /// A cluster behind a given client.
    #[cfg(test)]
    pub(crate) fn from_client(label: &str, client: Client) -> Self {
        Self::from_source(label.to_owned(), Source::Client(client))
    }

    fn from_source(label: String, source: Source) -> Self {
        Self {
            label,
            source,
            connection: OnceCell::new(),
            uid: OnceCell::new(),
        }
    }

    /// What messages call this cluster.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The client, built on first use.
    pub(crate) async fn client(&self) -> Result<&Client, ClusterError> {
        Ok(&self.connection().await?.client)
    }

    /// The cluster's identity: the uid of its namespace `kube-system`. `None` when the caller may not read it.
    pub(crate) async fn uid(&self) -> Result<Option<&str>, ClusterError> {
        let read = || async {
            let namespaces: Api<Namespace> = Api::all(self.client().await?.clone());
            match namespaces.get("kube-system").await {
                Ok(namespace) => Ok(namespace.metadata.uid),
                Err(error) => match ClusterError::from_kube(&self.label, error) {
                    ClusterError::Forbidden { .. } => Ok(None),
                    error => Err(error),
                },
            }
        };
        Ok(self.uid.get_or_try_init(read).await?.as_deref())
    }

    /// Its version of Kubernetes, such as `1.34`.
    pub(crate) async fn version(&self) -> Result<String, ClusterError> {
        let info = self
            .client()
            .await?
            .apiserver_version()
            .await
            .map_err(|error| ClusterError::from_kube(&self.label, error))?;
        let digits = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
        Ok(format!("{}.{}", digits(&info.major), digits(&info.minor)))
    }

    /// Where the cluster is: its name in EKS, else the URL of its API server. A cluster that replaces another mostly has its
    /// address; another cluster has another.
    pub(crate) async fn address(&self) -> Result<String, ClusterError> {
        match &self.source {
            Source::Eks(_) => Ok(self.label.clone()),
            _ => Ok(self.connection().await?.server.clone()),
        }
    }

    /// Whether this is another cluster than that of a state, by the identity and the address that the state has.
    pub(crate) async fn compare(
        &self,
        uid: Option<&str>,
        address: Option<&str>,
    ) -> Result<Comparison, ClusterError> {
        let (Some(known), Some(found)) = (uid, self.uid().await?) else {
            return Ok(Comparison::Same);
        };
        if known == found {
            return Ok(Comparison::Same);
        }
        let here = self.address().await?;
        Ok(match address {
            Some(there) if there != here => Comparison::Other(format!(
                "{there} (uid {known}), but the provider reaches {here} (uid {found}). Check the provider block and the workspace. If \
                 the one has taken the place of the other, remove this resource from the state (state rm) and apply again. Nothing \
                 was changed in either"
            )),
            _ => Comparison::Replaced(format!(
                "with uid {known}, but {here} has uid {found} now. It counts as gone. If the cluster was replaced, that is right; \
                 if not, check the provider block and the workspace before you apply"
            )),
        })
    }

    /// Credentials for a program that we start. `token_path` is where a short-lived token would be written.
    pub(crate) async fn tool_access(&self, token_path: &Path) -> Result<ToolAccess, ClusterError> {
        let connection = self.connection().await?;
        let kubeconfig = match &connection.tokens {
            Some(_) => with_token_file(connection.kubeconfig.clone(), &token_path.to_string_lossy()),
            None => connection.kubeconfig.clone(),
        };
        Ok(ToolAccess {
            kubeconfig,
            tokens: connection.tokens.clone(),
        })
    }

    async fn connection(&self) -> Result<&Connection, ClusterError> {
        self.connection.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Connection, ClusterError> {
        let (kubeconfig, context, tokens) = match &self.source {
            #[cfg(test)]
            Source::Client(client) => {
                return Ok(Connection {
                    client: client.clone(),
                    server: self.label.clone(),
                    kubeconfig: Value::Null,
                    tokens: None,
                });
            }
            Source::Access(Access::Direct(direct)) => (parse(from_direct(direct)?)?, None, None),
            Source::Access(Access::Kubeconfig { path, context }) => (read(path)?, context.clone(), None),
            Source::Access(Access::Eks(eks)) => {
                return Err(ClusterError::Eks {
                    cause: format!("{} has no AWS connection", eks.cluster_name),
                });
            }
            Source::Eks(clusters) => (
                parse(from_eks(&clusters.describe().await?))?,
                None,
                Some(clusters.tokens().await?),
            ),
        };
        let mut kubeconfig = kubeconfig;
        if let Some(context) = context {
            kubeconfig.current_context = Some(context);
        }
        let unusable = |cause: String| ClusterError::Kubeconfig {
            path: self.label.clone(),
            cause,
        };
        let written = serde_json::to_value(&kubeconfig).map_err(|error| unusable(error.to_string()))?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|error| unusable(chain(&error)))?;
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config.read_timeout = Some(READ_TIMEOUT);
        config.reset_reader_on_write = true;
        let server = config.cluster_url.to_string();
        let client = build(config, tokens.clone()).map_err(|error| {
            match (ClusterError::from_kube(&self.label, error), program_in(&written)) {
                (ClusterError::Setting { problem, .. }, Some(program)) => ClusterError::Setting {
                    attribute: "exec",
                    problem: format!("{program}: {problem}"),
                },
                (error, _) => error,
            }
        })?;
        Ok(Connection {
            client,
            server,
            kubeconfig: written,
            tokens,
        })
    }
}

fn build(config: Config, tokens: Option<Arc<dyn TokenSource>>) -> Result<Client, kube::Error> {
    let builder = kube::client::ClientBuilder::try_from(config)?;
    Ok(match tokens {
        Some(tokens) => builder.with_layer(&BearerLayer::new(tokens)).build(),
        None => builder.build(),
    })
}

/// The credential plugin that a kubeconfig's current user has.
fn program_in(kubeconfig: &Value) -> Option<&str> {
    let named = |list: &str, name: &Value| {
        let list = kubeconfig[list].as_array()?;
        list.iter().find(|entry| entry["name"] == *name)
    };
    let context = named("contexts", &kubeconfig["current-context"])?;
    named("users", &context["context"]["user"])?["user"]["exec"]["command"].as_str()
}

fn parse(kubeconfig: Value) -> Result<Kubeconfig, ClusterError> {
    serde_json::from_value(kubeconfig).map_err(|error| ClusterError::Setting {
        attribute: "kubernetes",
        problem: error.to_string(),
    })
}

fn read(path: &Path) -> Result<Kubeconfig, ClusterError> {
    Kubeconfig::read_from(path).map_err(|error| ClusterError::Kubeconfig {
        path: path.display().to_string(),
        cause: chain(&error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Direct, Secret};

    #[tokio::test]
    async fn nothing_is_dialled_until_a_call() {
        let direct = Direct {
            host: "https://127.0.0.1:1".into(),
            ..Direct::default()
        };
        let cluster = Cluster::new(Access::Direct(Box::new(direct)));
        assert_eq!(cluster.label(), "https://127.0.0.1:1");
        let error = cluster.uid().await.expect_err("nobody listens there");
        assert!(matches!(error, ClusterError::Unreachable { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn a_missing_kubeconfig_is_named() {
        let access = Access::Kubeconfig {
            path: "/nonexistent/config".into(),
            context: None,
        };
        let error = Cluster::new(access).uid().await.expect_err("no such file");
        assert!(error.to_string().contains("/nonexistent/config"), "{error}");
    }

    #[tokio::test]
    async fn a_missing_credential_plugin_is_named() {
        let direct = Direct {
            host: "https://127.0.0.1:1".into(),
            exec: Some(crate::cluster::Exec {
                api_version: "client.authentication.k8s.io/v1".into(),
                command: "/nonexistent/program".into(),
                args: Vec::new(),
                env: std::collections::BTreeMap::new(),
            }),
            ..Direct::default()
        };
        let cluster = Cluster::new(Access::Direct(Box::new(direct)));
        let error = cluster.uid().await.expect_err("no such program").to_string();
        assert!(
            error.contains("exec") && error.contains("/nonexistent/program"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_tool_gets_the_same_cluster() {
        let direct = Direct {
            host: "https://h".into(),
            token: Some(Secret::new("t")),
            ..Direct::default()
        };
        let cluster = Cluster::new(Access::Direct(Box::new(direct)));
        let access = cluster
            .tool_access(Path::new("/t/token"))
            .await
            .expect("valid settings");
        assert_eq!(access.kubeconfig["users"][0]["user"]["token"], "t");
        assert!(access.tokens.is_none());
    }
}
