//! What can go wrong with a cluster, sorted by what the caller does about it.

use super::FieldConflict;
use super::conflict::conflicts;
use kube::core::Status;
use std::time::Duration;
use thiserror::Error;

/// A failed call to a cluster. `Display` names the cluster and the remedy, and never a secret.
#[derive(Debug, Error)]
pub(crate) enum ClusterError {
    /// A setting of the provider is malformed.
    #[error("{attribute}: {problem}")]
    Setting {
        attribute: &'static str,
        problem: String,
    },
    /// The kubeconfig file cannot be used.
    #[error("kubernetes.config_path: cannot use {path}: {cause}")]
    Kubeconfig { path: String, cause: String },
    /// The EKS cluster could not be described or no token could be made for it.
    #[error("eks.cluster_name: {cause}")]
    Eks { cause: String },
    /// No answer: refused, timed out, no route, TLS failure.
    #[error(
        "cannot reach the Kubernetes API of {cluster}: {cause}. Check that the cluster runs and that this machine may connect to it; \
         then run the same command again, nothing is lost"
    )]
    Unreachable { cluster: String, cause: String },
    /// 401.
    #[error(
        "the Kubernetes API of {cluster} refused the credentials (401). Check the token, certificate or exec setting of the provider, \
         and for EKS that the caller has an access entry"
    )]
    Unauthorized { cluster: String },
    /// 403.
    #[error("not allowed in {cluster}: {message}. Grant the missing permission to the caller")]
    Forbidden { cluster: String, message: String },
    /// Other field managers own what we set.
    #[error("{}", describe(.0))]
    Conflict(Vec<FieldConflict>),
    /// 404 of an object.
    #[error("not found: {0}")]
    NotFound(String),
    /// The kind is not served: its CRD is not installed or not established.
    #[error("{cluster} does not serve {kind}: its CRD is not installed (joiner_helm_release installs it)")]
    KindMissing { cluster: String, kind: String },
    /// The API server or a webhook refused the object.
    #[error("{0}")]
    Invalid(String),
    /// The object that answers to this name is not the one that was meant.
    #[error("{0}")]
    OtherObject(String),
    /// Anything else the API server said.
    #[error("{cluster} answered {code} {reason}: {message}")]
    Api {
        cluster: String,
        code: u16,
        reason: String,
        message: String,
    },
    /// The answer could not be read, or a bug on our side.
    #[error("unexpected answer of {cluster}: {cause}")]
    Unexpected { cluster: String, cause: String },
}

impl ClusterError {
    /// Sorts an error of the client. `cluster` is what messages call the cluster.
    pub(crate) fn from_kube(cluster: &str, error: kube::Error) -> Self {
        let cluster = cluster.to_owned();
        match error {
            kube::Error::Api(status) => Self::from_status(cluster, *status),
            kube::Error::Auth(error) => Self::Setting {
                attribute: "kubernetes",
                problem: format!("no credentials: {}", chain(&error)),
            },
            kube::Error::SerdeError(error) => Self::Unexpected {
                cluster,
                cause: error.to_string(),
            },
            kube::Error::Service(error) => match error.downcast::<super::TokenError>() {
                Ok(token) => Self::Eks {
                    cause: chain(token.as_ref()),
                },
                Err(error) => Self::Unreachable {
                    cluster,
                    cause: chain(error.as_ref()),
                },
            },
            other => Self::Unreachable {
                cluster,
                cause: chain(&other),
            },
        }
    }

    fn from_status(cluster: String, status: Status) -> Self {
        let found = conflicts(&status);
        match status.code {
            401 => Self::Unauthorized { cluster },
            403 => Self::Forbidden {
                cluster,
                message: status.message,
            },
            404 if status
                .details
                .as_ref()
                .is_none_or(|details| details.name.is_empty()) =>
            {
                Self::KindMissing {
                    cluster,
                    kind: kind_of(&status),
                }
            }
            404 => Self::NotFound(status.message),
            409 if !found.is_empty() => Self::Conflict(found),
            400 | 422 => Self::Invalid(status.message),
            code => Self::Api {
                cluster,
                code,
                reason: status.reason,
                message: status.message,
            },
        }
    }

    /// No answer within `limit`. `cluster` is what messages call the cluster.
    pub(crate) fn silence(cluster: &str, limit: Duration) -> Self {
        Self::Unreachable {
            cluster: cluster.to_owned(),
            cause: format!("no answer within {} s", limit.as_secs()),
        }
    }

    /// Whether the same call may succeed in a moment: worth another try within a wait.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Api { code, .. } => matches!(code, 409 | 429 | 500..=599),
            _ => false,
        }
    }

    /// Whether the object, or its kind, does not exist.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound(_) | Self::KindMissing { .. })
    }
}

fn kind_of(status: &Status) -> String {
    match &status.details {
        Some(details) if !details.kind.is_empty() => format!("{}.{}", details.kind, details.group),
        _ => "this kind".to_owned(),
    }
}

/// An error and its causes, each once, joined by ": ".
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

fn describe(conflicts: &[FieldConflict]) -> String {
    let list: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    format!(
        "fields are owned by other field managers: {}. Remove them from this configuration, or set force_conflicts = true to take them over",
        list.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn status(code: u16, name: &str) -> kube::Error {
        let details = json!({ "name": name, "kind": "nodepools", "group": "karpenter.sh" });
        let status = json!({ "message": "because", "reason": "Reason", "code": code, "details": details });
        kube::Error::Api(Box::new(from_value(status).expect("a status")))
    }

    #[test]
    fn answers_are_sorted_by_what_to_do() {
        for (error, absent, transient, text) in [
            (status(401, ""), false, false, "access entry"),
            (status(403, "x"), false, false, "Grant the missing permission"),
            (status(404, "x"), true, false, "not found"),
            (
                status(404, ""),
                true,
                false,
                "does not serve nodepools.karpenter.sh",
            ),
            (status(409, "x"), false, true, "409"),
            (status(422, "x"), false, false, "because"),
            (status(503, "x"), false, true, "503"),
        ] {
            let sorted = ClusterError::from_kube("https://c", error);
            assert_eq!(sorted.is_absent(), absent, "{sorted:?}");
            assert_eq!(sorted.is_transient(), transient, "{sorted:?}");
            assert!(sorted.to_string().contains(text), "{sorted}");
        }
    }

    #[test]
    fn a_refused_connection_says_that_nothing_is_lost() {
        let cause = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        let sorted = ClusterError::from_kube("https://c", kube::Error::Service(Box::new(cause)));
        assert!(sorted.is_transient());
        assert!(sorted.to_string().contains("connection refused"), "{sorted}");
    }
}
