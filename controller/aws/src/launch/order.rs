//! What is ordered.

use crate::node_class::NodeClass;
use crate::tags::{self, Tags};
use crate::userdata::Cluster;
use joiner_api::labels::INSTANCE_TENANCY;
use joiner_core::catalogue::InstanceType;
use joiner_core::launch::Plan;
use joiner_core::requirements::Requirements;
use joiner_core::resources::Resources;
use joiner_core::taints::Taint;
use joiner_core::text::Labels;

/// A NodeClaim that gets an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaimKey {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// Whose machines instances run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tenancy {
    /// Shared with other accounts.
    #[default]
    Default,
    /// This account's alone.
    Dedicated,
}

impl Tenancy {
    /// The tenancy that requirements ask for; shared where both will do.
    pub fn of(requirements: &Requirements) -> Self {
        match requirements.get(INSTANCE_TENANCY) {
            Some(asked) if !asked.allows(Some("default")) && asked.allows(Some("dedicated")) => {
                Self::Dedicated
            }
            _ => Self::Default,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Dedicated => "dedicated",
        }
    }
}

/// An instance for each of some claims that are equal but for their names.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The claims, at least one.
    pub claims: &'a [ClaimKey],
    /// Name of their pool.
    pub node_pool: &'a str,
    /// Where the instances join.
    pub cluster: &'a Cluster,
    /// How they are made.
    pub class: &'a NodeClass,
    /// The offerings to try.
    pub plan: &'a Plan,
    /// The types that the plan names, and perhaps more.
    pub types: &'a [InstanceType],
    /// Labels of the claims.
    pub labels: &'a Labels,
    /// Taints of the claims.
    pub taints: &'a [Taint],
    /// Taints that something removes soon after the start.
    pub startup_taints: &'a [Taint],
    /// What the claims ask for; a fabric adapter among it gives the instances all of theirs.
    pub requests: &'a Resources,
    /// Whose machines.
    pub tenancy: Tenancy,
}

impl Order<'_> {
    /// Tags of everything that comes of the order.
    pub fn tags(&self) -> Tags {
        tags::for_launch(
            &self.cluster.name,
            self.node_pool,
            &self.class.name,
            &self.class.tags,
        )
    }
}
