//! v1alpha5 (Provisioner) and v1alpha1 (AWSNodeTemplate) to what is served now.
//!
//! A cluster that serves v1 has no object of these names, so nothing of it can be imported: pools and classes are new, and their nodes
//! take the place of the old ones.

mod provisioner;
mod selectors;
mod template;

pub(super) use provisioner::provisioner;
pub(super) use template::node_template;
