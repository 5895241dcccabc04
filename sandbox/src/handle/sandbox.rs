//! The handle to a running sandbox.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use http::Method;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::http::{self as client, Ask, NoAnswer};
use crate::layout::{Layout, check_name};
use crate::model::{Cluster, ClusterSpec, Record, Refusal, Status};
use crate::supervisor;

/// A running sandbox. Cheap to clone; dropping it ends nothing.
#[derive(Debug, Clone)]
pub struct Sandbox {
    layout: Layout,
    record: Record,
}

impl Sandbox {
    /// Finds the sandbox that runs in `layout`'s folder.
    ///
    /// # Errors
    /// [`Error::NotRunning`] when none does.
    pub fn open(layout: Layout) -> Result<Self> {
        match supervisor::read_record(&layout.record()) {
            Some(record) if record.supervisor.is_alive() => Ok(Self { layout, record }),
            _ => Err(Error::NotRunning {
                dir: layout.dir().to_path_buf(),
            }),
        }
    }

    /// Its folder and what lies in it.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The supervisor's process, its socket and the emulator's URL.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// How every part is.
    ///
    /// # Errors
    /// [`Error::Silent`] when the supervisor does not answer.
    pub async fn status(&self) -> Result<Status> {
        self.ask(Method::GET, "/status", None, Some(Duration::from_secs(10)))
            .await
    }

    /// Fails with the first failed part, its ending and its last log lines.
    ///
    /// # Errors
    /// [`Error::PartFailed`].
    pub async fn check(&self) -> Result<()> {
        let status = self.status().await?;
        match status.failed().next() {
            None => Ok(()),
            Some(part) => {
                let (end, lines) = part.message.split_once('\n').unwrap_or((&part.message, ""));
                Err(Error::PartFailed {
                    part: part.name.clone(),
                    end: end.to_owned(),
                    log: part.log.clone(),
                    lines: lines.to_owned(),
                })
            }
        }
    }

    /// The clusters there are, in order of name.
    ///
    /// # Errors
    /// [`Error::Silent`].
    pub async fn clusters(&self) -> Result<Vec<Cluster>> {
        self.ask(Method::GET, "/clusters", None, Some(Duration::from_secs(10)))
            .await
    }

    /// One cluster; `None` when there is none of this name.
    ///
    /// # Errors
    /// [`Error::Silent`].
    pub async fn cluster(&self, name: &str) -> Result<Option<Cluster>> {
        Ok(self
            .clusters()
            .await?
            .into_iter()
            .find(|cluster| cluster.name == name))
    }

    /// Brings up a new cluster: control plane, system nodes, node agent, and the cloud's side of it. Takes a few seconds.
    ///
    /// # Errors
    /// [`Error::Refused`] when there is one of this name, or a part failed.
    pub async fn create_cluster(&self, spec: &ClusterSpec) -> Result<Cluster> {
        check_name("cluster name", &spec.name)?;
        let body = serde_json::to_vec(spec).map_err(|error| Error::Refused(error.to_string()))?;
        self.ask(Method::POST, "/clusters", Some(body), None).await
    }

    /// Takes a cluster down with all it holds; answers when it is gone. One that is not there is gone already.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub async fn delete_cluster(&self, name: &str) -> Result<()> {
        check_name("cluster name", name)?;
        self.ask::<serde_json::Value>(Method::DELETE, &format!("/clusters/{name}"), None, None)
            .await
            .map(drop)
    }

    /// Asks one of the emulator's routes under `/_sandbox/` (`GET calls`, `GET leftovers?cluster=..`, `POST faults`).
    ///
    /// # Errors
    /// [`Error::Refused`] with the emulator's answer.
    pub async fn emulator(
        &self,
        method: &str,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<serde_json::Value> {
        let method: Method = method
            .parse()
            .map_err(|_| Error::Refused(format!("{method:?} is no HTTP method")))?;
        let authority = self.record.aws_endpoint.trim_start_matches("http://");
        let port = authority
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .unwrap_or_default();
        let body = body.map(|body| body.to_string().into_bytes());
        let path = format!("/_sandbox/{}", path.trim_start_matches('/'));
        supervisor::Emulator::new(port, &self.record.region)
            .ask(method, &path, body, Duration::from_secs(60))
            .await
    }

    /// What the emulator's account still holds of ours, as `kind: item`; empty when nothing.
    ///
    /// # Errors
    /// [`Error::Refused`] with the emulator's answer.
    pub async fn leftovers(&self) -> Result<Vec<String>> {
        Ok(leftovers(&self.emulator("GET", "leftovers", None).await?))
    }

    /// The same of one cluster alone.
    ///
    /// # Errors
    /// [`Error::Refused`] with the emulator's answer.
    pub async fn leftovers_of(&self, cluster: &str) -> Result<Vec<String>> {
        let path = format!("leftovers?cluster={cluster}");
        Ok(leftovers(&self.emulator("GET", &path, None).await?))
    }

    /// The environment for programs that use the sandbox: `KUBECONFIG`, `AWS_*`, `JOINER_SANDBOX`.
    pub fn environment(&self) -> BTreeMap<String, String> {
        environment(&self.layout, &self.record)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        patience: Option<Duration>,
    ) -> Result<T> {
        let ask = Ask {
            method,
            path,
            body,
            patience,
            ..Ask::default()
        };
        let answer = client::unix(&self.record.socket, ask)
            .await
            .map_err(|error| self.no_answer(&error))?;
        if !answer.status.is_success() {
            let refusal = serde_json::from_slice::<Refusal>(&answer.body);
            return Err(Error::Refused(
                refusal.map_or_else(|_| answer.text(), |refusal| refusal.error),
            ));
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| Error::Refused(format!("the supervisor's answer to {path} is not understood ({error}); was it started by another version? `joiner sandbox reset` renews it")))
    }

    fn no_answer(&self, error: &NoAnswer) -> Error {
        if !self.record.supervisor.is_alive() {
            return Error::NotRunning {
                dir: self.layout.dir().to_path_buf(),
            };
        }
        tracing::debug!(%error, "the supervisor does not answer");
        Error::Silent {
            pid: self.record.supervisor.pid,
            socket: self.record.socket.clone(),
            log: self.layout.log("supervisor"),
        }
    }

    /// Asks the supervisor to end everything.
    pub(super) async fn shut_down(&self) -> Result<()> {
        let patience = Some(Duration::from_secs(20));
        self.ask::<serde_json::Value>(Method::POST, "/shutdown", None, patience)
            .await
            .map(drop)
    }
}

/// Every resource in the emulator's answer: an object with a list for each kind, beside other facts.
fn leftovers(answer: &serde_json::Value) -> Vec<String> {
    let kinds = answer.as_object().into_iter().flatten();
    let items = kinds.flat_map(|(kind, items)| {
        items
            .as_array()
            .into_iter()
            .flatten()
            .map(move |item| (kind, item))
    });
    items.map(|(kind, item)| format!("{kind}: {item}")).collect()
}

/// The settings that point ordinary tools at a sandbox. The emulator accepts this administrator's key.
fn environment(layout: &Layout, record: &Record) -> BTreeMap<String, String> {
    let text = |path: &Path| path.display().to_string();
    [
        ("AWS_ACCESS_KEY_ID", crate::ADMIN_KEY.to_owned()),
        ("AWS_DEFAULT_REGION", record.region.clone()),
        ("AWS_ENDPOINT_URL", record.aws_endpoint.clone()),
        ("AWS_REGION", record.region.clone()),
        ("AWS_SECRET_ACCESS_KEY", crate::ADMIN_SECRET.to_owned()),
        ("JOINER_SANDBOX", text(layout.dir())),
        ("KUBECONFIG", text(&layout.kubeconfig())),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::leftovers;

    #[test]
    fn every_item_of_every_kind_is_left() {
        let clean = serde_json::json!({"cluster": null, "count": 0, "instances": [], "roles": []});
        assert!(leftovers(&clean).is_empty());
        let dirty = serde_json::json!({"count": 2, "instances": ["i-1"], "roles": [{"name": "r"}]});
        assert_eq!(
            leftovers(&dirty),
            ["instances: \"i-1\"", "roles: {\"name\":\"r\"}"]
        );
    }
}
