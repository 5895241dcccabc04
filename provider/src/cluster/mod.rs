//! Reaching one Kubernetes cluster.
//!
//! Input: an [`Access`] whose every leaf is known. Output: a lazily built client, the cluster's identity, and server-side
//! operations on objects. Invariant: nothing here runs at plan unless a resource asks for it, and there is no default host,
//! no `KUBECONFIG`, no `~/.kube/config`: a cluster is reached only by what the configuration names.

mod access;
mod bearer;
mod client;
mod conflict;
mod definitions;
mod error;
pub(crate) mod finalizers;
mod kubeconfig;
#[cfg(test)]
pub(crate) mod mock;
mod objects;
mod secret;
mod wait;

pub(crate) use access::{Access, Direct, EksAccess, Exec};
pub(crate) use bearer::{TokenError, TokenSource};
pub(crate) use client::{ADDRESS, Cluster, Comparison, EksClusters};
pub(crate) use conflict::FieldConflict;
pub(crate) use definitions::{Served, definition_kind, name_of, put_definitions};
pub(crate) use error::ClusterError;
pub(crate) use kubeconfig::{EksEndpoint, from_direct, pem};
pub(crate) use objects::{Applied, ApplyOptions, DeletePreconditions, Kind, Objects, uid};
pub(crate) use secret::Secret;
pub(crate) use wait::{Ended, Pace, Waiting};
