//! IAM policy documents: made from typed statements, compared by meaning.

mod controller;
mod meaning;
mod trust;

pub use controller::{Controller, Granted, controller, granted};
pub use meaning::{differences, same_meaning};
pub use trust::{ServiceAccount, irsa_trust, node_trust, pod_identity_trust};

use serde::Serialize;
use std::collections::BTreeMap;

/// A policy document that is written as IAM's JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Document {
    version: &'static str,
    statement: Vec<Statement>,
}

impl Document {
    /// A document of the current policy language.
    pub fn new(statement: Vec<Statement>) -> Self {
        Self {
            version: "2012-10-17",
            statement,
        }
    }

    /// The statements in order.
    pub fn statements(&self) -> &[Statement] {
        &self.statement
    }

    /// The document as one line of JSON, the same bytes for the same document.
    pub fn to_json(&self) -> String {
        // A document holds only text, lists and maps with text keys, which always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Operator, then key, then values: `{"StringEquals": {"aws:RequestedRegion": ["eu-central-1"]}}`.
pub type Conditions = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Statement {
    /// Name of the statement, unique in its document.
    pub sid: String,
    effect: &'static str,
    /// Who, in a trust policy: kind and names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub principal: BTreeMap<String, Vec<String>>,
    /// Actions such as `ec2:RunInstances`.
    pub action: Vec<String>,
    /// ARNs, or none in a trust policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource: Vec<String>,
    /// All must hold.
    #[serde(skip_serializing_if = "Conditions::is_empty")]
    pub condition: Conditions,
}

impl Statement {
    /// Allows `actions` on `resources`.
    pub fn allow(sid: &str, actions: &[&str], resources: Vec<String>) -> Self {
        Self {
            sid: sid.to_owned(),
            effect: "Allow",
            principal: BTreeMap::new(),
            action: actions.iter().map(|action| (*action).to_owned()).collect(),
            resource: resources,
            condition: Conditions::new(),
        }
    }

    /// Denies `actions` on `resources`, whatever else allows them.
    pub fn deny(sid: &str, actions: &[&str], resources: Vec<String>) -> Self {
        Self {
            effect: "Deny",
            ..Self::allow(sid, actions, resources)
        }
    }

    /// Speaks of these principals, in a policy of a resource: `kind` is `Service` or `AWS`.
    #[must_use]
    pub fn to(mut self, kind: &str, principals: &[&str]) -> Self {
        let principals = principals.iter().map(|name| (*name).to_owned());
        self.principal.insert(kind.to_owned(), principals.collect());
        self
    }

    /// Allows a principal to take on the role that carries the policy.
    pub fn trust(sid: &str, actions: &[&str], kind: &str, principal: &str) -> Self {
        let mut statement = Self::allow(sid, actions, Vec::new());
        statement
            .principal
            .insert(kind.to_owned(), vec![principal.to_owned()]);
        statement
    }

    /// Adds a condition; values of one key are alternatives.
    #[must_use]
    pub fn when(mut self, operator: &str, key: &str, values: &[&str]) -> Self {
        self.condition
            .entry(operator.to_owned())
            .or_default()
            .entry(key.to_owned())
            .or_default()
            .extend(values.iter().map(|value| (*value).to_owned()));
        self
    }
}
