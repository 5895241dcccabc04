//! One question of a probe: HTTP, TCP or a command.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use tokio::net::TcpStream;

use crate::http::{self as client, Ask};
use crate::process::spawn::{Output, Plan, Spawner};

/// What a probe asks.
#[derive(Debug, Clone)]
pub(in crate::kubelet) enum Target {
    /// A GET whose status is 200 to 399.
    Http {
        address: String,
        path: String,
        headers: Vec<(String, String)>,
    },
    /// A port that accepts a connection (also for HTTPS and gRPC, whose answers are not looked at).
    Tcp { address: String },
    /// A command that ends with 0.
    Exec { plan: Box<Plan> },
}

impl Target {
    /// Reads a probe of a container whose pod has the address `ip`; `exec` says how a command is run.
    pub(in crate::kubelet) fn of(
        probe: &Probe,
        container: &Container,
        ip: IpAddr,
        exec: impl Fn(&[String]) -> Result<Plan, String>,
    ) -> Result<Self, String> {
        let address = |host: Option<&String>, port: &IntOrString| {
            let port = number(container, port)?;
            let host = host
                .filter(|host| !host.is_empty())
                .cloned()
                .unwrap_or_else(|| ip.to_string());
            Ok::<_, String>(format!("{host}:{port}"))
        };
        if let Some(get) = &probe.http_get {
            let address = address(get.host.as_ref(), &get.port)?;
            if get.scheme.as_deref() == Some("HTTPS") {
                return Ok(Target::Tcp { address });
            }
            let path = get
                .path
                .clone()
                .filter(|path| path.starts_with('/'))
                .unwrap_or_else(|| "/".to_owned());
            let headers = get
                .http_headers
                .iter()
                .flatten()
                .map(|header| (header.name.clone(), header.value.clone()));
            return Ok(Target::Http {
                address,
                path,
                headers: headers.collect(),
            });
        }
        if let Some(socket) = &probe.tcp_socket {
            return Ok(Target::Tcp {
                address: address(socket.host.as_ref(), &socket.port)?,
            });
        }
        if let Some(grpc) = &probe.grpc {
            return Ok(Target::Tcp {
                address: address(None, &IntOrString::Int(grpc.port))?,
            });
        }
        if let Some(action) = &probe.exec {
            return Ok(Target::Exec {
                plan: Box::new(exec(action.command.as_deref().unwrap_or_default())?),
            });
        }
        Err("a probe has no action".to_owned())
    }

    /// Asks once; the error is the kubelet's text for the event.
    pub(super) async fn ask(&self, spawner: &Spawner, patience: Duration) -> Result<(), String> {
        match self {
            Target::Http {
                address,
                path,
                headers,
            } => {
                let headers: Vec<(&str, String)> = headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.clone()))
                    .collect();
                let ask = Ask {
                    path,
                    headers: &headers,
                    patience: Some(patience),
                    ..Ask::default()
                };
                let answer = client::tcp(address, ask)
                    .await
                    .map_err(|error| crate::chain(&error))?;
                match answer.status.as_u16() {
                    200..400 => Ok(()),
                    code => Err(format!("HTTP probe failed with statuscode: {code}")),
                }
            }
            Target::Tcp { address } => tokio::time::timeout(patience, TcpStream::connect(address))
                .await
                .map_err(|_| format!("dial tcp {address}: i/o timeout"))?
                .map(drop)
                .map_err(|error| format!("dial tcp {address}: {error}")),
            Target::Exec { plan } => exec(spawner, plan, patience).await,
        }
    }
}

async fn exec(spawner: &Spawner, plan: &Plan, patience: Duration) -> Result<(), String> {
    let plan = Plan {
        output: Output::File(PathBuf::from("/dev/null")),
        ..plan.clone()
    };
    let mut started = spawner.spawn(plan).await.map_err(|error| error.to_string())?;
    match tokio::time::timeout(patience, started.child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!(
            "command failed: {}",
            crate::process::tail::ending(status)
        )),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => {
            started.id.signal_group(nix::sys::signal::Signal::SIGKILL);
            Err(format!("command timed out after {} s", patience.as_secs()))
        }
    }
}

/// A port by number, or by the name that the container gives it.
fn number(container: &Container, port: &IntOrString) -> Result<i32, String> {
    let name = match port {
        IntOrString::Int(number) => return Ok(*number),
        IntOrString::String(name) => name,
    };
    let ports: BTreeMap<&str, i32> = container
        .ports
        .iter()
        .flatten()
        .filter_map(|port| Some((port.name.as_deref()?, port.container_port)))
        .collect();
    ports
        .get(name.as_str())
        .copied()
        .or_else(|| name.parse().ok())
        .ok_or_else(|| format!("couldn't find port {name:?} in the container's ports"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ports_are_found_by_name() {
        let container: Container = serde_json::from_value(
            json!({ "name": "c", "ports": [{ "name": "http", "containerPort": 8081 }] }),
        )
        .unwrap();
        let target = |probe: serde_json::Value| {
            let probe: Probe = serde_json::from_value(probe).unwrap();
            Target::of(&probe, &container, "127.9.0.1".parse().unwrap(), |_| {
                Err("no exec".into())
            })
        };
        match target(json!({ "httpGet": { "port": "http", "path": "/healthz" } })).unwrap() {
            Target::Http { address, path, .. } => {
                assert_eq!((address.as_str(), path.as_str()), ("127.9.0.1:8081", "/healthz"));
            }
            other => panic!("{other:?}"),
        }
        assert!(
            matches!(target(json!({ "tcpSocket": { "port": 9 } })), Ok(Target::Tcp { address }) if address == "127.9.0.1:9")
        );
        assert!(
            target(json!({ "httpGet": { "port": "no" } }))
                .unwrap_err()
                .contains("\"no\"")
        );
        assert!(target(json!({})).is_err());
    }
}
