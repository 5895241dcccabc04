//! Helm releases: the real Helm 4 does what changes a release; what is only looked at is read natively.
//!
//! Input: a cluster, a chart, merged values. Output: the release's record and what its objects do. Invariants: a secret is
//! never an argument nor in a log; every Helm process has its own directories and a kubeconfig with mode 0600, removed
//! afterwards; at plan Helm renders a chart and does nothing else.

mod binary;
mod chart;
mod command;
mod crds;
mod drift;
mod embedded;
mod error;
#[cfg(test)]
mod fake;
mod fingerprint;
mod leaving;
mod manifest;
mod owner;
mod places;
mod readiness;
mod record;
mod registry;
mod run;
mod storage;
mod takeover;
mod values;
mod version;
mod workspace;

pub(crate) use binary::find;
pub(crate) use chart::ChartSource;
pub(crate) use command::{Rollback, Template, Uninstall, Upgrade};
pub(crate) use crds::apply_crds;
pub(crate) use drift::drift_of;
pub(crate) use error::HelmError;
#[cfg(test)]
pub(crate) use fake::FakeHelm;
pub(crate) use leaving::leaving;
pub(crate) use manifest::rendered;
pub(crate) use owner::{Owner, RUN_LABEL};
pub(crate) use readiness::{Readiness, readiness_of};
pub(crate) use record::{Record, Status};
pub(crate) use registry::{OCI, Registries, Registry, place_of};
pub(crate) use run::{Helm, Program};
pub(crate) use storage::Storage;
pub(crate) use takeover::{Adopt, Found, Takeover, decide};
pub(crate) use values::{SetValue, check_name, merge_values, parse_document};
pub(crate) use workspace::Workspace;
